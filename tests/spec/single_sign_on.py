"""The recorded identity provider, and the state before each exchange of the group ``oidc``."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import anonymous
from app.services.accounts.email_links import make_link
from app.services.accounts.password_changes import set_password
from tests.builders.people import PASSWORD, make_user
from tests.builders.providers import set_up
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.spec.client import Client
from tests.spec.exchanges import Exchange, recorded
from tests.spec.recorded_shop import DOMAIN, RecordedShop

PLUGIN = "mirumee.authentication.openidconnect"
LOGOUT = "http://127.0.0.1:8898/logout"
REDIRECT = "http://localhost:3000/callback"
OPAQUE = "opaque-token-1795179136"
_STAMP = "1795179136"

BEGIN = """
mutation ($id: String, $input: JSONString) {
  externalAuthenticationUrl(pluginId: $id, input: $input) {
    authenticationData accountErrors { field message code }
  }
}"""
OBTAIN = """
mutation ($id: String, $input: JSONString) {
  externalObtainAccessTokens(pluginId: $id, input: $input) {
    token refreshToken user { id email } accountErrors { field message code }
  }
}"""


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person and claims behind a token placeholder."""

    sub: str
    email: str
    claims: Mapping[str, object] = field(default_factory=dict)


_SCOPED = f"scoped{_STAMP}@sso.example"
BEARERS = {
    "new": Bearer("new", f"new{_STAMP}@sso.example"),
    "noinfo": Bearer("noinfo", "noinfo@sso.example"),
    "cust": Bearer("cust", f"link@{DOMAIN}"),
    "c2": Bearer("c2", f"c2{_STAMP}@sso.example"),
    "scope-ok": Bearer(
        "scoped", _SCOPED, {"scope": "openid saleor:manage_products saleor:manage_settings"}
    ),
    "staff-only": Bearer("scoped", _SCOPED, {"scope": "openid saleor:staff"}),
    "perm-unk": Bearer("scoped", _SCOPED, {"scope": "openid saleor:manage_nothing"}),
    "aud-bad": Bearer(
        "scoped", _SCOPED, {"aud": "https://another.example", "scope": "saleor:manage_products"}
    ),
    "su": Bearer("su", f"link-staff@{DOMAIN}", {"scope": "openid saleor:manage_products"}),
}


def token_of(provider: OwnProvider, who: str) -> str:
    """Return the access token of ``<OIDC:who>``."""
    bearer = BEARERS[who]
    token = provider.sign(provider.claims(bearer.sub, **bearer.claims), typ="at+jwt")
    if who != "noinfo":
        provider.known(token, bearer.sub, email=bearer.email, given_name="Sso")
    return token


def set_up_provider(shop: RecordedShop, provider: OwnProvider, exchange: Exchange) -> None:
    """The provider as it was set up when ``exchange`` was recorded, and whom it is about."""
    provider.known(OPAQUE, "opaque", email=f"opaque{_STAMP}@sso.example", given_name="Sso")
    if exchange.name.startswith("config_"):
        return
    rules = exchange.name.startswith(("scope_", "mode_", "traffic_"))
    set_up(
        shop.ports,
        provider,
        audience=AUDIENCE if rules else "",
        use_oauth_scope_permissions="true" if rules else "false",
        oauth_logout_url=LOGOUT,
    )
    if exchange.name.startswith("sso_link_"):
        make_user(shop.ports, f"link@{DOMAIN}")
    if exchange.name == "scope_existing_staff_without_groups":
        make_user(shop.ports, f"link-staff@{DOMAIN}", is_staff=True)


def sign_in_as_client(client: Client, provider: OwnProvider) -> str:
    """Sign in completely; return our access token."""
    input_ = json.dumps({"redirectUri": REDIRECT})
    begun = client.run(BEGIN, id=PLUGIN, input=input_).data["externalAuthenticationUrl"]
    url = json.loads(begun["authenticationData"])["authorizationUrl"]
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    email = f"client{_STAMP}@sso.example"
    claims = provider.id_claims(parameters["nonce"], "client", email=email, given_name="Cli")
    provider.grant("a code", id_token=provider.sign(claims), refresh_token="the first")
    input_ = json.dumps({"code": "a code", "state": parameters["state"]})
    obtained = client.run(OBTAIN, id=PLUGIN, input=input_).data["externalObtainAccessTokens"]
    token: str = obtained["token"]
    return token


def set_password_by_link(shop: RecordedShop) -> None:
    """What the owner of the linked account did with a link from a mail."""
    with shop.ports.database.transaction() as session:
        email = f"link@{DOMAIN}"
        user = session.scalars(select(models.User).where(models.User.email == email)).one()
        link = make_link(shop.ports, session, user, LinkPurpose.SET_PASSWORD)
    caller = anonymous(issuer=shop.issuer)
    set_password(shop.ports, caller, email=email, password=PASSWORD, token=link)


BEFORE = {
    "sso_me_second_time": ("oidc/sso_me_new_user",),
    "sso_new_user_password_login": ("oidc/sso_me_new_user",),
    "sso_me_after_tokensDeactivateAll": ("oidc/sso_me_new_user", "oidc/sso_tokensDeactivateAll"),
    "sso_link_password_login_after": ("oidc/sso_link_me_oidc_after_reset",),
    "sso_link_password_login_after_reset": ("oidc/sso_link_me_oidc_after_reset",),
    "sso_link_password_login_after_second_oidc": (
        "oidc/sso_link_me_oidc_after_reset",
        "oidc/sso_link_me_oidc_after_reset",
    ),
    "scope_staff_only": ("oidc/scope_customers_denied",),
    "scope_unknown_permission": ("oidc/traffic_false_oidc_staff",),
    "mode_DISABLED_me_oidc": ("oidc/mode_DISABLED_by_oidc_staff",),
    "mode_DISABLED_tokenCreate": ("oidc/mode_DISABLED_by_oidc_staff",),
    "traffic_false_oidc_customer": ("oidc/traffic_false_by_oidc_staff",),
    "traffic_false_oidc_staff": ("oidc/traffic_false_by_oidc_staff",),
}
"""What was played before, by the name of an exchange."""


def before(exchange: Exchange) -> list[Exchange]:
    """Return the exchanges that were recorded before ``exchange``."""
    return [recorded()[name] for name in BEFORE.get(exchange.name, ())]
