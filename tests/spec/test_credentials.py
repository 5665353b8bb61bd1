"""Contract, part 2: "Credentials, precisely", point by point."""

import pytest

from tests.spec.client import Client
from tests.spec.documents import DEACTIVATE_ALL, ME, ME_QUERY, REFRESH, UPDATE_SHOP
from tests.spec.forged_tokens import Forger, foreign_key
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

CUSTOMER = {"email": "customer@example.com"}


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "JWT", "jwt"])
def test_schemes_bearer_and_jwt_are_accepted_in_any_case(
    client: Client, shop: RecordedShop, scheme: str
) -> None:
    headers = {"Authorization": f"{scheme} {shop.access('customer')}"}
    assert client.post({"query": ME_QUERY}, headers=headers).data["me"] == CUSTOMER


@pytest.mark.parametrize("value", ["Token {}", "Basic {}", "Bearer", "{}"])
def test_other_scheme_is_not_a_credential(client: Client, shop: RecordedShop, value: str) -> None:
    headers = {"Authorization": value.format(shop.access("customer"))}
    assert client.post({"query": ME_QUERY}, headers=headers).data["me"] is None


def test_authorization_bearer_wins_over_authorization(client: Client, shop: RecordedShop) -> None:
    headers = {
        "Authorization": f"Bearer {shop.access('staff')}",
        "Authorization-Bearer": shop.access("customer"),
    }
    assert client.post({"query": ME_QUERY}, headers=headers).data["me"] == CUSTOMER
    headers["Authorization-Bearer"] = "garbage"
    assert client.post({"query": ME_QUERY}, headers=headers).code == "InvalidTokenError"


def test_refresh_token_is_not_a_credential(client: Client, shop: RecordedShop) -> None:
    assert client.run(ME_QUERY, shop.refresh("customer")).code == "InvalidTokenError"


def test_user_is_found_by_user_id_not_email(client: Client, shop: RecordedShop) -> None:
    forger = Forger(shop)
    token = forger.sign(forger.claims(email="staff@example.com", is_staff=True))
    me = client.run(ME, token).data["me"]
    assert (me["email"], me["isStaff"]) == ("customer@example.com", False)


def test_session_of_another_user_is_not_accepted(client: Client, shop: RecordedShop) -> None:
    forger = Forger(shop)
    token = forger.sign(forger.claims(user_id=forger.claims("staff")["user_id"]))
    assert client.run(ME_QUERY, token).code == "InvalidTokenError"


def test_expired_token_fails_every_root_field_and_nothing_is_executed(
    client: Client, shop: RecordedShop
) -> None:
    expired = Forger(shop).expired()
    response = client.run("{ me { email } again: me { id } }", expired)
    assert response.status == 200
    assert response.body["data"] == {"me": None, "again": None}
    assert [error["path"] for error in response.errors] == [["me"], ["again"]]
    for error in response.errors:
        assert error["message"] == "Signature has expired"
        assert error["extensions"]["exception"]["code"] == "ExpiredSignatureError"


def test_expired_token_leaves_no_data_where_a_root_field_cannot_be_null(
    client: Client, shop: RecordedShop
) -> None:
    response = client.run("{ shop { name } me { id } }", Forger(shop).expired())
    assert response.status == 200
    assert response.body["data"] is None
    assert {error["path"][0] for error in response.errors} == {"shop", "me"}


@pytest.mark.parametrize(
    "document",
    [
        "{ __typename }",
        "{ __schema { queryType { name } } }",
        '{ __type(name: "Shop") { name } }',
        "{ ...F } fragment F on Query { shop { name } }",
        "{ ... on Query { here: me { id } } }",
        "{ shop @skip(if: true) { name } me @include(if: true) { id } }",
        "{ shop @include(if: false) { name } }",
        "mutation { one: tokensDeactivateAll { errors { code } } two: __typename }",
    ],
)
def test_expired_token_fails_for_any_document(
    client: Client, shop: RecordedShop, document: str
) -> None:
    response = client.run(document, Forger(shop).expired())
    assert response.status == 200
    codes = [error["extensions"]["exception"]["code"] for error in response.errors]
    assert set(codes) == {"ExpiredSignatureError"}
    assert not any((response.body["data"] or {}).values())


def test_expired_token_fails_every_entry_of_a_batch(client: Client, shop: RecordedShop) -> None:
    batch = [{"query": "{ shop { name } }"}, {"query": "{ me { id } }"}]
    response = client.post(batch, Forger(shop).expired())
    assert response.status == 200
    for entry in response.body:
        [error] = entry["errors"]
        assert error["extensions"]["exception"]["code"] == "ExpiredSignatureError"


