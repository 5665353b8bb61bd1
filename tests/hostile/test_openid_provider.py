"""Attacks on the OpenID provider over HTTP, each beside the use that it imitates."""

import base64
import hashlib
import logging
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.oauth import DEFAULT_SCOPES
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.jws import make_jwk
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.keys import ring
from app.services.oauth.clients import ClientChange, delete_client, update_client
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.oauth import CALLBACK, VERIFIER, Registered, make_client
from tests.builders.people import make_user, sign_in, visit
from tests.builders.providers import set_up
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.oauth.pages import Provider, authorization, provider_of, sent_back
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import fault

SCOPES = DEFAULT_SCOPES | {"offline_access"}
OFFLINE = "openid profile email offline_access"


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """One database is enough: races for codes and tokens are tested on both elsewhere."""
    url: str = request.getfixturevalue(f"{getattr(request, 'param', 'sqlite')}_url")
    return url


@pytest.fixture
def site(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


@pytest.fixture
def own(ports: Ports) -> Registered:
    return make_client(ports, "Storefront", is_first_party=True, scopes=SCOPES)


@pytest.fixture
def user(ports: Ports, site: Provider) -> int:
    key = make_user(ports)
    site.pages.sign_in(key)
    return key


def works(ports: Ports, token: str) -> bool:
    return identify(ports, visit(token)).actor.is_user


@pytest.mark.usefixtures("user")
def test_code_of_another_browser_or_client_is_no_use(
    ports: Ports, site: Provider, own: Registered
) -> None:
    """Injected codes fail at PKCE, and leave the code to the one who has its verifier."""
    other = make_client(ports, "Board", is_first_party=True, scopes=SCOPES)
    code = site.code(own)
    for client, changes in (
        (own, {"code_verifier": "b" * 43}),
        (own, {"code_verifier": ""}),
        (own, {"code_verifier": "short"}),
        (own, {"redirect_uri": "https://forum.example.com/other"}),
        (own, {"redirect_uri": ""}),
        (other, {}),
        (replace(own, secret="wrong"), {}),
    ):
        answer = site.exchange(client, code, **changes)
        assert answer.status_code in (400, 401), changes
        assert "access_token" not in answer.json(), changes
    assert site.exchange(own, code).status_code == 200


@pytest.mark.usefixtures("user")
def test_replayed_code_ends_what_it_began(ports: Ports, site: Provider, own: Registered) -> None:
    code = site.code(own)
    token = site.exchange(own, code).json()["access_token"]
    assert works(ports, token)
    assert site.exchange(own, code).json()["error"] == "invalid_grant"
    assert not works(ports, token)


@pytest.mark.usefixtures("user")
def test_pkce_cannot_be_left_out_or_weakened(site: Provider, own: Registered) -> None:
    for changes in (
        {"code_challenge": None},
        {"code_challenge_method": None},
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain", "code_challenge": VERIFIER},
        {"code_challenge_method": "s256"},
        {"code_challenge": "short"},
    ):
        assert sent_back(site.authorize(own, **changes))["error"] == ["invalid_request"], changes
    # The verifier itself is no challenge: S256 is what is compared.
    plain = base64.urlsafe_b64encode(hashlib.sha256(b"x" * 43).digest()).rstrip(b"=").decode()
    code = site.code(own, code_challenge=plain)
    assert site.exchange(own, code, code_verifier=plain).status_code == 400
    assert site.exchange(own, site.code(own)).status_code == 200


@pytest.mark.usefixtures("user")
def test_no_spelling_of_a_redirect_uri_leads_elsewhere(site: Provider, own: Registered) -> None:
    for uri in (
        f"{CALLBACK}/../other",
        f"{CALLBACK}#fragment",
        f"{CALLBACK}?x=1",
        "https://forum.example.com",
        "https://FORUM.example.com/callback",
        "https://forum.example.com.evil.example/callback",
        "https://forum.example.com@evil.example/callback",
        "https://evil.example/callback",
        "https://\uff46orum.example.com/callback",
        "//forum.example.com/callback",
        "javascript:alert(1)",
        "https://forum.example.com/callback\r\nX: y",
        'https://forum.example.com/"<script>',
        None,
    ):
        answer = site.authorize(own, redirect_uri=uri)
        assert answer.status_code == 400, uri
        assert "Location" not in answer.headers, uri
    twice = authorization(own)
    path = f"/oauth/authorize?{urlencode(twice)}&redirect_uri=https://evil.example/"
    assert "Location" not in site.get(path).headers
    assert "code" in sent_back(site.authorize(own))


@pytest.mark.usefixtures("user")
def test_parameters_in_no_form_are_no_server_error(site: Provider, own: Registered) -> None:
    for name in ("client_id", "response_type", "scope", "prompt", "state", "nonce", "max_age"):
        for value in ("\u20ac", '"\\', "\x00", "x" * 5000, ""):
            answer = site.authorize(own, **{name: value})
            assert answer.status_code in (303, 400), (name, value)
    for form in ({}, {"grant_type": "\u20ac"}, {"grant_type": "password"}, {"code": "\x00"}):
        answer = site.token(own, {"grant_type": "authorization_code", **form})
        assert answer.status_code == 400, form
        assert answer.json()["error"], form
    twice = f"grant_type=refresh_token&grant_type=refresh_token&client_id={own.id}"
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert site.post("/oauth/token", twice, **kind).json()["error"] == "invalid_request"
    for response_type in ("token", "id_token", "code id_token", "none"):
        answer = site.authorize(own, response_type=response_type)
        assert sent_back(answer)["error"] == ["unsupported_response_type"], response_type


@pytest.mark.usefixtures("user")
def test_tokens_of_one_kind_or_client_are_none_of_another(
    ports: Ports, site: Provider, own: Registered, user: int
) -> None:
    other = make_client(ports, "Board", is_first_party=True, scopes=SCOPES)
    tokens = site.exchange(own, site.code(own, scope=OFFLINE)).json()
    pair = sign_in(ports, user)
    # An ID token opens nothing, at the API or here.
    assert not works(ports, tokens["id_token"])
    assert site.userinfo(tokens["id_token"]).status_code == 401
    # Refresh tokens stay where they come from.
    assert not works(ports, tokens["refresh_token"])
    for client, token in (
        (other, tokens["refresh_token"]),
        (own, tokens["access_token"]),
        (own, tokens["id_token"]),
        (own, pair.refresh),
        (own, pair.access),
    ):
        assert site.refresh(client, token).json()["error"] == "invalid_grant"
    # A token of the shop's own sign-in was granted to no client.
    assert site.userinfo(pair.access).status_code == 403
    assert site.refresh(own, tokens["refresh_token"]).status_code == 200


@pytest.mark.usefixtures("user")
def test_stolen_refresh_token_ends_the_grant(
    ports: Ports, site: Provider, own: Registered
) -> None:
    first = site.exchange(own, site.code(own, scope=OFFLINE)).json()
    second = site.refresh(own, first["refresh_token"]).json()
    assert works(ports, second["access_token"])
    assert site.refresh(own, first["refresh_token"]).json()["error"] == "invalid_grant"
    assert site.refresh(own, second["refresh_token"]).json()["error"] == "invalid_grant"
    assert not works(ports, second["access_token"])


@pytest.mark.usefixtures("user")
def test_client_that_is_disabled_on_the_way_gets_nothing(
    ports: Ports, site: Provider, own: Registered
) -> None:
    tokens = site.exchange(own, site.code(own, scope=OFFLINE)).json()
    code = site.code(own)
    update_client(ports, OPERATOR, own.id, ClientChange(is_active=False))
    assert site.authorize(own).status_code == 400
    for answer in (site.exchange(own, code), site.refresh(own, tokens["refresh_token"])):
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    assert site.userinfo(tokens["access_token"]).status_code == 401
    update_client(ports, OPERATOR, own.id, ClientChange(is_active=True))
    assert site.userinfo(tokens["access_token"]).status_code == 200
    delete_client(ports, OPERATOR, own.id)
    assert site.userinfo(tokens["access_token"]).status_code == 401


@pytest.mark.usefixtures("user")
def test_login_mode_judges_every_endpoint(ports: Ports, site: Provider, own: Registered) -> None:
    tokens = site.exchange(own, site.code(own, scope=OFFLINE)).json()
    code = site.code(own)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    assert site.userinfo(tokens["access_token"]).status_code == 200
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert site.userinfo(tokens["access_token"]).status_code == 401
    assert site.exchange(own, code).json()["error"] == "invalid_grant"
    assert site.refresh(own, tokens["refresh_token"]).json()["error"] == "invalid_grant"
    form = {"token": tokens["access_token"]}
    introspected = site.post("/oauth/introspect", form, auth=(own.id, own.secret))
    assert introspected.json() == {"active": False}


def test_consent_of_another_page_or_person_does_not_count(ports: Ports, site: Provider) -> None:
    client = make_client(ports)
    site.pages.sign_in(make_user(ports))
    assert site.authorize(client).text == "consent"
    assert site.authorize(client, scope="openid").text == "consent"
    full, narrow = site.pages.consents
    for action, proof in (
        (full.action, ""),
        (full.action, narrow.proof),
        (f"{narrow.action}&scope=openid+email", narrow.proof),
    ):
        answer = site.post(action, {"proof": proof, "decision": "allow"})
        assert answer.status_code == 400, action
    victim = make_user(ports, "victim@example.com")
    site.pages.sign_in(victim)
    forged = site.post(full.action, {"proof": full.proof, "decision": "allow"})
    assert forged.status_code == 400
    site.authorize(client)
    asked = site.pages.consents[-1]
    allowed = site.post(asked.action, {"proof": asked.proof, "decision": "allow"})
    assert "code" in sent_back(allowed)


@pytest.mark.usefixtures("user")
def test_old_code_and_foreign_audience_are_refused(
    site: Provider, own: Registered, clock: FakeClock
) -> None:
    api = "http://localhost:8000/graphql/"
    assert "code" in sent_back(site.authorize(own, resource=api))
    elsewhere = sent_back(site.authorize(own, resource="https://other.example/"))
    assert elsewhere["error"] == ["invalid_target"]
    # What it asks for in a form that isn't read is refused, not ignored.
    for name, value, error in (
        ("request", "e30.e30.", "request_not_supported"),
        ("request_uri", "https://forum.example.com/r", "request_uri_not_supported"),
        ("registration", "{}", "registration_not_supported"),
        ("response_mode", "fragment", "invalid_request"),
        ("response_mode", "form_post", "invalid_request"),
    ):
        assert sent_back(site.authorize(own, **{name: value}))["error"] == [error], name
    assert "code" in sent_back(site.authorize(own, response_mode="query"))
    code = site.code(own)
    clock.pass_(seconds=61)
    assert site.exchange(own, code).json()["error"] == "invalid_grant"


@pytest.mark.usefixtures("user")
def test_no_secret_is_logged_at_any_level(
    site: Provider, own: Registered, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        code = site.code(own, scope=OFFLINE)
        tokens = site.exchange(own, code).json()
        again = site.refresh(own, tokens["refresh_token"]).json()
        form = {"token": again["refresh_token"]}
        site.post("/oauth/revoke", form, auth=(own.id, own.secret))
    told = "\n".join(
        record.getMessage() for record in caplog.records if "urllib3" not in record.name
    )
    for secret in (
        own.secret,
        tokens["access_token"],
        tokens["refresh_token"],
        tokens["id_token"],
        again["access_token"],
        again["refresh_token"],
        VERIFIER,
    ):
        assert secret not in told


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_text_that_postgresql_cannot_hold_is_no_server_error(ports: Ports, site: Provider) -> None:
    """Also in an assertion, which names its client before its signature is checked."""
    site.pages.sign_in(make_user(ports))
    own = make_client(ports, "Storefront", is_first_party=True, scopes=SCOPES)
    for name in ("client_id", "nonce", "state", "scope", "ui_locales", "x\0"):
        assert site.authorize(own, **{name: "a\0b"}).status_code == 400, name
    header = base64.urlsafe_b64encode(b'{"alg":"RS256"}').decode().rstrip("=")
    for claims in (b'{"sub":"a\\u0000"}', b'{"sub":"\\ud800"}', b"[" * 20_000, b'{"sub":[]}'):
        payload = base64.urlsafe_b64encode(claims).decode().rstrip("=")
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": f"{header}.{payload}.eA",
        }
        answer = site.post("/oauth/token", form)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_client"), claims[:9]
    for auth in (("a\0", "x"), (own.id, "x\0")):
        assert site.post("/oauth/introspect", {"token": "x"}, auth=auth).status_code == 401
    assert "code" in sent_back(site.authorize(own, nonce="a"))


def test_own_keys_are_those_of_no_provider(ports: Ports, provider: OwnProvider) -> None:
    """Under any URL and name: what this shop signed is judged as its own, or not at all."""
    set_up(ports, provider, audience=AUDIENCE)
    assert fault(ports, provider.access_token()) is None
    signer = ring(ports).signer
    copy = make_jwk(signer.public)
    for member in ("kid", "alg", "use"):
        provider.keys[:] = [{name: copy[name] for name in copy if name != member}]
        forged = ports.keys.sign(signer, provider.claims("mallory", jti=member))
        assert fault(ports, provider.known(forged, "mallory")) is TokenFault.INVALID, member


def test_own_urls_are_those_of_no_provider(ports: Ports) -> None:
    base = "https://shop.example.com"
    there = replace(ports, configuration=replace(ports.configuration, public_url=base))
    for name, value in (
        ("issuer", base),
        ("issuer", f"{base}/"),
        ("issuer", "https://SHOP.example.com:443"),
        ("issuer", f"{base}/graphql/"),
        ("oauth_authorization_url", f"{base}/oauth/authorize"),
        ("oauth_token_url", f"{base}/oauth/token?x=1"),
        ("json_web_key_set_url", f"{base}/.well-known/jwks.json"),
        ("user_info_url", f"{base}/oauth/userinfo"),
    ):
        with pytest.raises(Refused) as refused:
            save_provider(there, OPERATOR, "own", ProviderUpdate({name: value}))
        assert [problem.field for problem in refused.value.problems] == [name], value
    # Another provider on the same host.
    other = ProviderUpdate({"issuer": f"{base}/keycloak/realms/shop"})
    assert save_provider(there, OPERATOR, "keycloak", other).issuer
