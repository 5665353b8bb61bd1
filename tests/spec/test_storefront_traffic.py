"""Contract, "Storefront traffic" of part 1 and "The closed storefront, precisely" of part 2."""

from typing import Any

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from tests.builders.people import PASSWORD
from tests.spec.client import JSON, Answer, Client
from tests.spec.documents import LOGIN, SHOP, UPDATE_SHOP
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

CLOSED = {
    "errors": [
        {
            "message": "Storefront traffic is not allowed.",
            "extensions": {"code": "STOREFRONT_TRAFFIC_NOT_ALLOWED"},
        }
    ]
}
CUSTOMER = {"email": "customer@example.com", "password": PASSWORD}
PASSING = {"data": {"shop": {"allowStorefrontTraffic": False}}}
ASKING = "{ shop { allowStorefrontTraffic } }"


@pytest.fixture
def closed(shop: RecordedShop) -> RecordedShop:
    shop.set_switches(allow_storefront_traffic=False)
    return shop


def _is_refused(response: Answer) -> bool:
    return response.status == 401 and response.body == CLOSED


def test_traffic_is_allowed_by_default(client: Client) -> None:
    assert client.run(SHOP).data["shop"]["allowStorefrontTraffic"] is True


@pytest.mark.parametrize("allowed", [True, False])
def test_changing_it_needs_manage_settings(
    client: Client, shop: RecordedShop, allowed: bool
) -> None:
    input_ = {"allowStorefrontTraffic": allowed}
    for credential in (None, shop.access("customer"), shop.access("noperm")):
        assert client.run(UPDATE_SHOP, credential, input=input_).code == "PermissionDenied"
    assert client.run(SHOP).data["shop"]["allowStorefrontTraffic"] is True
    for credential in (shop.access("manager"), shop.app_token("SETTINGS")):
        payload = client.run(UPDATE_SHOP, credential, input=input_).data["shopSettingsUpdate"]
        assert payload["shop"]["allowStorefrontTraffic"] is allowed
        shop.set_switches()


def test_closed_storefront_admits_apps_and_staff(client: Client, closed: RecordedShop) -> None:
    for name in ("staff", "manager", "noperm"):
        assert client.run(ASKING, closed.access(name)).body == PASSING
        oidc = closed.sign_in(name, SessionOrigin.OIDC).access
        assert client.run(ASKING, oidc).body == PASSING
    for name in ("PRODUCTS", "NOPERM", "SETTINGS"):
        assert client.run(ASKING, closed.app_token(name)).body == PASSING


def test_credential_can_be_sent_as_authorization_bearer(
    client: Client, closed: RecordedShop
) -> None:
    headers = {"Authorization-Bearer": closed.access("staff")}
    assert client.post({"query": ASKING}, headers=headers).body == PASSING


def test_anonymous_callers_get_401(client: Client, closed: RecordedShop) -> None:
    assert _is_refused(client.run(ASKING))


def test_customers_get_401_with_any_sign_in_method(client: Client, closed: RecordedShop) -> None:
    for origin in (SessionOrigin.PASSWORD, SessionOrigin.OIDC):
        assert _is_refused(client.run(ASKING, closed.sign_in("customer", origin).access))


@pytest.mark.parametrize(
    "name", ["expired", "expired_staff", "wrongsig", "badsig", "alg_none", "no_exp", "inactive"]
)
def test_invalid_tokens_get_401(client: Client, closed: RecordedShop, name: str) -> None:
    assert _is_refused(client.run(ASKING, Forger(closed).make(name)))


def test_other_invalid_credentials_get_401(client: Client, closed: RecordedShop) -> None:
    ended = closed.access("staff")
    closed.end_sessions("staff")
    for token in ("garbage", ended, closed.refresh("manager"), closed.app_token("INACTIVE")):
        assert _is_refused(client.run(ASKING, token))


def test_password_staff_get_401_in_customers_only(client: Client, shop: RecordedShop) -> None:
    by_password, by_oidc = shop.access("staff"), shop.sign_in("staff", SessionOrigin.OIDC).access
    shop.set_switches(PasswordLoginMode.CUSTOMERS_ONLY, allow_storefront_traffic=False)
    assert _is_refused(client.run(ASKING, by_password))
    assert client.run(ASKING, by_oidc).body == PASSING


