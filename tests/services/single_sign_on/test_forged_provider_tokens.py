"""Access tokens, and answers about them, that must let nobody in: RFC 8725, RFC 9068."""

import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.provider_calls import FAILED_PAUSE
from tests.builders.providers import identities, set_up
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import (
    AUDIENCE,
    CLIENT,
    KID,
    LOGOUT_EVENT,
    OwnProvider,
    as_json,
    ec_key,
    public_jwk,
    rsa_key,
)
from tests.services.provider_bearers import fault

Forge = Callable[[OwnProvider], str]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """SQLite alone: signatures and claims are checked before the database is asked."""
    return sqlite_url


def claims(**changes: object) -> Forge:
    """A token that user-info knows, with other claims."""
    return lambda provider: provider.known(provider.sign(provider.claims(**changes), typ="at+jwt"))


def header(**changes: object) -> Forge:
    return lambda provider: provider.known(provider.sign(provider.claims(), None, **changes))


def at(seconds: int, name: str) -> Forge:
    return lambda provider: provider.known(
        provider.sign(provider.claims(**{name: provider.now() + seconds}))
    )


def signed_by_another_key(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.claims(), rsa_key(1)))


def brings_its_own_key(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.claims(), rsa_key(1), jwk=public_jwk(rsa_key(1))))


def points_to_its_own_keys(provider: OwnProvider) -> str:
    provider.server.answer("/evil", as_json({"keys": [public_jwk(rsa_key(1), kid=KID)]}))
    url = f"{provider.url}/evil"
    return provider.known(provider.sign(provider.claims(), rsa_key(1), jku=url, x5u=url))


def signed_with_the_public_key_as_a_secret(provider: OwnProvider) -> str:
    pem = rsa_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    algorithm: Any = jwt.get_algorithm_by_name("HS256")
    head, body, _ = provider.sign(provider.claims(), alg="RS256").split(".")
    forged = jwt.utils.base64url_encode(json.dumps({"alg": "HS256", "kid": KID}).encode()).decode()
    signature = algorithm.sign(f"{forged}.{body}".encode(), pem)
    assert head != forged
    return provider.known(f"{forged}.{body}.{jwt.utils.base64url_encode(signature).decode()}")


def not_signed(provider: OwnProvider) -> str:
    _, body, _ = provider.sign(provider.claims()).split(".")
    head = jwt.utils.base64url_encode(b'{"alg":"none"}').decode()
    return provider.known(f"{head}.{body}.")


def with_changed_claims(provider: OwnProvider) -> str:
    head, _, signature = provider.sign(provider.claims()).split(".")
    _, body, _ = provider.sign(provider.claims("root")).split(".")
    return provider.known(f"{head}.{body}.{signature}")


def of_another_algorithm_than_its_key(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.claims(), ec_key(), "ES256"))


def make_id_token(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.id_claims("a nonce")))


def make_id_token_without_nonce(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.id_claims("", nonce=...)))


def make_logout_token(provider: OwnProvider) -> str:
    return provider.known(provider.sign(provider.logout_claims(sub="alice")))


TOKENS: dict[str, tuple[Forge, TokenFault]] = {
    "wrong issuer": (claims(iss="https://evil.example"), TokenFault.INVALID),
    "issuer with a slash more": (
        lambda provider: claims(iss=f"{provider.url}/")(provider),
        TokenFault.INVALID,
    ),
    "no issuer": (claims(iss=...), TokenFault.INVALID),
    "issuer that is a list": (claims(iss=["x"]), TokenFault.INVALID),
    "wrong audience": (claims(aud="https://another.example"), TokenFault.INVALID),
    "audiences, ours not among them": (claims(aud=["a", "b"]), TokenFault.INVALID),
    "no audience": (claims(aud=...), TokenFault.INVALID),
    "audience that is an object": (claims(aud={AUDIENCE: 1}), TokenFault.INVALID),
    "audience that ours begins with": (claims(aud=AUDIENCE[:-1]), TokenFault.INVALID),
    "expired": (at(-1, "exp"), TokenFault.EXPIRED),
    "expires right now": (at(0, "exp"), TokenFault.EXPIRED),
    "no expiry": (claims(exp=...), TokenFault.INVALID),
    "expiry as a text": (claims(exp="4102444800"), TokenFault.INVALID),
    "expiry that is true": (claims(exp=True), TokenFault.INVALID),
    "never expires": (claims(exp=1e300), TokenFault.INVALID),
    "issued in the future": (at(3600, "iat"), TokenFault.IMMATURE),
    "not yet good": (at(3600, "nbf"), TokenFault.IMMATURE),
    "empty subject": (claims(sub=""), TokenFault.INVALID),
    "subject that is a number": (claims(sub=5), TokenFault.INVALID),
    "endless subject": (claims(sub="x" * 256), TokenFault.INVALID),
    "unknown kid": (header(kid="another"), TokenFault.SIGNATURE),
    "kid that is a path": (header(kid="../../dev/null"), TokenFault.SIGNATURE),
    "critical extension": (header(crit=["exp"]), TokenFault.INVALID),
    "another key": (signed_by_another_key, TokenFault.SIGNATURE),
    "key of its own": (brings_its_own_key, TokenFault.SIGNATURE),
    "keys of its own, by address": (points_to_its_own_keys, TokenFault.SIGNATURE),
    "HS256 with the public key": (signed_with_the_public_key_as_a_secret, TokenFault.ALGORITHM),
    "alg none": (not_signed, TokenFault.ALGORITHM),
    "changed claims": (with_changed_claims, TokenFault.SIGNATURE),
    "another algorithm": (of_another_algorithm_than_its_key, TokenFault.SIGNATURE),
    "an ID token": (make_id_token, TokenFault.INVALID),
    "an ID token without nonce": (make_id_token_without_nonce, TokenFault.INVALID),
    "an ID token by its type": (claims(typ="ID"), TokenFault.INVALID),
    "a refresh token by its type": (claims(typ="Refresh"), TokenFault.INVALID),
    "a hash of another token in it": (claims(at_hash="x"), TokenFault.INVALID),
    "a logout token": (make_logout_token, TokenFault.INVALID),
    "a logout token by its header": (header(typ="logout+jwt"), TokenFault.INVALID),
}


