"""The demo's identity provider: real OpenID Connect, and nowhere but in a demo shop."""

import base64
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from flask.testing import FlaskClient

from app import models
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.demo.identity_provider import set_up_demo_provider, show_demo_provider
from app.services.demo.people import STAFF
from app.services.outbox.base_url import save_base_url
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.browser.demo import demo_file
from tests.builders.people import NOBODY
from tests.builders.providers import identities
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.first  # filling the demo shop takes seconds

PATH = "/demo-identity-provider"
ISSUER = f"http://localhost:8000{PATH}"
BACK = "http://localhost:8000/console/sign-in/with/demo/callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest())
ASKED = {
    "client_id": "northlight-shop",
    "redirect_uri": BACK,
    "response_type": "code",
    "scope": "openid profile email offline_access",
    "state": "the state",
    "nonce": "the nonce",
    "code_challenge": CHALLENGE.rstrip(b"=").decode(),
    "code_challenge_method": "S256",
}
SUBJECTS = {"m.silva", "s.park", "i.horvat", "n.rahman", "i.solberg"}
PRODUCTION = Settings(
    app_env="production", public_url="https://shop.example.com", secret_key="s" * 40
)


@pytest.fixture
def shop(
    run_directory: Path, _migrated_file: Path, tmp_path: Path, clock: FakeClock
) -> Iterator[Ports]:
    """The demo shop with its provider."""
    file = shutil.copy(demo_file(run_directory, _migrated_file), tmp_path / "demo.sqlite3")
    ports = fake_ports(f"sqlite:///{file}", clock)
    assert set_up_demo_provider(ports, OPERATOR)
    yield ports
    ports.database.close()


@pytest.fixture
def client(shop: Ports, app_on: AppOn) -> FlaskClient:
    return app_on(shop).test_client()


def code_for(client: FlaskClient, subject: str) -> str:
    """Choose a person, and return the code that leads back."""
    answer = client.post(f"{PATH}/authorize?{urlencode(ASKED)}", data={"person": subject})
    back = urlsplit(answer.headers["Location"])
    told = parse_qs(back.query)
    assert f"{back.scheme}://{back.netloc}{back.path}" == BACK
    assert (told["state"], told["iss"]) == (["the state"], [ISSUER])
    return told["code"][0]


def exchange(client: FlaskClient, shop: Ports, secret: str = "", **form: str) -> Any:
    """Send a form to the token endpoint, by default with the client's own secret."""
    provider = show_demo_provider(shop, NOBODY)
    assert provider is not None
    return client.post(
        f"{PATH}/token",
        auth=(provider.client_id, secret or provider.client_secret),
        data={"grant_type": "authorization_code", "redirect_uri": BACK, **form},
    )


def test_code_becomes_tokens_that_its_keys_verify(client: FlaskClient, shop: Ports) -> None:
    code = code_for(client, "m.silva")
    answer = exchange(client, shop, code=code, code_verifier=VERIFIER)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    [key] = client.get(f"{PATH}/keys").json["keys"]  # type: ignore[index]
    claims = jwt.decode(
        answer.json["id_token"],
        jwt.PyJWK(key),
        ["ES256"],
        audience="northlight-shop",
        issuer=ISSUER,
        options={"verify_exp": False, "verify_iat": False},
    )
    now = int(shop.clock.timestamp())
    assert (claims["sub"], claims["nonce"], claims["auth_time"]) == ("m.silva", "the nonce", now)
    bearer = {"Authorization": f"Bearer {answer.json['access_token']}"}
    person = client.get(f"{PATH}/userinfo", headers=bearer).json
    assert person is not None
    assert (person["email"], person["email_verified"]) == ("manager@example.com", True)
    again = exchange(
        client, shop, grant_type="refresh_token", refresh_token=answer.json["refresh_token"]
    )
    assert again.status_code == 200


def test_discovery_names_endpoints_that_exist(client: FlaskClient) -> None:
    found = client.get(f"{PATH}/.well-known/openid-configuration").json
    assert found is not None
    assert found["issuer"] == ISSUER
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"):
        assert client.get(urlsplit(found[name]).path).status_code != 404