@pytest.mark.parametrize(
    "query",
    [
        'mutation { tokenCreate(email: "customer@example.com", password: "x") { token } }',
        'mutation { tokenRefresh(refreshToken: "x") { token } }',
        'mutation { externalObtainAccessTokens(pluginId: "x", input: "{}") { token } }',
        'mutation { setPassword(email: "a", password: "b", token: "c") { token } }',
        'mutation { requestPasswordReset(email: "a", redirectUrl: "b") { errors { code } } }',
        "{ __schema { queryType { name } } }",
        "{ __typename }",
        "{ me { id } }",
    ],
)
def test_every_operation_is_refused_while_closed(
    client: Client, closed: RecordedShop, query: str
) -> None:
    assert _is_refused(client.run(query))
    assert _is_refused(client.run(query, closed.access("customer")))


@pytest.mark.parametrize(
    "body",
    [
        {"query": "{ shop { "},
        {"query": "no document at all"},
        {"query": "{ nothing }"},
        {"query": "query A { __typename } query B { __typename }"},
        {"query": "query A { __typename }", "operationName": "B"},
        {"query": "query($a: Boolean!) { shop @include(if: $a) { id } }"},
        {"query": "{" * 5000},
        {"query": " ".join(f"a{number}: __typename" for number in range(500))},
    ],
    ids=range(8),
)
def test_storefront_check_precedes_document_validation(
    client: Client, closed: RecordedShop, body: dict[str, object]
) -> None:
    assert _is_refused(client.post(body))


def test_malformed_request_is_reported_first(client: Client, closed: RecordedShop) -> None:
    for raw in (b"", b"{not json", b"5", b"{}", b'{"query": null}', b'{"query": 5}'):
        assert client.send(body=raw, headers=JSON).status == 400
    assert client.post([{"query": ASKING}] * 11).status == 400
    assert client.post([5]).status == 400
    assert client.post({"query": "x" * 1024 * 1024}).status == 413
    assert client.send(body="{__typename}", headers={"Content-Type": "text/plain"}).status == 415


def test_refused_request_is_never_executed(client: Client, closed: RecordedShop) -> None:
    assert _is_refused(client.run(LOGIN, **CUSTOMER))
    assert _is_refused(client.run(UPDATE_SHOP, input={"allowStorefrontTraffic": True}))
    with closed.ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Session)) == 0
    assert client.run(ASKING, closed.app_token("NOPERM")).body == PASSING


def test_staff_login_without_a_valid_token_is_refused(
    client: Client, closed: RecordedShop
) -> None:
    assert _is_refused(client.run(LOGIN, email="staff@example.com", password=PASSWORD))


def test_token_create_sent_with_a_staff_or_app_token_works(
    client: Client, closed: RecordedShop
) -> None:
    for credential in (closed.access("noperm"), closed.app_token("NOPERM")):
        payload = client.run(LOGIN, credential, **CUSTOMER).data["tokenCreate"]
        assert payload["errors"] == []
        assert _is_refused(client.run(ASKING, payload["token"]))


@pytest.mark.parametrize(
    "batch",
    [
        [{"query": ASKING}],
        [{"query": ASKING}, {"query": "{ me { id } }"}],
        [{"query": ASKING}, {"query": "{ shop { "}, {"query": "{ nothing }"}],
        [{"query": LOGIN, "variables": CUSTOMER}] * 10,
    ],
    ids=len,
)
def test_batch_is_refused_as_a_whole_with_one_error_object_per_entry(
    client: Client, closed: RecordedShop, batch: list[dict[str, Any]]
) -> None:
    response = client.post(batch)
    assert (response.status, response.body) == (401, [CLOSED] * len(batch))


def test_batch_of_an_admitted_caller_is_executed(client: Client, closed: RecordedShop) -> None:
    response = client.post([{"query": ASKING}] * 2, closed.app_token("NOPERM"))
    assert (response.status, response.body) == (200, [PASSING] * 2)


def test_browsers_can_read_the_refusal(client: Client, closed: RecordedShop) -> None:
    response = client.post({"query": ASKING}, headers={"Origin": "https://shop.example.com"})
    assert _is_refused(response)
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_playground_and_key_set_are_not_storefront_traffic(
    client: Client, closed: RecordedShop
) -> None:
    assert client.send("GET", headers={"Accept": "text/html"}).status == 200
    assert client.send("GET", "/.well-known/jwks.json").status == 200
    assert client.send("OPTIONS").status < 300


def test_reopening_applies_to_the_next_request(client: Client, closed: RecordedShop) -> None:
    assert _is_refused(client.run(ASKING))
    client.run(UPDATE_SHOP, closed.access("manager"), input={"allowStorefrontTraffic": True})
    assert client.run(ASKING).data == {"shop": {"allowStorefrontTraffic": True}}
