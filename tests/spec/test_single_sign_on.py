"""Single sign-on, both modes, against a real identity provider: contract, "Single sign-on"."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.services.apps.app_tokens import NewClientLink, link_app_client, unlink_app_client
from app.services.single_sign_on.provider_checks import discover_provider
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import make_app
from tests.servers.provider import CALLBACK, RESOURCE, IdentityProvider, Visitor, identity_provider
from tests.spec.client import Client
from tests.spec.documents import DEACTIVATE_ALL, ME_QUERY, REFRESH, UPDATE_SHOP
from tests.spec.recorded_shop import RecordedShop
from tests.spec.server import OWNER
from tests.spec.single_sign_on import BEGIN, OBTAIN

pytestmark = pytest.mark.xdist_group("provider")

PLUGIN = f"{OWNER}.authentication.openidconnect"
EXTERNAL_REFRESH = """
mutation ($id: String, $input: JSONString) {
  externalRefresh(pluginId: $id, input: $input) {
    token refreshToken accountErrors { field message code }
  }
}"""
EXTERNAL_VERIFY = """
mutation ($id: String, $input: JSONString) {
  externalVerify(pluginId: $id, input: $input) {
    isValid user { userPermissions { code name } }
  }
}"""
EXTERNAL_LOGOUT = """
mutation ($id: String, $input: JSONString) {
  externalLogout(pluginId: $id, input: $input) {
    logoutData accountErrors { field message code }
  }
}"""
RIGHTS = "{ me { email isStaff userPermissions { code } } }"


@pytest.fixture(scope="session")
def real_provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IdentityProvider]:
    log = tmp_path_factory.mktemp("provider") / "provider.log"
    with identity_provider(Path(log), OWNER) as running:
        yield running


def _set_up(
    shop: RecordedShop, provider: IdentityProvider, client: str, **more: str | None
) -> None:
    """Set the provider up as an operator does: discovered, then the rest."""
    discover_provider(shop.ports, OPERATOR, "default", provider.issuer)
    settings = {"client_id": client, "client_secret": provider.secret_of(client), **more}
    save_provider(shop.ports, OPERATOR, "default", ProviderUpdate(settings, active=True))


def _run(
    client: Client, document: str, credential: str | None = None, **members: str
) -> dict[str, Any]:
    """One of the external operations with that JSON as its input."""
    response = client.run(document, credential, id=PLUGIN, input=json.dumps(members))
    (payload,) = response.data.values()
    found: dict[str, Any] = payload
    return found


def _begin(client: Client) -> str:
    begun = _run(client, BEGIN, redirectUri=CALLBACK)
    url: str = json.loads(begun["authenticationData"])["authorizationUrl"]
    return url


def _sign_in(client: Client, sub: str, visitor: Visitor | None = None) -> dict[str, Any]:
    """Through the provider's login, and in; what ``externalObtainAccessTokens`` answers."""
    back = (visitor or Visitor()).sign_in(_begin(client), sub)
    return _run(client, OBTAIN, code=back["code"], state=back["state"])


def _codes(payload: dict[str, Any]) -> list[tuple[str | None, str]]:
    return [(error["field"], error["code"]) for error in payload["accountErrors"]]