def test_code_is_refused_without_its_proof(client: FlaskClient, shop: Ports) -> None:
    for wrong in (
        {"code_verifier": "w" * 43},
        {"code_verifier": VERIFIER, "redirect_uri": "http://localhost:9999/"},
        {"code": "made up", "code_verifier": VERIFIER},
    ):
        code = code_for(client, "m.silva")
        answer = exchange(client, shop, **{"code": code, **wrong})
        assert (answer.status_code, answer.json) == (400, {"error": "invalid_grant"}), wrong


def test_code_is_good_once_and_for_a_minute(
    client: FlaskClient, shop: Ports, clock: FakeClock
) -> None:
    code = code_for(client, "m.silva")
    answers = [exchange(client, shop, code=code, code_verifier=VERIFIER) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 400]
    late = code_for(client, "m.silva")
    clock.pass_(minutes=1)
    assert exchange(client, shop, code=late, code_verifier=VERIFIER).status_code == 400


def test_token_of_one_kind_is_no_other(client: FlaskClient, shop: Ports) -> None:
    code = code_for(client, "m.silva")
    refused = client.get(f"{PATH}/userinfo", headers={"Authorization": f"Bearer {code}"})
    assert refused.status_code == 401
    tokens = exchange(client, shop, code=code, code_verifier=VERIFIER).json
    swapped = exchange(
        client, shop, grant_type="refresh_token", refresh_token=tokens["access_token"]
    )
    assert swapped.status_code == 400


def test_client_authenticates_with_its_secret(client: FlaskClient, shop: Ports) -> None:
    code = code_for(client, "m.silva")
    wrong = exchange(client, shop, "another secret", code=code, code_verifier=VERIFIER)
    assert (wrong.status_code, wrong.json) == (401, {"error": "invalid_client"})
    without = client.post(f"{PATH}/token", data={"grant_type": "authorization_code"})
    assert without.status_code == 401


def test_invalid_request_leads_back_with_its_error(client: FlaskClient) -> None:
    for changes, error in (
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "email"}, "invalid_scope"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"prompt": "none"}, "login_required"),
    ):
        answer = client.get(f"{PATH}/authorize?{urlencode({**ASKED, **changes})}")
        told = parse_qs(urlsplit(answer.headers["Location"]).query)
        assert told == {"error": [error], "state": ["the state"]}, changes


