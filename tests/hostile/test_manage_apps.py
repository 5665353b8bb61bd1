"""People who manage apps read through no app's webhooks what they can't read themselves."""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR, WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType, ProductUpdated
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.apps.app_changes import AppChange, update_app
from app.services.deliveries.details import show_delivery_details
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.lists import DeliverySearch, search_deliveries
from app.services.deliveries.replays import (
    Resent,
    replay_deliveries,
    resend_matching,
    retry_deliveries,
)
from app.services.outbox.publisher import add_event
from app.services.webhooks.changes import WebhookInput, create_webhook
from app.services.webhooks.lists import WebhookFilter, list_webhooks, show_listed_webhook
from tests.builders.apps import extension_token, make_app, make_extension_app
from tests.builders.deliveries import work_off
from tests.builders.orders import make_cart
from tests.builders.people import actor_of, make_staff, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_webhook
from tests.fakes.fake_http import FakeHttp
from tests.graphql.shop_client import ApiClient

SECRET, HEADER = "signs everything", "Bearer sesame"
TARGET = "https://hooks.slack.com/services/T0/B0/tKb3n2"
MINE = "https://mine.example/"
QUERY = "subscription { event { ... on ProductUpdated { product { name } } } }"
CUP = "A secret cup"
NARROW = (Permission.MANAGE_APPS,)
WIDE = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: these rules stand above it."""
    return sqlite_url


@dataclass(frozen=True)
class Shop:
    """An app with more permissions than its manager, its webhook and a delivery."""

    ports: Ports
    app: int
    app_token: str
    webhook: int
    delivery: int

    @property
    def api(self) -> ApiClient:
        return ApiClient(self.ports)

    def person(self, *permissions: Permission) -> Actor:
        email = f"{len(permissions)}@example.com"
        return actor_of(self.ports, make_staff(self.ports, email, *permissions))

    def ask(self, document: str, token: str, **variables: object) -> Any:
        return self.api.post({"query": document, "variables": variables}, token).json

    def token(self, *permissions: Permission) -> str:
        person = make_staff(self.ports, f"t{len(permissions)}@example.com", *permissions)
        return sign_in(self.ports, person).access


@pytest.fixture
def shop(ports: Ports) -> Shop:
    app, token = make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS)
    webhook = make_webhook(
        ports,
        app,
        EventType.PRODUCT_UPDATED,
        target_url=TARGET,
        secret=SECRET,
        custom_headers={"Authorization": HEADER},
        query=QUERY,
    )
    cup = make_product(ports, CUP)
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(cup))
    fan_out_events(ports, WORKER)
    answer = HttpResponse(500, {"x-answer": "theirs"}, b"answered with theirs")
    work_off(replace(ports, http=FakeHttp(ports.database, lambda _request: answer)))
    return Shop(ports, app, token, webhook, 1)


_SEEN = """query ($id: ID!) { webhook(id: $id) {
  name isActive targetUrl asyncEvents { eventType } secretKey customHeaders
  eventDeliveries(first: 5) { totalCount edges { node { status eventType payload
    attempts(first: 5) { edges { node {
      status responseStatusCode duration response responseHeaders requestHeaders } } } } } } } }"""
DENIED = {
    ("webhook", "secretKey"),
    ("webhook", "customHeaders"),
    ("webhook", "eventDeliveries", "payload"),
    ("webhook", "eventDeliveries", "attempts", "response"),
    ("webhook", "eventDeliveries", "attempts", "responseHeaders"),
    ("webhook", "eventDeliveries", "attempts", "requestHeaders"),
}


def fields(errors: list[dict[str, Any]]) -> set[tuple[str, ...]]:
    """Where the errors are, without the steps of connections."""
    steps = ("edges", "node")
    return {
        tuple(name for name in error["path"] if isinstance(name, str) and name not in steps)
        for error in errors
    }


def test_secrets_and_payloads_are_null_with_an_error_each(shop: Shop) -> None:
    reply = shop.ask(_SEEN, shop.token(*NARROW), id=to_global_id("Webhook", shop.webhook))
    webhook = reply["data"]["webhook"]
    (delivery,) = (edge["node"] for edge in webhook["eventDeliveries"]["edges"])
    (attempt,) = (edge["node"] for edge in delivery["attempts"]["edges"])

    assert fields(reply["errors"]) == DENIED
    for error in reply["errors"]:
        assert error["extensions"]["exception"]["code"] == "PermissionDenied"
        assert set(error["extensions"]["requiredPermissions"]) == {
            "MANAGE_PRODUCTS",
            "MANAGE_ORDERS",
        }
    assert (webhook["name"], webhook["isActive"]) == ("hook", True)
    assert (delivery["status"], attempt["responseStatusCode"]) == ("PENDING", 500)
    assert webhook["eventDeliveries"]["totalCount"] == 1
    for secret in (SECRET, HEADER, CUP, "theirs", "tKb3n2"):
        assert secret not in str(reply)


def test_holder_of_all_permissions_sees_everything(shop: Shop) -> None:
    reply = shop.ask(_SEEN, shop.token(*WIDE), id=to_global_id("Webhook", shop.webhook))
    assert "errors" not in reply
    for shown in (SECRET, HEADER, CUP, "answered with theirs", TARGET):
        assert shown in str(reply)


def test_app_sees_its_own_webhooks(shop: Shop) -> None:
    reply = shop.ask(_SEEN, shop.app_token, id=to_global_id("Webhook", shop.webhook))
    assert "errors" not in reply
    assert CUP in str(reply)


def test_extension_of_the_app_shows_no_more_than_its_person_sees(shop: Shop) -> None:
    extension = make_extension_app(
        shop.ports, "Page", Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS
    )
    webhook = make_webhook(shop.ports, extension.id, EventType.PRODUCT_UPDATED, secret=SECRET)
    token = extension_token(shop.ports, shop.person(*NARROW), extension)
    assert token is not None
    reply = shop.ask(_SEEN, token, id=to_global_id("Webhook", webhook))
    assert reply["data"]["webhook"] is None
    assert SECRET not in str(reply)


_MUTATIONS = {
    "webhookCreate": (
        "mutation ($app: ID!, $url: String!) { webhookCreate(input: {app: $app, targetUrl: $url,"
        " asyncEvents: [PRODUCT_UPDATED]}) { webhook { id } errors { field code } } }"
    ),
    "webhookUpdate": (
        "mutation ($id: ID!, $url: String!) { webhookUpdate(id: $id, input: {targetUrl: $url})"
        " { webhook { secretKey } errors { field code } } }"
    ),
    "webhookDelete": "mutation ($id: ID!) { webhookDelete(id: $id) { errors { field code } } }",
    "webhookTrigger": (
        "mutation ($id: ID!) { webhookTrigger(webhookId: $id)"
        " { delivery { payload } errors { field code } } }"
    ),
    "webhookDryRun": (
        "mutation ($app: ID!, $query: String!) { webhookDryRun(app: $app, query: $query)"
        " { payload errors { field code } } }"
    ),
    "eventDeliveryRetry": (
        "mutation ($delivery: ID!) { eventDeliveryRetry(id: $delivery)"
        " { delivery { payload } errors { field code } } }"
    ),
    "webhookSendWaiting": (
        "mutation ($id: ID!) { webhookSendWaiting(id: $id) { count errors { field code } } }"
    ),
    "webhookReplay": (
        'mutation ($id: ID!) { webhookReplay(id: $id, since: "2020-01-01T00:00:00Z")'
        " { failed errors { field code } } }"
    ),
}


def _change(shop: Shop, name: str, token: str) -> Any:
    document = _MUTATIONS[name]
    values = {
        "app": to_global_id("App", shop.app),
        "id": to_global_id("Webhook", shop.webhook),
        "delivery": to_global_id("EventDelivery", shop.delivery),
        "url": MINE,
        "query": QUERY,
    }
    used = {key: value for key, value in values.items() if f"${key}:" in document}
    return shop.ask(document, token, **used)


def test_change_is_denied_at_the_top_without_the_apps_permissions(shop: Shop) -> None:
    # The permission of the event isn't enough: the app can read orders, too.
    token = shop.token(Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
    for name in _MUTATIONS:
        reply = _change(shop, name, token)
        (error,) = reply["errors"]
        assert error["extensions"]["exception"]["code"] == "PermissionDenied", name
        assert error["extensions"]["requiredPermissions"] == ["MANAGE_ORDERS"], name
        assert reply["data"] == {name: None}


def test_holder_of_all_permissions_can_make_the_change(shop: Shop) -> None:
    token = shop.token(*WIDE)
    for name in sorted(_MUTATIONS, key=lambda name: name == "webhookDelete"):
        reply = _change(shop, name, token)
        assert "errors" not in reply, name
        assert reply["data"][name]["errors"] == [], name


def test_app_changes_its_own_webhooks(shop: Shop) -> None:
    for name in ("webhookCreate", "webhookUpdate", "webhookDelete"):
        reply = _change(shop, name, shop.app_token)
        assert "errors" not in reply, name
        assert reply["data"][name]["errors"] == [], name


def test_webhook_of_an_app_without_more_permissions_is_created(shop: Shop) -> None:
    app, _ = make_app(shop.ports, "Nothing")
    input_ = WebhookInput(target_url=MINE, events=(EventType.PRODUCT_UPDATED,))
    assert create_webhook(shop.ports, shop.person(*NARROW), input_, app).app_id == app


def test_pages_show_neither_what_was_sent_nor_what_was_answered(shop: Shop) -> None:
    person = shop.person(*NARROW)
    found = show_delivery_details(shop.ports, person, shop.delivery)
    assert found is not None
    listed = show_listed_webhook(shop.ports, person, shop.webhook)
    assert listed is not None
    lines = search_deliveries(shop.ports, person, PageRequest(5), DeliverySearch()).items
    assert (found.payload, found.attempts[0].attempt.response_headers) == ("", {})
    assert (lines[0].response_status, lines[0].last_response) == (500, "")
    assert listed.last_failure == "500 Internal Server Error"
    assert "tKb3n2" not in f"{found} {lines} {listed}"


def test_cart_of_a_delivery_is_not_named(shop: Shop) -> None:
    """Its ID is all that it takes to read and change a cart."""
    checkouts = Permission.MANAGE_CHECKOUTS
    app, _ = make_app(shop.ports, "Reminder", checkouts)
    make_webhook(shop.ports, app, EventType.CHECKOUT_CREATED)
    token = make_cart(shop.ports).token
    fan_out_events(shop.ports, WORKER)
    of_carts = DeliverySearch(event=EventType.CHECKOUT_CREATED)
    named = []
    for person in (shop.person(*NARROW), shop.person(Permission.MANAGE_APPS, checkouts)):
        (line,) = search_deliveries(shop.ports, person, PageRequest(5), of_carts).items
        found = show_delivery_details(shop.ports, person, line.id)
        assert found is not None
        assert found.line.object_id == line.object_id
        named.append(line.object_id)
    assert named == ["", to_global_id("Checkout", token)]


def test_search_says_nothing_about_payloads_and_keys(shop: Shop) -> None:
    """Whether a text is found would tell it, one character after the other."""
    narrow, wide = shop.person(*NARROW), shop.person(*WIDE)
    in_payload, in_target = DeliverySearch(text=CUP), WebhookFilter(search="tKb3n2")
    page = PageRequest(5)
    assert not search_deliveries(shop.ports, narrow, page, in_payload).items
    assert not list_webhooks(shop.ports, narrow, page, in_target).items
    assert search_deliveries(shop.ports, wide, page, in_payload).items
    assert list_webhooks(shop.ports, wide, page, in_target).items


def test_deliveries_are_left_out_of_what_is_resent(shop: Shop) -> None:
    narrow, wide = shop.person(*NARROW), shop.person(*WIDE)
    assert retry_deliveries(shop.ports, narrow, [shop.delivery]) == Resent(0, denied=1)
    assert resend_matching(shop.ports, narrow, DeliverySearch()) == Resent(0, denied=1)
    with pytest.raises(PermissionDenied):
        replay_deliveries(shop.ports, narrow, shop.webhook, shop.ports.clock.now())
    assert retry_deliveries(shop.ports, wide, [shop.delivery]) == Resent(1)


def test_payload_stays_hidden_when_the_app_loses_its_permissions(shop: Shop) -> None:
    update_app(shop.ports, OPERATOR, shop.app, AppChange(permissions=frozenset()))
    found = show_delivery_details(shop.ports, shop.person(*NARROW), shop.delivery)
    assert found is not None
    assert found.payload == ""