def test_code_flow_with_pkce_returns_our_tokens(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    real_provider.tell("ann", email="ann@sso.example", email_verified=True, given_name="Ann")
    _set_up(shop, real_provider, "shop")

    signed_in = _sign_in(client, "ann")

    assert signed_in["accountErrors"] == []
    assert signed_in["user"]["email"] == "ann@sso.example"
    assert client.run(ME_QUERY, signed_in["token"]).data["me"] == {"email": "ann@sso.example"}
    refreshed = client.run(REFRESH, token=signed_in["refreshToken"]).data["tokenRefresh"]
    assert refreshed["errors"] == []
    verified = _run(client, EXTERNAL_VERIFY, token=signed_in["token"])
    assert verified == {"isValid": True, "user": {"userPermissions": []}}


def test_authorization_url_follows_the_settings(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _set_up(shop, real_provider, "api", audience=RESOURCE, use_oauth_scope_permissions="true")

    parameters = {
        name: values[0] for name, values in parse_qs(urlsplit(_begin(client)).query).items()
    }

    scope = parameters["scope"].split()
    assert scope[:4] == ["openid", "profile", "email", "offline_access"]
    assert f"{OWNER}:manage_products" in scope
    assert (parameters["response_type"], parameters["code_challenge_method"]) == ("code", "S256")
    assert (parameters["redirect_uri"], parameters["audience"]) == (CALLBACK, RESOURCE)
    assert min(len(parameters[name]) for name in ("state", "nonce", "code_challenge")) >= 43


def test_session_is_refreshed_twice_while_the_provider_rotates_its_tokens(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _set_up(shop, real_provider, "shop")
    tokens = _sign_in(client, "bob")
    before = len(real_provider.refreshes())

    for _ in range(2):
        refreshed = _run(client, EXTERNAL_REFRESH, refreshToken=tokens["refreshToken"])
        assert refreshed["accountErrors"] == []
        assert refreshed["refreshToken"] != tokens["refreshToken"]
        assert client.run(ME_QUERY, refreshed["token"]).data["me"]["email"] == "bob@sso.example"
        tokens = refreshed

    # No scope is named: the one that was granted is meant.
    assert real_provider.refreshes()[before:] == [None, None]


def test_providers_error_is_answered_in_words(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _set_up(shop, real_provider, "shop")
    state = parse_qs(urlsplit(_begin(client)).query)["state"][0]
    error = {"error": "access_denied", "error_description": "No consent.", "state": state}

    (problem,) = _run(client, OBTAIN, **error)["accountErrors"]

    assert (problem["field"], problem["code"]) == ("error", "INVALID")
    assert problem["message"].startswith("The sign-in was canceled")
    assert problem["message"].endswith("(access_denied: No consent.)")
    assert _codes(_run(client, OBTAIN, **error)) == [("state", "INVALID")]


def test_state_and_a_code_work_once(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _set_up(shop, real_provider, "shop")
    back = Visitor().sign_in(_begin(client), "cleo")
    input_ = {"code": back["code"], "state": back["state"]}
    assert _run(client, OBTAIN, **input_)["token"]

    assert _codes(_run(client, OBTAIN, **input_)) == [("state", "INVALID")]
    other = parse_qs(urlsplit(_begin(client)).query)["state"][0]
    assert _codes(_run(client, OBTAIN, code=back["code"], state=other)) == [("code", "INVALID")]


def test_logging_out_ends_our_session_and_leads_to_the_providers_logout(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _set_up(shop, real_provider, "shop")
    visitor = Visitor()
    tokens = _sign_in(client, "dora", visitor)

    out = _run(client, EXTERNAL_LOGOUT, tokens["token"], returnTo="http://localhost:3000/bye")

    url = json.loads(out["logoutData"])["logoutUrl"]
    assert url.startswith(f"{real_provider.issuer}/session/end?returnTo=http%3A%2F%2Flocalhost")
    assert client.run(ME_QUERY, tokens["token"]).code == "InvalidTokenError"
    refused = _run(client, EXTERNAL_REFRESH, refreshToken=tokens["refreshToken"])
    assert _codes(refused) == [(None, "JWT_INVALID_TOKEN")]
    assert _sign_in(client, "erna", visitor)["user"]["email"] == "dora@sso.example"
    visitor.sign_out(url)
    assert _sign_in(client, "erna", visitor)["user"]["email"] == "erna@sso.example"


def test_logout_at_the_provider_ends_sessions(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    real_provider.send_logouts_to(f"{client.server.url}/oidc/default/backchannel-logout")
    _set_up(shop, real_provider, "shop")
    visitor = Visitor()
    ended, other = _sign_in(client, "emil", visitor), _sign_in(client, "emil")
    assert client.run(ME_QUERY, ended["token"]).data["me"]

    visitor.sign_out(f"{real_provider.issuer}/session/end?client_id=shop")

    assert client.run(ME_QUERY, ended["token"]).code == "InvalidTokenError"
    assert client.run(ME_QUERY, other["token"]).data["me"]["email"] == "emil@sso.example"


def _provider_token(client: Client, provider: IdentityProvider, sub: str, scope: str) -> str:
    """An access token that a client of the provider's got by itself: a JWT for our resource."""
    token: str = provider.token_for("api", Visitor(), sub, f"openid profile email {scope}")
    return token


def _takes_scoped_tokens(shop: RecordedShop, provider: IdentityProvider) -> None:
    _set_up(
        shop,
        provider,
        "api",
        audience=RESOURCE,
        use_oauth_scope_permissions="true",
        user_info_url=provider.user_info_url,
    )


def test_provider_access_token_has_the_granted_permissions(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _takes_scoped_tokens(shop, real_provider)
    scope = f"{OWNER}:manage_products"
    token = _provider_token(client, real_provider, "fred", scope)

    assert client.run(RIGHTS, token).data["me"] == {
        "email": "fred@sso.example",
        "isStaff": True,
        "userPermissions": [{"code": "MANAGE_PRODUCTS"}],
    }
    none = _provider_token(client, real_provider, "fred", "")
    assert client.run(RIGHTS, none).data["me"]["isStaff"] is False


def test_linked_client_acts_as_its_app_and_no_client_as_a_person(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _takes_scoped_tokens(shop, real_provider)
    app_id, _ = make_app(shop.ports, "Robot", Permission.MANAGE_PRODUCTS)
    token = real_provider.token_of("robot", "openid")
    assert client.run(ME_QUERY, token).code == "InvalidTokenError"

    subject = jwt.decode(token, options={"verify_signature": False})["sub"]
    link = NewClientLink("default", "robot", subject)
    linked = link_app_client(shop.ports, OPERATOR, app_id, link)

    document = "{ app { name permissions { code } } me { id } }"
    seen = {"app": {"name": "Robot", "permissions": [{"code": "MANAGE_PRODUCTS"}]}, "me": None}
    assert client.run(document, token).data == seen
    assert client.run(document, real_provider.token_of("robot")).data == seen
    person = _provider_token(client, real_provider, "rita", "")
    assert client.run(ME_QUERY, person).data["me"]["email"] == "rita@sso.example"

    unlink_app_client(shop.ports, OPERATOR, linked.id)
    assert client.run(ME_QUERY, token).code == "InvalidTokenError"
    with shop.ports.database.reading() as session:
        subjects = session.scalars(select(models.ExternalIdentity.subject)).all()
    assert subject not in subjects


def test_token_for_another_audience_is_rejected(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _takes_scoped_tokens(shop, real_provider)
    token = _provider_token(client, real_provider, "gus", "")
    assert client.run(ME_QUERY, token).data["me"]
    settings = {"audience": "https://another.example/api"}
    save_provider(shop.ports, OPERATOR, "default", ProviderUpdate(settings))

    assert client.run(ME_QUERY, token).code == "InvalidTokenError"


def test_signing_out_everywhere_ends_provider_tokens(
    client: Client, shop: RecordedShop, real_provider: IdentityProvider
) -> None:
    _takes_scoped_tokens(shop, real_provider)
    theirs = _provider_token(client, real_provider, "hana", "")
    ours = _sign_in(client, "hana")
    assert client.run(ME_QUERY, ours["token"]).data == client.run(ME_QUERY, theirs).data

    client.run(DEACTIVATE_ALL, theirs)

    for token in (theirs, ours["token"]):
        assert client.run(ME_QUERY, token).code == "InvalidTokenError"


@pytest.mark.parametrize("mode", list(PasswordLoginMode))
@pytest.mark.parametrize("way", ["a session of ours", "a token of theirs"])
def test_sso_session_sets_any_mode_and_keeps_its_permissions(
    client: Client,
    shop: RecordedShop,
    real_provider: IdentityProvider,
    mode: PasswordLoginMode,
    way: str,
) -> None:
    _takes_scoped_tokens(shop, real_provider)
    scope = f"{OWNER}:manage_settings"
    if way == "a session of ours":
        token = _sign_in(client, "ida")["token"]
    else:
        token = _provider_token(client, real_provider, "ida", scope)

    changed = client.run(UPDATE_SHOP, token, input={"passwordLoginMode": mode.value}).data

    assert changed["shopSettingsUpdate"]["errors"] == []
    assert shop.mode() == mode.value
    me = client.run(RIGHTS, token).data["me"]
    assert me["isStaff"] is True
    assert {"code": "MANAGE_SETTINGS"} in me["userPermissions"]
