"""Contract, "Password login mode" of part 1 and "Modes, precisely" of part 2."""

from itertools import product

import pytest

from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from tests.builders.people import PASSWORD
from tests.spec.client import Answer, Client
from tests.spec.documents import (
    DEACTIVATE_ALL,
    LOGIN,
    ME,
    ME_QUERY,
    REFRESH,
    SHOP,
    UPDATE_SHOP,
    VERIFY,
)
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
OIDC = SessionOrigin.OIDC
NEEDS_A_PERMISSION = "{ shop { defaultMailSenderName } }"
RESTRICTED = (CUSTOMERS_ONLY, DISABLED)


def _set(client: Client, token: str, mode: PasswordLoginMode, **more: object) -> Answer:
    return client.run(UPDATE_SHOP, token, input={"passwordLoginMode": mode, **more})


def _log_in(client: Client, name: str) -> dict[str, object]:
    variables = {"email": f"{name}@example.com", "password": PASSWORD}
    payload: dict[str, object] = client.run(LOGIN, **variables).data["tokenCreate"]
    return payload


def test_mode_is_enabled_by_default(client: Client) -> None:
    assert client.run(SHOP).data["shop"]["passwordLoginMode"] == "ENABLED"


@pytest.mark.parametrize(("before", "after"), list(product(PasswordLoginMode, repeat=2)))
def test_caller_authenticated_by_oidc_sets_any_mode_from_any_mode(
    client: Client, shop: RecordedShop, before: PasswordLoginMode, after: PasswordLoginMode
) -> None:
    token = shop.sign_in("manager", OIDC).access
    shop.set_switches(before)
    payload = _set(client, token, after).data["shopSettingsUpdate"]
    assert (payload["shop"]["passwordLoginMode"], payload["errors"]) == (after, [])
    assert client.run(SHOP).data["shop"]["passwordLoginMode"] == after


@pytest.mark.parametrize("mode", RESTRICTED)
@pytest.mark.parametrize("name", ["manager", "staff"])
def test_a_password_session_cannot_restrict_password_login(
    client: Client, shop: RecordedShop, name: str, mode: PasswordLoginMode
) -> None:
    payload = _set(client, shop.access(name), mode).data["shopSettingsUpdate"]
    assert payload["shop"] is None
    (error,) = payload["errors"]
    assert (error["field"], error["code"]) == ("passwordLoginMode", "PASSWORD_AUTH_RESTRICTION")
    assert client.run(SHOP).data["shop"]["passwordLoginMode"] == "ENABLED"


def test_a_refused_mode_leaves_every_other_field_of_the_input_unchanged(
    client: Client, shop: RecordedShop
) -> None:
    before = client.run(SHOP).data
    more = {"name": "Another name", "allowStorefrontTraffic": False}
    _set(client, shop.access("manager"), DISABLED, **more)
    assert client.run(SHOP).data == before


def test_password_session_can_set_enabled(client: Client, shop: RecordedShop) -> None:
    payload = _set(client, shop.access("manager"), ENABLED).data["shopSettingsUpdate"]
    assert payload["errors"] == []


@pytest.mark.parametrize("mode", RESTRICTED)
def test_app_with_manage_settings_cannot_restrict_password_login(
    client: Client, shop: RecordedShop, mode: PasswordLoginMode
) -> None:
    payload = _set(client, shop.app_token("SETTINGS"), mode).data["shopSettingsUpdate"]
    assert payload["shop"] is None
    (error,) = payload["errors"]
    assert (error["field"], error["code"]) == ("passwordLoginMode", "PASSWORD_AUTH_RESTRICTION")
    assert client.run(SHOP).data["shop"]["passwordLoginMode"] == "ENABLED"


@pytest.mark.parametrize("mode", PasswordLoginMode)
def test_app_with_manage_settings_can_set_enabled(
    client: Client, shop: RecordedShop, mode: PasswordLoginMode
) -> None:
    shop.set_switches(mode)
    payload = _set(client, shop.app_token("SETTINGS"), ENABLED).data["shopSettingsUpdate"]
    assert (payload["shop"]["passwordLoginMode"], payload["errors"]) == ("ENABLED", [])


@pytest.mark.parametrize("mode", PasswordLoginMode)
def test_setting_the_mode_needs_manage_settings(
    client: Client, shop: RecordedShop, mode: PasswordLoginMode
) -> None:
    credentials = [None, shop.access("customer"), shop.app_token("PRODUCTS")]
    credentials += [shop.access("noperm"), shop.sign_in("noperm", OIDC).access]
    for credential in credentials:
        response = client.run(UPDATE_SHOP, credential, input={"passwordLoginMode": mode})
        assert response.body["data"] == {"shopSettingsUpdate": None}
        assert response.code == "PermissionDenied"
    assert client.run(SHOP).data["shop"]["passwordLoginMode"] == "ENABLED"


def test_in_customers_only_customers_sign_in_as_usual(client: Client, shop: RecordedShop) -> None:
    shop.set_switches(CUSTOMERS_ONLY)
    payload = _log_in(client, "customer")
    assert (
        client.run(ME_QUERY, str(payload["token"])).data["me"]["email"] == "customer@example.com"
    )
    refreshed = client.run(REFRESH, token=payload["refreshToken"]).data["tokenRefresh"]
    assert refreshed["errors"] == []