def test_unknown_client_and_foreign_redirect_are_refused_here(client: FlaskClient) -> None:
    for changes in (
        {"client_id": "another"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": ""},
        {"redirect_uri": "http://["},
    ):
        answer = client.post(
            f"{PATH}/authorize?{urlencode({**ASKED, **changes})}", data={"person": "m.silva"}
        )
        assert (answer.status_code, "Location" in answer.headers) == (400, False), changes


def test_provider_answers_no_other_host(client: FlaskClient) -> None:
    """A name of an attacker's that leads to this machine (DNS rebinding)."""
    for host in (
        "attacker.example",
        "localhost.attacker.example:8000",
        "192.168.1.5:8000",
        "[",
        "",
    ):
        for path in ("keys", ".well-known/openid-configuration", f"authorize?{urlencode(ASKED)}"):
            shown = client.get(f"{PATH}/{path}", headers={"Host": host})
            assert shown.status_code in (400, 421), (host, path)
        choice = {"data": {"person": "m.silva"}, "headers": {"Host": host}}
        chosen = client.post(f"{PATH}/authorize?{urlencode(ASKED)}", **choice)
        assert chosen.status_code in (400, 421), host
        assert "Location" not in chosen.headers, host


def test_provider_answers_this_machine(client: FlaskClient) -> None:
    for host in ("localhost:8000", "127.0.0.1:9", "[::1]:8000", "a.localhost"):
        own = {"Host": host, "Origin": f"http://{host}"}
        assert client.get(f"{PATH}/keys", headers={"Host": host}).status_code == 200, host
        choice = {"data": {"person": "m.silva"}, "headers": own}
        chosen = client.post(f"{PATH}/authorize?{urlencode(ASKED)}", **choice)
        assert chosen.status_code == 303, host


def test_provider_answers_its_issuers_host(shop: Ports, client: FlaskClient) -> None:
    save_base_url(shop, OPERATOR, "https://demo.example.com")
    set_up_demo_provider(shop, OPERATOR)
    back = "https://demo.example.com/console/sign-in/with/demo/callback"
    asked = {**ASKED, "redirect_uri": back}
    url = f"{PATH}/authorize?{urlencode(asked)}"
    own = {"Host": "demo.example.com", "Origin": "https://demo.example.com"}
    choice = {"data": {"person": "m.silva"}}
    assert client.post(url, headers=own, **choice).status_code == 303
    other = {**own, "Origin": "https://attacker.example"}
    assert client.post(url, headers=other, **choice).status_code == 403


def test_no_other_page_chooses_a_person(client: FlaskClient) -> None:
    for origin in ("https://attacker.example", "http://localhost:9", "null", "x"):
        headers = {"Host": "localhost:8000", "Origin": origin}
        url = f"{PATH}/authorize?{urlencode(ASKED)}"
        chosen = client.post(url, data={"person": "m.silva"}, headers=headers)
        assert (chosen.status_code, "Location" in chosen.headers) == (403, False), origin


def test_only_linked_demo_staff_can_be_chosen(client: FlaskClient) -> None:
    page = client.get(f"{PATH}/authorize?{urlencode(ASKED)}").get_data(as_text=True)
    for person in STAFF:
        assert (f"Continue as {person.name}" in page) is (person.subject in SUBJECTS), person.name
    wrong = client.post(f"{PATH}/authorize?{urlencode(ASKED)}", data={"person": "someone"})
    assert wrong.status_code == 400


def test_nothing_is_served_outside_development(shop: Ports) -> None:
    real = replace(shop, configuration=PRODUCTION.configuration)
    app = create_app(real, PRODUCTION)
    assert not [rule for rule in app.url_map.iter_rules() if rule.rule.startswith(PATH)]
    for path in ("authorize", "token", "keys", "userinfo", ".well-known/openid-configuration"):
        assert app.test_client().get(f"{PATH}/{path}").status_code == 404
    assert show_demo_provider(real, NOBODY) is None
    assert set_up_demo_provider(real, OPERATOR) == ()
    mixed = create_app(real, Settings()).test_client()
    assert mixed.get(f"{PATH}/keys").status_code == 404


def test_nothing_is_served_without_the_demo(ports: Ports, app_on: AppOn) -> None:
    assert set_up_demo_provider(ports, OPERATOR) == ()
    client = app_on(ports).test_client()
    for path in ("authorize", "keys", "userinfo", ".well-known/openid-configuration"):
        assert client.get(f"{PATH}/{path}").status_code == 404
    assert client.post(f"{PATH}/token").status_code == 404


def test_disabled_provider_stays_disabled(client: FlaskClient, shop: Ports) -> None:
    save_provider(shop, OPERATOR, "demo", ProviderUpdate({}, active=False))
    set_up_demo_provider(shop, OPERATOR)
    assert client.get(f"{PATH}/keys").status_code == 404


def test_provider_and_its_people_follow_the_address(shop: Ports) -> None:
    before = identities(shop)
    save_base_url(shop, OPERATOR, "http://127.0.0.1:9000")
    people = set_up_demo_provider(shop, OPERATOR)
    assert {person.subject for person in people} == SUBJECTS
    issuer = f"http://127.0.0.1:9000{PATH}"
    assert [(issuer, subject, known) for _, subject, known in before] == identities(shop)
    version = providers_version(shop)
    assert set_up_demo_provider(shop, OPERATOR) == people
    assert providers_version(shop) == version


def providers_version(shop: Ports) -> int:
    with shop.database.reading() as session:
        return session.get_one(models.Shop, 1).providers_version