def test_expired_token_prevents_a_mutation(client: Client, shop: RecordedShop) -> None:
    expired = Forger(shop).expired("staff")
    response = client.run(UPDATE_SHOP, expired, input={"name": "Another name"})
    assert response.body["data"] == {"shopSettingsUpdate": None}
    assert response.code == "ExpiredSignatureError"
    assert client.run("{ shop { name } }").data["shop"]["name"] != "Another name"


def test_token_refresh_with_an_expired_token_in_the_header_fails_too(
    client: Client, shop: RecordedShop
) -> None:
    response = client.run(REFRESH, Forger(shop).expired(), token=shop.refresh("customer"))
    assert response.body["data"] == {"tokenRefresh": None}
    assert response.code == "ExpiredSignatureError"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("garbage", "InvalidTokenError"),
        ("wrongsig", "InvalidSignatureError"),
        ("alg_none", "InvalidAlgorithmError"),
        ("iat_future", "ImmatureSignatureError"),
        ("wrong_jti", "InvalidTokenError"),
        ("foreign_owner", "InvalidTokenError"),
    ],
)
def test_other_invalid_credential_allows_public_fields_and_fails_the_rest(
    client: Client, shop: RecordedShop, name: str, code: str
) -> None:
    token = name if name == "garbage" else Forger(shop).make(name)
    response = client.run("{ shop { allowStorefrontTraffic } me { id } }", token)
    assert response.body["data"] == {"shop": {"allowStorefrontTraffic": True}, "me": None}
    assert (response.code, response.errors[0]["path"]) == (code, ["me"])
    assert client.run(DEACTIVATE_ALL, token).code == code
    assert client.run(UPDATE_SHOP, token, input={}).code == code


def test_expired_token_with_a_wrong_signature_is_invalid(
    client: Client, shop: RecordedShop
) -> None:
    forger = Forger(shop)
    token = forger.sign(forger.claims(iat=1_600_000_000, exp=1_600_000_300), key=foreign_key())
    assert client.run("{ shop { name } }", token).data["shop"]["name"]


@pytest.mark.parametrize("name", ["customer", "noperm"])
def test_denied_operation_names_the_permission_that_was_missing(
    client: Client, shop: RecordedShop, name: str
) -> None:
    response = client.run(UPDATE_SHOP, shop.access(name), input={})
    assert response.code == "PermissionDenied"
    assert "MANAGE_SETTINGS" in response.errors[0]["message"]
    assert response.errors[0]["extensions"]["requiredPermissions"] == ["MANAGE_SETTINGS"]


def test_denied_operation_names_the_kind_of_caller_that_was_missing(
    client: Client, shop: RecordedShop
) -> None:
    for credential in (None, shop.app_token("PRODUCTS")):
        response = client.run(DEACTIVATE_ALL, credential)
        assert response.code == "PermissionDenied"
        assert "AUTHENTICATED_USER" in response.errors[0]["message"]
        assert response.errors[0]["extensions"]["requiredPermissions"] == ["AUTHENTICATED_USER"]


def test_me_is_null_without_a_credential_or_with_an_app_token(
    client: Client, shop: RecordedShop
) -> None:
    assert client.run(ME_QUERY).data == {"me": None}
    assert client.run(ME_QUERY, shop.app_token("PRODUCTS")).data == {"me": None}


def test_token_of_a_deactivated_app_is_rejected(client: Client, shop: RecordedShop) -> None:
    assert client.run(ME_QUERY, shop.app_token("INACTIVE")).code == "InvalidTokenError"


@pytest.mark.parametrize("declared", ["String", "String!"])
def test_variables_can_be_declared_nullable_or_not(
    client: Client, shop: RecordedShop, declared: str
) -> None:
    for field, argument, selection in (
        ("tokenVerify", "token", "isValid"),
        ("tokenRefresh", "refreshToken", "token"),
        ("tokenCreate", "email", "token"),
    ):
        query = f"mutation($v: {declared}) {{ {field}({argument}: $v) {{ {selection} }} }}"
        assert client.run(query, v=shop.refresh("customer")).data.keys() == {field}


def test_schema_has_the_interfaces_version(client: Client, shop: RecordedShop) -> None:
    assert client.run("{ shop { schemaVersion } }").data["shop"]["schemaVersion"] == "3.23"
    for credential in (shop.access("noperm"), shop.app_token("NOPERM")):
        version = client.run("{ shop { version } }", credential).data["shop"]["version"]
        level, plus, own = version.partition("+")
        assert (level, plus) == ("3.23", "+")
        assert own
    for stranger in (None, shop.access("customer")):
        assert client.run("{ shop { version } }", stranger).code == "PermissionDenied"
