"""Contract, part 1: "Operations", and "`tokenCreate` and friends: codes" of part 2."""

import pytest

from app import models
from tests.builders.people import PASSWORD
from tests.spec.client import Client
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
from tests.spec.forged_tokens import Forger, broken_signature
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

INVALID_CREDENTIALS = ("email", "INVALID_CREDENTIALS")


def _log_in(client: Client, email: str, password: str = PASSWORD) -> dict[str, object]:
    payload: dict[str, object] = client.run(LOGIN, email=email, password=password).data[
        "tokenCreate"
    ]
    return payload


def _code(payload: dict[str, object]) -> tuple[str | None, str]:
    """Field and code of the one error of a mutation."""
    errors = payload["errors"]
    assert isinstance(errors, list)
    (error,) = errors
    return error["field"], error["code"]


def test_token_create_has_the_same_response_for_customers_and_staff(client: Client) -> None:
    for name in ("customer", "noperm", "manager", "staff"):
        payload = _log_in(client, f"{name}@example.com")
        assert payload.keys() == {"token", "refreshToken", "errors"}
        assert payload["errors"] == []
        assert (
            client.run(ME_QUERY, str(payload["token"])).data["me"]["email"]
            == f"{name}@example.com"
        )


def test_email_is_the_same_in_any_case(client: Client) -> None:
    assert _log_in(client, "Customer@Example.COM")["errors"] == []


@pytest.mark.parametrize(
    ("email", "password"),
    [
        ("customer@example.com", "not the password"),
        ("nobody@example.com", PASSWORD),
        ("sso@example.com", PASSWORD),
        ("customer@example.com", ""),
        ("customer@example.com", PASSWORD.upper()),
        ("customer@example.com", f" {PASSWORD}"),
        ("inactive@example.com", "not the password"),
        ("", ""),
        ("no address", PASSWORD),
    ],
)
def test_wrong_password_unknown_email_and_no_password_get_the_same_refusal(
    client: Client, email: str, password: str
) -> None:
    wrong = _log_in(Client(client.server, client.http), "customer@example.com", "wrong")
    payload = _log_in(client, email, password)
    assert payload == wrong
    assert _code(payload) == INVALID_CREDENTIALS
    assert payload["token"] is None
    assert payload["refreshToken"] is None


def test_right_password_of_an_inactive_user_is_reported(client: Client) -> None:
    assert _code(_log_in(client, "inactive@example.com")) == ("email", "INACTIVE")


def test_right_password_of_an_unconfirmed_user_is_reported(
    client: Client, shop: RecordedShop
) -> None:
    with shop.ports.database.transaction() as session:
        session.get_one(models.User, shop.people["customer"]).is_confirmed = False
    payload = _log_in(client, "customer@example.com")
    assert _code(payload) == ("email", "ACCOUNT_NOT_CONFIRMED")


@pytest.mark.parametrize("missing", ["email", "password"])
def test_missing_argument_is_a_field_error(client: Client, missing: str) -> None:
    input_ = {"email": "customer@example.com", "password": PASSWORD, missing: None}
    query = (
        "mutation ($email: String, $password: String) {"
        " tokenCreate(email: $email, password: $password) { token errors { field code } } }"
    )
    assert _code(client.run(query, **input_).data["tokenCreate"]) == (missing, "REQUIRED")


def test_token_refresh_returns_only_an_access_token_each_time(
    client: Client, shop: RecordedShop
) -> None:
    refresh = shop.refresh("customer")
    for _ in range(3):
        payload = client.run(REFRESH, token=refresh).data["tokenRefresh"]
        assert payload["errors"] == []
        assert client.run(ME_QUERY, payload["token"]).data["me"]["email"] == "customer@example.com"
    query = f'mutation {{ tokenRefresh(refreshToken: "{refresh}") {{ refreshToken }} }}'
    assert client.run(query).data["tokenRefresh"] == {"refreshToken": None}


def test_access_token_outlives_no_refresh(client: Client, shop: RecordedShop) -> None:
    before = shop.access("customer")
    assert client.run(REFRESH, token=shop.refresh("customer")).data["tokenRefresh"]["token"]
    assert client.run(ME_QUERY, before).data["me"]["email"] == "customer@example.com"


def test_token_refresh_without_a_token_reports_it_as_missing(client: Client) -> None:
    for query in (
        "mutation { tokenRefresh { token errors { field code } } }",
        "mutation { tokenRefresh(refreshToken: null) { token errors { field code } } }",
    ):
        payload = client.run(query).data["tokenRefresh"]
        assert _code(payload) == ("refreshToken", "JWT_MISSING_TOKEN")
        assert payload["token"] is None


def test_token_refresh_reports_the_token_error(client: Client, shop: RecordedShop) -> None:
    forger = Forger(shop)
    for token, expected in (
        (forger.expired_refresh(), ("refreshToken", "JWT_SIGNATURE_EXPIRED")),
        ("", ("refreshToken", "JWT_DECODE_ERROR")),
        ("garbage", ("refreshToken", "JWT_DECODE_ERROR")),
        (shop.access("customer"), ("refreshToken", "JWT_INVALID_TOKEN")),
        (shop.app_token("PRODUCTS"), ("refreshToken", "JWT_DECODE_ERROR")),
        (forger.make("inactive_refresh"), (None, "JWT_INVALID_TOKEN")),
    ):
        payload = client.run(REFRESH, token=token).data["tokenRefresh"]
        assert (_code(payload), payload["token"]) == (expected, None)


