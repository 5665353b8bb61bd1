"""The OpenID provider over HTTP: discovery, the code flow, claims, and its options."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc9207 import AuthorizationServerMetadata
from authlib.oidc.discovery import OpenIDProviderMetadata
from sqlalchemy import delete
from typing_extensions import override

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.oauth import DEFAULT_SCOPES
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.consents import scopes_to_allow
from tests.builders.addresses import make_address
from tests.builders.oauth import CALLBACK, VERIFIER, Registered, grant, make_client
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import make_group, make_user, visit
from tests.builders.shop import close_storefront
from tests.fakes.activity import FakeActivity
from tests.fakes.clock import FakeClock
from tests.oauth.pages import BASE, HOST, Provider, next_path, provider_of, sent_back

ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS
OFFLINE = frozenset((*DEFAULT_SCOPES, "offline_access", "address", "phone"))


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: grants are tested on both."""
    return sqlite_url


@pytest.fixture
def provider(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


@pytest.fixture
def own(ports: Ports) -> Registered:
    return make_client(ports, "Storefront", is_first_party=True, scopes=OFFLINE)


def id_token(provider: Provider, token: str, audience: str) -> dict[str, object]:
    """Return the claims of an ID token, verified as clients do but for the time."""
    keys = jwt.PyJWKSet.from_dict(provider.get("/.well-known/jwks.json").json())
    key = keys[jwt.get_unverified_header(token)["kid"]]
    unchecked = {"verify_exp": False, "verify_iat": False}
    return jwt.decode(
        token,
        key,
        ["RS256"],
        audience=audience,
        issuer=BASE,
        options=unchecked,  # type: ignore[arg-type]
    )


def test_discovery_describes_what_exists(provider: Provider) -> None:
    found = provider.get("/.well-known/openid-configuration")
    described = found.json()
    assert described == provider.get("/.well-known/oauth-authorization-server").json()
    metadata = OpenIDProviderMetadata(described)
    metadata.validate(metadata_classes=[AuthorizationServerMetadata])
    assert described["issuer"] == BASE
    assert found.headers["Access-Control-Allow-Origin"] == "*"
    for name, url in described.items():
        if name.endswith("_endpoint") or name == "jwks_uri":
            answer = provider.get(url.removeprefix(BASE))
            assert answer.status_code != 404, name


def test_nothing_exists_while_the_hosted_pages_are_off(
    provider: Provider, own: Registered
) -> None:
    provider.pages.is_on = False
    for path in ("/.well-known/openid-configuration", "/oauth/authorize", "/oauth/userinfo"):
        assert provider.get(path).status_code == 404, path
    for path in (
        "/oauth/token",
        "/oauth/introspect",
        "/oauth/revoke",
        "/oauth/consent",
        "/oauth/device",
        "/oauth/device_authorization",
    ):
        assert provider.post(path).status_code == 404, path


def test_authlib_signs_a_person_in(ports: Ports, provider: Provider, own: Registered) -> None:
    user = make_user(ports, first_name="Ann", last_name="Lee")
    provider.pages.sign_in(user)
    with OAuth2Session(
        own.id,
        own.secret,
        scope="openid profile email offline_access",
        redirect_uri=CALLBACK,
        code_challenge_method="S256",
    ) as client:
        client.headers.update(HOST)
        url, state = client.create_authorization_url(
            f"{provider.origin}/oauth/authorize", code_verifier=VERIFIER, nonce="n"
        )
        back = requests.get(url, headers=HOST, allow_redirects=False, timeout=60)
        assert parse_qs(urlsplit(back.headers["Location"]).query)["iss"] == [BASE]
        tokens = client.fetch_token(
            f"{provider.origin}/oauth/token",
            authorization_response=back.headers["Location"],
            state=state,
            code_verifier=VERIFIER,
        )
        claims = id_token(provider, tokens["id_token"], own.id)
        assert claims["nonce"] == "n"
        assert claims["email"] == "customer@example.com"
        assert claims["name"] == "Ann Lee"
        assert (claims["amr"], claims["acr"]) == (["pwd"], "aal1")
        assert claims["auth_time"] == int(ports.clock.timestamp())
        told = provider.userinfo(tokens["access_token"]).json()
        assert told["sub"] == claims["sub"]
        assert told["email_verified"] is True
        again = client.refresh_token(f"{provider.origin}/oauth/token")
    assert again["refresh_token"] != tokens["refresh_token"]
    later = id_token(provider, again["id_token"], own.id)
    assert (later["sub"], later["sid"]) == (claims["sub"], claims["sid"])
    assert "nonce" not in later
    assert identify(ports, visit(again["access_token"])).actor.user_id == user


def test_public_client_has_no_secret_and_proves_itself_by_pkce(
    ports: Ports, provider: Provider
) -> None:
    client = make_client(ports, is_public=True, is_first_party=True)
    provider.pages.sign_in(make_user(ports))
    answer = provider.exchange(client, provider.code(client))
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    assert "refresh_token" not in answer.json()


def test_person_is_led_to_the_sign_in_and_back(
    ports: Ports, provider: Provider, own: Registered, clock: FakeClock
) -> None:
    first = provider.authorize(own)
    assert first.headers["Location"].startswith("/account/sign-in?")
    silent = sent_back(provider.authorize(own, prompt="none"))
    assert silent["error"] == ["login_required"]
    assert silent["state"] == ["of the client"]
    assert silent["iss"] == [BASE]
    user = make_user(ports)
    provider.pages.sign_in(user)
    assert "code" in sent_back(provider.get(next_path(first)))
    assert "code" in sent_back(provider.authorize(own, prompt="none"))
    clock.pass_(minutes=10)
    assert "code" in sent_back(provider.authorize(own, max_age="3600"))
    for options in ({"prompt": "login"}, {"max_age": "60"}, {"prompt": "select_account"}):
        asked = provider.authorize(own, **options)
        assert asked.headers["Location"].startswith("/account/again?"), options
        # Without a new sign-in, the way on leads there again.
        path = next_path(asked)
        assert provider.get(path).headers["Location"].startswith("/account/again?"), options
        clock.pass_(seconds=5)
        provider.pages.sign_in(user)
        assert "code" in sent_back(provider.get(path)), options
        clock.pass_(minutes=10)
    # A sign-in takes its time, and is new enough even for no age at all.
    provider.pages.sign_in(user)
    clock.pass_(seconds=1)
    path = next_path(provider.authorize(own, max_age="0"))
    clock.pass_(seconds=30)
    provider.pages.sign_in(user)
    clock.pass_(seconds=1)
    assert "code" in sent_back(provider.get(path))
    clock.pass_(minutes=10)
    assert sent_back(provider.authorize(own, max_age="60", prompt="none"))["error"] == [
        "login_required"
    ]
    assert sent_back(provider.authorize(own, max_age="x"))["error"] == ["invalid_request"]


def test_new_second_factor_asks_for_a_new_sign_in(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    user = make_user(ports)
    provider.pages.sign_in(user)
    assert "code" in sent_back(provider.authorize(own))
    make_passkey(ports, user, SoftwareAuthenticator())
    asked = provider.authorize(own)
    assert asked.headers["Location"].startswith("/account/again?")
    assert sent_back(provider.authorize(own, prompt="none"))["error"] == ["login_required"]
    # An identity provider asks for its own factors.
    provider.pages.sign_in(user, SessionOrigin.OIDC)
    assert "code" in sent_back(provider.get(next_path(asked)))


def test_second_factor_is_asked_for_where_the_person_has_one(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    user = make_user(ports)
    provider.pages.sign_in(user, SessionOrigin.OIDC)
    assert "code" in sent_back(provider.authorize(own, acr_values="aal2"))
    make_passkey(ports, user, SoftwareAuthenticator())
    assert "code" in sent_back(provider.authorize(own, acr_values="aal1"))
    assert "code" in sent_back(provider.authorize(own, acr_values="aal2", prompt="none"))
    asked = provider.authorize(own, acr_values="aal1 aal2")
    assert asked.headers["Location"].startswith("/account/again?")
    # It's a wish: who signs in without a factor again isn't asked in circles.
    provider.pages.sign_in(user, SessionOrigin.OIDC)
    assert "code" in sent_back(provider.get(next_path(asked)))


def test_hint_names_who_is_to_be_signed_in(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    ann, bea = make_user(ports, "ann@example.com"), make_user(ports, "bea@example.com")
    provider.pages.sign_in(ann)
    hint = provider.exchange(own, provider.code(own)).json()["id_token"]
    for prompt in (None, "none"):
        assert "code" in sent_back(provider.authorize(own, id_token_hint=hint, prompt=prompt))
    provider.pages.sign_in(bea)
    silent = sent_back(provider.authorize(own, id_token_hint=hint, prompt="none"))
    assert silent["error"] == ["login_required"]
    asked = provider.authorize(own, id_token_hint=hint)
    assert asked.headers["Location"].startswith("/account/again?")
    provider.pages.sign_in(bea)
    assert sent_back(provider.get(next_path(asked)))["error"] == ["login_required"]
    provider.pages.sign_in(ann)
    assert "code" in sent_back(provider.get(next_path(asked)))
    token = provider.exchange(own, provider.code(own)).json()["access_token"]
    for other in (token, "none", hint[:-2]):
        refused = sent_back(provider.authorize(own, id_token_hint=other, prompt="none"))
        assert refused["error"] == ["login_required"], other


def test_third_party_asks_once_for_consent(ports: Ports, provider: Provider) -> None:
    client = make_client(ports)
    person = provider.pages.sign_in(make_user(ports))
    assert provider.authorize(client).text == "consent"
    silent = sent_back(provider.authorize(client, prompt="none"))
    assert silent["error"] == ["consent_required"]
    [asked] = provider.pages.consents
    assert asked.scopes == DEFAULT_SCOPES
    denied = provider.post(asked.action, {"proof": asked.proof, "decision": "deny"})
    assert sent_back(denied)["error"] == ["access_denied"]
    assert sent_back(denied)["iss"] == [BASE]
    allowed = provider.post(asked.action, {"proof": asked.proof, "decision": "allow"})
    assert allowed.status_code == 303
    [code] = sent_back(allowed)["code"]
    assert provider.exchange(client, code).status_code == 200
    assert scopes_to_allow(ports, person.actor, client.client, DEFAULT_SCOPES) == frozenset()
    assert "code" in sent_back(provider.authorize(client))
    assert provider.authorize(client, prompt="consent").text == "consent"


def test_claims_are_those_of_the_scopes(ports: Ports, provider: Provider) -> None:
    scopes = OFFLINE | {"staff"}
    client = make_client(ports, is_first_party=True, scopes=scopes)
    user = make_user(ports, is_staff=True, groups=[make_group(ports, "Support")])
    make_address(ports, user)
    provider.pages.sign_in(user)

    def claims(scope: str) -> dict[str, object]:
        tokens = provider.exchange(client, provider.code(client, scope=scope)).json()
        told: dict[str, object] = provider.userinfo(tokens["access_token"]).json()
        return told

    assert claims("openid").keys() == {"sub"}
    assert claims("openid email").keys() == {"sub", "email", "email_verified"}
    assert claims("openid phone")["phone_number"] == "+48713448150"
    address = claims("openid address")["address"]
    assert isinstance(address, dict)
    assert address["locality"] == "WROCŁAW"
    assert claims("openid staff") == {
        "sub": claims("openid")["sub"],
        "is_staff": True,
        "groups": ["Support"],
    }
    # What a client can't have is left out, as OpenID Connect wants it.
    assert claims("openid latchkey:manage_orders unknown").keys() == {"sub"}
    assert sent_back(provider.authorize(client, scope="unknown"))["error"] == ["invalid_scope"]


def test_userinfo_wants_a_token_of_a_grant_with_openid(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    user = make_user(ports)
    provider.pages.sign_in(user)
    tokens = provider.exchange(own, provider.code(own, scope="email")).json()
    assert "id_token" not in tokens
    narrow = provider.userinfo(tokens["access_token"])
    assert (narrow.status_code, narrow.json()["error"]) == (403, "insufficient_scope")
    unknown = provider.userinfo("x")
    assert (unknown.status_code, unknown.json()["error"]) == (401, "invalid_token")
    assert provider.get("/oauth/userinfo").status_code == 401


def test_client_introspects_and_revokes_its_tokens(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    provider.pages.sign_in(make_user(ports))
    scope = "openid offline_access"
    tokens = provider.exchange(own, provider.code(own, scope=scope)).json()
    other = make_client(ports, "Board")

    def introspect(client: Registered, token: str) -> dict[str, object]:
        answer = provider.post(
            "/oauth/introspect", {"token": token}, auth=(client.id, client.secret)
        )
        told: dict[str, object] = answer.json()
        return told

    for name in ("access_token", "refresh_token"):
        told = introspect(own, tokens[name])
        assert (told["active"], told["scope"], told["client_id"]) == (True, scope, own.id)
        assert introspect(other, tokens[name]) == {"active": False}
    assert introspect(own, tokens["id_token"]) == {"active": False}
    refused = provider.post("/oauth/introspect", {"token": "x"}, auth=(own.id, "wrong"))
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    form = {"token": tokens["refresh_token"]}
    assert provider.post("/oauth/revoke", form, auth=(other.id, other.secret)).status_code == 200
    assert introspect(own, tokens["access_token"])["active"] is True
    assert provider.post("/oauth/revoke", form, auth=(own.id, own.secret)).status_code == 200
    assert introspect(own, tokens["access_token"]) == {"active": False}


def test_refresh_with_fewer_scopes_limits_that_access_token_alone(
    ports: Ports, provider: Provider
) -> None:
    """RFC 6749, 6; the next refresh token has all of the grant's scopes."""
    scopes = DEFAULT_SCOPES | {"offline_access", *map(str, (ORDERS, USERS))}
    client = make_client(ports, is_first_party=True, scopes=scopes)
    provider.pages.sign_in(make_user(ports, is_staff=True, permissions=(ORDERS, USERS)))
    everything = "openid email offline_access latchkey:manage_orders latchkey:manage_users"
    granted = provider.exchange(client, provider.code(client, scope=everything)).json()
    more = provider.refresh(client, granted["refresh_token"], scope="openid profile")
    assert more.json()["error"] == "invalid_scope"
    narrow = "openid latchkey:manage_orders"
    limited = provider.refresh(client, granted["refresh_token"], scope=narrow).json()
    assert limited["scope"] == narrow
    assert set(provider.userinfo(limited["access_token"]).json()) == {"sub"}
    assert provider.introspect(client, limited["access_token"])["scope"] == narrow
    assert identify(ports, visit(limited["access_token"])).actor.permissions == {ORDERS}
    full = provider.refresh(client, limited["refresh_token"]).json()
    assert set(full["scope"].split()) == set(everything.split())
    for token in (granted["access_token"], full["access_token"]):
        assert identify(ports, visit(token)).actor.permissions == {ORDERS, USERS}
    # Without openid there are no claims, and no ID token.
    last = provider.refresh(client, full["refresh_token"], scope="offline_access").json()
    assert "id_token" not in last
    assert provider.userinfo(last["access_token"]).status_code == 403


def test_closed_storefront_refuses_tokens_of_customers(
    ports: Ports, provider: Provider, own: Registered
) -> None:
    provider.pages.sign_in(make_user(ports), SessionOrigin.OIDC)
    tokens = provider.exchange(own, provider.code(own, scope="openid offline_access")).json()
    code = provider.code(own)
    close_storefront(ports)
    for answer in (provider.exchange(own, code), provider.refresh(own, tokens["refresh_token"])):
        assert (answer.status_code, answer.json()["error"]) == (403, "temporarily_unavailable")
    assert provider.userinfo(tokens["access_token"]).status_code == 401


def test_userinfo_of_a_grant_that_ends_meanwhile_is_refused(ports: Ports) -> None:
    """Between finding the caller and reading the claims; control: one that lasts."""
    client = make_client(ports, "Storefront", is_first_party=True)
    user = make_user(ports)

    class Ending(FakeActivity):
        record: type[models.Session | models.User] | None = None

        @override
        def record_session_use(self, session_id: int) -> None:
            super().record_session_use(session_id)
            if self.record is not None:
                key = session_id if self.record is models.Session else user
                with ports.database.transaction() as session:
                    session.execute(delete(self.record).where(self.record.id == key))

    ending = Ending()
    with provider_of(replace(ports, activity=ending)) as provider:
        for record, status in ((None, 200), (models.Session, 401), (models.User, 401)):
            token = grant(ports, client.client, user).access_token
            ending.record = record
            answer = provider.userinfo(token)
            assert answer.status_code == status, record
            if status == 401:
                assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
                assert answer.json()["error"] == "invalid_token"
