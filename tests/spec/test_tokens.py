"""Contract, part 1: "Access and refresh tokens: JWT, RS256", and "Sessions" of part 2."""

import base64
import re
from typing import Any

import jwt
import pytest

from app.domain.authorization.permissions import Permission
from tests.builders.people import PASSWORD
from tests.spec.client import Client
from tests.spec.documents import LOGIN, ME, REFRESH
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

CLAIMS = {
    "iat": int,
    "exp": int,
    "owner": str,
    "iss": str,
    "token": str,
    "email": str,
    "type": str,
    "user_id": str,
    "is_staff": bool,
}
WITHIN_SECONDS = 60
"""What the clock of the test and that of the server may differ by on a slow machine."""


def _log_in(client: Client, name: str = "customer") -> tuple[str, str]:
    response = client.run(LOGIN, email=f"{name}@example.com", password=PASSWORD)
    payload = response.data["tokenCreate"]
    assert payload["errors"] == []
    return payload["token"], payload["refreshToken"]


def _refreshed(client: Client, refresh: str) -> str:
    token: str = client.run(REFRESH, token=refresh).data["tokenRefresh"]["token"]
    return token


def _verified(client: Client, token: str) -> dict[str, Any]:
    """The claims, as anybody reads them who has the key set."""
    kid = jwt.get_unverified_header(token)["kid"]
    (key,) = [key for key in client.key_set() if key["kid"] == kid]
    claims: dict[str, Any] = jwt.decode(token, jwt.PyJWK(key), algorithms=["RS256"])
    return claims


@pytest.mark.parametrize("name", ["customer", "manager"])
def test_claims_are_those_of_the_table_for_customers_and_staff_alike(
    client: Client, name: str
) -> None:
    access, refresh = _log_in(client, name)
    for token in (access, _refreshed(client, refresh)):
        claims = _verified(client, token)
        assert {claim: type(value) for claim, value in claims.items()} == CLAIMS
    claims = _verified(client, refresh)
    assert {claim: type(value) for claim, value in claims.items()} == CLAIMS | {"csrf_token": str}


def test_header_names_the_algorithm_the_type_and_a_key_of_the_key_set(client: Client) -> None:
    for token in _log_in(client):
        header = jwt.get_unverified_header(token)
        assert header.keys() == {"alg", "typ", "kid"}
        assert (header["alg"], header["typ"]) == ("RS256", "JWT")
        assert header["kid"] in client.kids()


def test_access_tokens_live_five_minutes_and_refresh_tokens_thirty_days(
    client: Client, shop: RecordedShop
) -> None:
    before = shop.ports.clock.timestamp()
    tokens = _log_in(client)
    after = shop.ports.clock.timestamp()
    for token, lifetime in zip(tokens, (300, 30 * 24 * 3600), strict=True):
        claims = _verified(client, token)
        assert claims["exp"] - claims["iat"] == lifetime
        assert before - WITHIN_SECONDS < claims["iat"] < after + WITHIN_SECONDS


def test_issuer_is_the_exact_request_url(client: Client) -> None:
    assert _verified(client, _log_in(client)[0])["iss"] == f"{client.server.url}/graphql/"


def test_owner_is_the_one_that_existing_clients_refresh(client: Client) -> None:
    access, refresh = _log_in(client)
    for token in (access, refresh, _refreshed(client, refresh)):
        assert _verified(client, token)["owner"] == "saleor"


def test_type_claim_separates_access_and_refresh(client: Client) -> None:
    assert [_verified(client, token)["type"] for token in _log_in(client)] == ["access", "refresh"]


def test_user_is_named_by_email_and_by_an_opaque_id(client: Client, shop: RecordedShop) -> None:
    claims = _verified(client, _log_in(client)[0])
    assert claims["email"] == "customer@example.com"
    expected = f"User:{shop.people['customer']}".encode()
    assert base64.b64decode(claims["user_id"], validate=True) == expected


def test_is_staff_reflects_the_role(client: Client) -> None:
    assert _verified(client, _log_in(client, "customer")[0])["is_staff"] is False
    assert _verified(client, _log_in(client, "noperm")[0])["is_staff"] is True


def test_token_names_the_session_by_at_least_twelve_random_characters(client: Client) -> None:
    first, second = (_verified(client, _log_in(client)[0])["token"] for _ in range(2))
    assert first != second
    assert all(re.fullmatch(r"[0-9A-Za-z_-]{12,}", token) for token in (first, second))


def test_all_tokens_of_one_login_name_the_same_session(client: Client) -> None:
    access, refresh = _log_in(client)
    tokens = (access, refresh, _refreshed(client, refresh))
    assert len({_verified(client, token)["token"] for token in tokens}) == 1


def test_no_permission_is_ever_embedded(client: Client) -> None:
    for token in _log_in(client, "manager"):
        assert "MANAGE" not in str(_verified(client, token))


def test_permissions_are_resolved_on_every_request(client: Client, shop: RecordedShop) -> None:
    access, _ = _log_in(client, "manager")
    before = client.run(ME, access).data["me"]["userPermissions"]
    assert [permission["code"] for permission in before] == [
        "MANAGE_APPS",
        "MANAGE_PRODUCTS",
        "MANAGE_SETTINGS",
    ]
    shop.take_from_groups(Permission.MANAGE_APPS)
    after = client.run(ME, access).data["me"]["userPermissions"]
    assert [permission["code"] for permission in after] == ["MANAGE_PRODUCTS", "MANAGE_SETTINGS"]


def test_permissions_come_from_groups_and_from_direct_grants(
    client: Client, shop: RecordedShop
) -> None:
    shop.grant("manager", Permission.MANAGE_PAGES)
    permissions = client.run(ME, shop.access("manager")).data["me"]["userPermissions"]
    assert {"code": "MANAGE_PAGES", "name": "Manage pages"} in permissions
    assert len(permissions) == 4


def test_token_of_an_ended_session_is_rejected(client: Client, shop: RecordedShop) -> None:
    access, refresh = _log_in(client)
    shop.end_sessions("customer")
    assert client.run(ME, access).code == "InvalidTokenError"
    (error,) = client.run(REFRESH, token=refresh).data["tokenRefresh"]["errors"]
    assert (error["field"], error["code"]) == (None, "JWT_INVALID_TOKEN")


def test_token_of_an_inactive_user_is_rejected(client: Client, shop: RecordedShop) -> None:
    access, refresh = _log_in(client)
    shop.deactivate("customer")
    assert client.run(ME, access).code == "InvalidTokenError"
    (error,) = client.run(REFRESH, token=refresh).data["tokenRefresh"]["errors"]
    assert (error["field"], error["code"]) == (None, "JWT_INVALID_TOKEN")