@pytest.mark.parametrize("name", ["manager", "staff"])
def test_in_customers_only_staff_log_in_and_refresh_by_password_without_any_permission(
    client: Client, shop: RecordedShop, name: str
) -> None:
    shop.set_switches(CUSTOMERS_ONLY)
    payload = _log_in(client, name)
    refreshed = client.run(REFRESH, token=payload["refreshToken"]).data["tokenRefresh"]
    assert refreshed["errors"] == []
    for token in (str(payload["token"]), refreshed["token"]):
        assert client.run(NEEDS_A_PERMISSION, token).code == "PermissionDenied"
        assert _set(client, token, ENABLED).code == "PermissionDenied"
        assert client.run(ME, token).data["me"]["userPermissions"] == []


@pytest.mark.parametrize("name", ["manager", "staff"])
def test_customers_only_holds_for_tokens_from_before_and_for_superusers(
    client: Client, shop: RecordedShop, name: str
) -> None:
    token = shop.access(name)
    assert client.run(NEEDS_A_PERMISSION, token).data
    shop.set_switches(CUSTOMERS_ONLY)
    assert client.run(NEEDS_A_PERMISSION, token).code == "PermissionDenied"
    shop.set_switches(ENABLED)
    assert client.run(NEEDS_A_PERMISSION, token).data


def test_in_customers_only_a_staff_password_session_has_a_customers_rights(
    client: Client, shop: RecordedShop
) -> None:
    token = shop.access("manager")
    shop.set_switches(CUSTOMERS_ONLY)
    me = client.run(ME, token).data["me"]
    assert (me["isStaff"], me["userPermissions"]) == (False, [])
    assert me["permissionGroups"] == [{"name": "Peer managers"}]


def test_customers_only_responses_show_effective_permissions(
    client: Client, shop: RecordedShop
) -> None:
    session = shop.session("manager")
    shop.set_switches(CUSTOMERS_ONLY)
    shown = "{ user { isStaff userPermissions { code } } }"
    create = 'tokenCreate(email: "manager@example.com", password: $value)'
    for field, value in (
        (create, PASSWORD),
        ("tokenRefresh(refreshToken: $value)", session.refresh),
        ("tokenVerify(token: $value)", session.access),
    ):
        query = f"mutation($value: String!) {{ answer: {field} {shown} }}"
        response = client.run(query, value=value).data["answer"]
        assert response["user"] == {"isStaff": False, "userPermissions": []}


@pytest.mark.parametrize("mode", RESTRICTED)
def test_staff_signed_in_through_oidc_keep_their_rights(
    client: Client, shop: RecordedShop, mode: PasswordLoginMode
) -> None:
    session = shop.sign_in("manager", OIDC)
    shop.set_switches(mode)
    assert client.run(NEEDS_A_PERMISSION, session.access).data
    me = client.run(ME, session.access).data["me"]
    assert (me["isStaff"], len(me["userPermissions"])) == (True, 3)


def test_refreshing_never_changes_how_a_session_began(client: Client, shop: RecordedShop) -> None:
    by_oidc, by_password = shop.sign_in("manager", OIDC), shop.sign_in("manager")
    tokens = [
        client.run(REFRESH, token=session.refresh).data["tokenRefresh"]["token"]
        for session in (by_oidc, by_password)
    ]
    shop.set_switches(CUSTOMERS_ONLY)
    assert client.run(NEEDS_A_PERMISSION, tokens[0]).data
    assert client.run(NEEDS_A_PERMISSION, tokens[1]).code == "PermissionDenied"


@pytest.mark.parametrize("origin", [SessionOrigin.PASSWORD, OIDC])
@pytest.mark.parametrize("name", ["customer", "manager", "staff"])
def test_disabled_blocks_customers_and_staff_at_token_create_and_token_refresh(
    client: Client, shop: RecordedShop, name: str, origin: SessionOrigin
) -> None:
    refresh = shop.sign_in(name, origin).refresh
    shop.set_switches(DISABLED)
    refused = _log_in(client, name), client.run(REFRESH, token=refresh).data["tokenRefresh"]
    for payload in refused:
        assert payload["token"] is None
        assert isinstance(payload["errors"], list)
        (error,) = payload["errors"]
        assert error["code"] == "DISABLED_AUTHENTICATION_METHOD"


def test_disabled_mode_is_checked_before_the_password(client: Client, shop: RecordedShop) -> None:
    shop.set_switches(DISABLED)
    for password in ("wrong", PASSWORD):
        response = client.run(LOGIN, email="nobody@example.com", password=password)
        (error,) = response.data["tokenCreate"]["errors"]
        assert error["code"] == "DISABLED_AUTHENTICATION_METHOD"


def test_open_password_sessions_are_rejected_while_disabled(
    client: Client, shop: RecordedShop
) -> None:
    for name in ("customer", "manager", "staff"):
        token = shop.access(name)
        shop.set_switches(DISABLED)
        for query in (ME_QUERY, DEACTIVATE_ALL):
            assert client.run(query, token).code == "InvalidTokenError"
        assert client.run(VERIFY, token=token).data["tokenVerify"]["isValid"] is True
        shop.set_switches(ENABLED)
        assert client.run(ME_QUERY, token).data["me"]["email"] == f"{name}@example.com"


def test_oidc_sessions_and_apps_work_in_disabled(client: Client, shop: RecordedShop) -> None:
    session = shop.sign_in("customer", OIDC)
    shop.set_switches(DISABLED)
    assert client.run(ME_QUERY, session.access).data["me"]["email"] == "customer@example.com"
    assert client.run(NEEDS_A_PERMISSION, shop.app_token("SETTINGS")).data
