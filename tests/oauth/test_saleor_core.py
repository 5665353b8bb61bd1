"""What a Saleor core makes of our access tokens, step by step as its code does it.

``saleor/core/auth_backend.py`` first takes tokens whose ``owner`` is Saleor's for its own, then
asks ``saleor/plugins/openid_connect``: the key set, the user info, then the scopes.
"""

from collections.abc import Iterator
from typing import Any

import jwt
import pytest

from app.domain.authorization.permissions import Permission
from app.domain.oauth import DEFAULT_SCOPES
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.oauth import Registered, make_client
from tests.builders.people import make_user, sign_in, visit
from tests.oauth.pages import BASE, Provider, provider_of

ORDERS, PRODUCTS = Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def provider(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


def is_its_own(token: str) -> bool:
    """``is_saleor_token``: such a token must have Saleor's signature, or the request fails."""
    return bool(jwt.decode(token, options={"verify_signature": False}).get("owner") == "saleor")


def claims_of(provider: Provider, token: str) -> Any:
    """``decode_access_token``: by the key set, without looking at issuer or audience."""
    keys = jwt.PyJWKSet.from_dict(provider.get("/.well-known/jwks.json").json())
    unchecked = {"verify_exp": False, "verify_iat": False, "verify_aud": False}
    key = keys[jwt.get_unverified_header(token)["kid"]]
    return jwt.decode(token, key, ["RS256"], options=unchecked)  # type: ignore[arg-type]


def rights(claims: Any, audience: str) -> list[str]:
    """The permissions by scope, for a configured audience that is in the token alone."""
    if audience not in claims["aud"]:
        return []
    return [scope for scope in claims["scope"].lower().split() if ":" in scope]


def test_core_lets_the_plugin_judge_tokens_of_clients(ports: Ports, provider: Provider) -> None:
    user = make_user(ports, first_name="Ann")
    shop = make_client(ports, "Storefront", is_first_party=True, scopes=DEFAULT_SCOPES)
    provider.pages.sign_in(user)
    token = provider.exchange(shop, provider.code(shop)).json()["access_token"]
    assert not is_its_own(token)
    assert claims_of(provider, token)["scope"] == "openid profile email"
    told = provider.userinfo(token).json()
    assert (told["email"], told["given_name"]) == ("customer@example.com", "Ann")
    assert told["sub"]
    # The same token works at this API, so a storefront needs no other.
    assert identify(ports, visit(token)).actor.user_id == user
    # A token of this shop's own forms is taken for Saleor's own, and fails there.
    assert is_its_own(sign_in(ports, user).access)


def test_scopes_for_the_core_are_rights_that_the_person_has(
    ports: Ports, provider: Provider
) -> None:
    scopes = DEFAULT_SCOPES | {"staff", ORDERS.value, PRODUCTS.value}

    def token_of(email: str, client: Registered, **person: Any) -> Any:
        provider.pages.sign_in(make_user(ports, email, **person))
        asked = "openid profile email staff latchkey:manage_orders latchkey:manage_products"
        code = provider.code(client, scope=asked)
        return claims_of(provider, provider.exchange(client, code).json()["access_token"])

    client, other = (
        make_client(ports, name, is_first_party=True, scopes=scopes) for name in ("Core", "Board")
    )
    audience = f"{BASE}/oauth/clients/{client.id}"
    staff = {"is_staff": True, "permissions": [ORDERS]}
    held = token_of("a@x.org", client, **staff)
    assert rights(held, audience) == ["latchkey:manage_orders"]
    assert "staff" in held["scope"].split()
    customer = token_of("b@x.org", client)
    assert customer["scope"] == "openid profile email"
    # What another client was granted is not for this audience.
    assert rights(token_of("c@x.org", other, **staff), audience) == []