def test_untrustworthy_token_signs_no_one_in(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, audience=AUDIENCE)

    for name, (forge, expected) in TOKENS.items():
        assert fault(ports, forge(provider)) is expected, name

    assert identities(ports) == []
    assert provider.server.calls("/evil") == []
    # Neither is a signed token ever tried as one that is opaque.
    assert provider.server.calls("/userinfo") == []
    assert fault(ports, claims()(provider)) is None, "a good one signs in after them"


def test_id_token_is_not_an_access_token_without_audience(
    ports: Ports, provider: OwnProvider
) -> None:
    for forge in (make_id_token, make_id_token_without_nonce):
        assert fault(ports, forge(provider)) is TokenFault.INVALID
    assert fault(ports, claims(aud=CLIENT)(provider)) is None
    assert LOGOUT_EVENT not in provider.claims()


def user_info(**person: object) -> Callable[[OwnProvider], Reply]:
    """An answer of user-info about alice, with some members otherwise; ``...`` leaves one out."""

    def answer(provider: OwnProvider) -> Reply:
        members = {**provider.person(), **person}
        return as_json({name: value for name, value in members.items() if value is not ...})

    return answer


def raw(reply: Reply) -> Callable[[OwnProvider], Reply]:
    return lambda _provider: reply


ANSWERS: dict[str, tuple[Callable[[OwnProvider], Reply], TokenFault]] = {
    "another subject": (user_info(sub="root"), TokenFault.INVALID),
    "no subject": (user_info(sub=...), TokenFault.INVALID),
    "subject that is null": (user_info(sub=None), TokenFault.INVALID),
    "no email": (user_info(email=...), TokenFault.INVALID),
    "email that is a list": (user_info(email=["alice@sso.example"]), TokenFault.INVALID),
    "email that is none": (user_info(email="alice"), TokenFault.INVALID),
    "two emails in one": (user_info(email="a@sso.example,b@sso.example"), TokenFault.INVALID),
    "email with a line break": (user_info(email="a@sso.example\nBcc: x"), TokenFault.INVALID),
    "refusal": (raw(Reply(401)), TokenFault.INVALID),
    "a page": (raw(Reply(200, b"<html></html>")), TokenFault.PROVIDER),
    "a list": (raw(as_json([])), TokenFault.PROVIDER),
    "nothing": (raw(Reply(200)), TokenFault.PROVIDER),
    "a member twice": (raw(Reply(200, b'{"sub": "alice", "sub": "root"}')), TokenFault.PROVIDER),
    "a fault": (raw(Reply(500)), TokenFault.PROVIDER),
    "a redirect to an internal address": (
        raw(Reply(302, headers={"Location": "http://169.254.169.254/latest/meta-data"})),
        TokenFault.PROVIDER,
    ),
    "a huge body": (raw(Reply(200, b" " * 300_000)), TokenFault.PROVIDER),
    "a compressed body": (
        raw(Reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})),
        TokenFault.PROVIDER,
    ),
}


def tell(provider: OwnProvider, response: Callable[[OwnProvider], Reply]) -> None:
    provider.server.routes["/userinfo"] = lambda _received: response(provider)


def test_untrustworthy_response_signs_no_one_in(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    for number, (name, (response, expected)) in enumerate(ANSWERS.items(), 1):
        tell(provider, response)
        assert fault(ports, provider.access_token(jti=name)) is expected, name
        assert len(provider.server.calls("/userinfo")) == number, name
        clock.pass_(seconds=FAILED_PAUSE)
    assert identities(ports) == []


KEY_SETS = {
    "a fault": Reply(500),
    "a page": Reply(200, b"<html></html>"),
    "no keys": as_json({"keys": []}),
    "keys that are an object": as_json({"keys": {}}),
    "nonsense for keys": as_json({"keys": [5, {}, {"kty": "RSA"}, {"kty": "EC", "crv": "x"}]}),
    "a shared secret": as_json({"keys": [{"kty": "oct", "k": "AAAA", "kid": KID}]}),
    "a key for encryption": as_json({"keys": [{**public_jwk(rsa_key()), "use": "enc"}]}),
    "a redirect": Reply(302, headers={"Location": "http://10.0.0.1/keys"}),
    "a huge set": Reply(200, b" " * 300_000),
}


def test_unusable_key_set_signs_no_one_in(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    for number, (name, answer) in enumerate(KEY_SETS.items(), 1):
        provider.server.answer("/keys", answer)
        assert fault(ports, provider.access_token(jti=name)) is TokenFault.PROVIDER, name
        assert len(provider.server.calls("/keys")) == number, name
        clock.pass_(seconds=FAILED_PAUSE)
    assert identities(ports) == []


def test_there_are_more_than_forty_forgeries() -> None:
    assert len(TOKENS) + len(ANSWERS) + len(KEY_SETS) > 40