def test_token_verify_reports_whether_a_token_is_valid(client: Client, shop: RecordedShop) -> None:
    for token in (shop.access("customer"), shop.refresh("customer")):
        assert client.run(VERIFY, token=token).data == {
            "tokenVerify": {"isValid": True, "errors": []}
        }


def test_token_verify_reports_the_token_error(client: Client, shop: RecordedShop) -> None:
    forger = Forger(shop)
    for token, code in (
        (forger.expired(), "JWT_SIGNATURE_EXPIRED"),
        ("garbage", "JWT_DECODE_ERROR"),
        (broken_signature(shop.access("customer")), "JWT_DECODE_ERROR"),
        (forger.make("wrongsig"), "JWT_DECODE_ERROR"),
        (forger.make("inactive"), "JWT_INVALID_TOKEN"),
        (forger.make("foreign_owner"), "JWT_INVALID_TOKEN"),
        (forger.make("iat_future"), "JWT_INVALID_TOKEN"),
        (
            forger.sign(forger.claims(iss="https://elsewhere.example/graphql/")),
            "JWT_INVALID_TOKEN",
        ),
    ):
        payload = client.run(VERIFY, token=token).data["tokenVerify"]
        assert (payload["isValid"], _code(payload)) == (False, ("token", code))


def test_token_verify_returns_user_and_payload(client: Client, shop: RecordedShop) -> None:
    query = "mutation($t: String!) { tokenVerify(token: $t) { user { email } payload } }"
    verified = client.run(query, t=shop.access("manager")).data["tokenVerify"]
    assert verified["user"] == {"email": "manager@example.com"}
    assert verified["payload"]["email"] == "manager@example.com"
    assert verified["payload"]["type"] == "access"


def test_tokens_deactivate_all_ends_every_token_of_the_user(
    client: Client, shop: RecordedShop
) -> None:
    sessions = [shop.sign_in("customer") for _ in range(2)]
    other = shop.session("customer2")
    payload = client.run(DEACTIVATE_ALL, sessions[0].access).data["tokensDeactivateAll"]
    assert payload == {"errors": []}
    for session in sessions:
        assert client.run(ME_QUERY, session.access).code == "InvalidTokenError"
        refused = client.run(REFRESH, token=session.refresh).data["tokenRefresh"]
        assert _code(refused) == (None, "JWT_INVALID_TOKEN")
        for token in (session.access, session.refresh):
            verified = client.run(VERIFY, token=token).data["tokenVerify"]
            assert _code(verified) == ("token", "JWT_INVALID_TOKEN")
    assert client.run(ME_QUERY, other.access).data["me"]["email"] == "customer2@example.com"


def test_sign_in_works_after_signing_out_everywhere(client: Client, shop: RecordedShop) -> None:
    client.run(DEACTIVATE_ALL, shop.access("customer"))
    token = str(_log_in(client, "customer@example.com")["token"])
    assert client.run(ME_QUERY, token).data["me"]["email"] == "customer@example.com"


def test_me_returns_the_caller(client: Client, shop: RecordedShop) -> None:
    me = client.run(ME, shop.access("manager")).data["me"]
    identifier = me.pop("id")
    assert identifier
    assert me == {
        "email": "manager@example.com",
        "firstName": "Mana",
        "lastName": "Ger",
        "isStaff": True,
        "avatar": None,
        "userPermissions": [
            {"code": "MANAGE_APPS", "name": "Manage apps"},
            {"code": "MANAGE_PRODUCTS", "name": "Manage products"},
            {"code": "MANAGE_SETTINGS", "name": "Manage settings"},
        ],
        "permissionGroups": [{"name": "Peer managers"}],
    }


def test_shop_settings_update_changes_only_given_fields(
    client: Client, shop: RecordedShop
) -> None:
    token = shop.access("manager")
    name = client.run(SHOP).data["shop"]["name"]
    for input_, expected in (
        ({}, {"passwordLoginMode": "ENABLED", "allowStorefrontTraffic": True}),
        (
            {"allowStorefrontTraffic": False},
            {"passwordLoginMode": "ENABLED", "allowStorefrontTraffic": False},
        ),
        (
            {"passwordLoginMode": "ENABLED", "allowStorefrontTraffic": True},
            {"passwordLoginMode": "ENABLED", "allowStorefrontTraffic": True},
        ),
    ):
        payload = client.run(UPDATE_SHOP, token, input=input_).data["shopSettingsUpdate"]
        assert payload == {"shop": {"name": name, **expected}, "errors": []}


@pytest.mark.parametrize(
    ("switch", "code"), [("passwordLoginMode", "REQUIRED"), ("allowStorefrontTraffic", "INVALID")]
)
def test_null_for_a_switch_is_an_error_on_it_and_changes_nothing(
    client: Client, shop: RecordedShop, switch: str, code: str
) -> None:
    input_ = {"name": "Another name", switch: None}
    payload = client.run(UPDATE_SHOP, shop.access("manager"), input=input_).data
    assert payload["shopSettingsUpdate"]["shop"] is None
    assert _code(payload["shopSettingsUpdate"]) == (switch, code)
    assert client.run(SHOP).data["shop"]["name"] != "Another name"


def test_shop_settings_update_without_an_input_changes_nothing(
    client: Client, shop: RecordedShop
) -> None:
    query = "mutation { shopSettingsUpdate { shop { passwordLoginMode } errors { code } } }"
    assert client.run(query, shop.access("manager")).data["shopSettingsUpdate"] == {
        "shop": {"passwordLoginMode": "ENABLED"},
        "errors": [],
    }
