"""What must let nobody in at the end of a login: OpenID Connect Core, 3.1.3.7."""

from app.ports import Ports
from tests.builders.providers import identities
from tests.servers.http import Reply
from tests.servers.own_provider import CLIENT, OwnProvider, as_json, rsa_key
from tests.services.provider_logins import begin, codes, grant, sign_in

HOSTILE: dict[str, dict[str, object]] = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": ...},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": ...},
    "another client": {"aud": "another"},
    "no audience": {"aud": ...},
    "two clients and no party": {"aud": [CLIENT, "another"]},
    "another party": {"azp": "another"},
    "expired": {"exp": 1},
    "no expiry": {"exp": ...},
    "of the future": {"iat": 4102444800},
    "no subject": {"sub": ...},
    "a logout token": {"events": {}},
}


def test_untrustworthy_id_token_signs_no_one_in(ports: Ports, provider: OwnProvider) -> None:
    for name, hostile in HOSTILE.items():
        parameters = begin(ports)
        claims = provider.id_claims(parameters["nonce"])
        grant(provider, parameters, id_token=provider.sign({**claims, **hostile}))
        assert codes(ports, parameters["state"]) == [("code", "INVALID")], name
    assert identities(ports) == []
    sign_in(ports, provider)
    assert len(identities(ports)) == 1, "a good one signs in after them"


ANSWERS: dict[str, tuple[Reply, str | None]] = {
    "a fault": (Reply(500), None),
    "a page": (Reply(200, b"<html>"), None),
    "nothing": (Reply(200), None),
    "a redirect": (Reply(302, headers={"Location": "http://10.0.0.1/"}), None),
    "a huge body": (Reply(200, b" " * 300_000), None),
    "no access token": (as_json({"token_type": "Bearer"}), None),
    "no bearer token": (as_json({"access_token": "x", "token_type": "mac"}), None),
    "nonsense about its age": (
        as_json({"access_token": "x", "token_type": "Bearer", "expires_in": "soon"}),
        None,
    ),
    "no ID token": (as_json({"access_token": "x", "token_type": "Bearer"}), "code"),
    "another client": (as_json({"error": "invalid_client"}, 401), "code"),
}


def test_untrustworthy_token_response_signs_no_one_in(ports: Ports, provider: OwnProvider) -> None:
    for number, (name, (reply, field)) in enumerate(ANSWERS.items(), 1):
        provider.server.answer("/token", reply)
        assert codes(ports, begin(ports)["state"]) == [(field, "INVALID")], name
        assert len(provider.server.calls("/token")) == number, name


def test_id_token_signed_by_another_key_is_refused(ports: Ports, provider: OwnProvider) -> None:
    parameters = begin(ports)
    claims = provider.id_claims(parameters["nonce"])
    grant(provider, parameters, id_token=provider.sign(claims, rsa_key(1)))
    assert codes(ports, parameters["state"]) == [("code", "INVALID")]
