"""An app token with fewer permissions than its app gains nothing by a webhook."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import (
    CustomerUpdated,
    Event,
    EventType,
    ProductUpdated,
    StaffSetPasswordRequested,
)
from app.domain.values.ids import key_of, to_global_id
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.apps.app_changes import AppChange, update_app
from app.services.apps.app_tokens import TokenOptions, create_app_token
from app.services.deliveries.dry_runs import trigger_webhook
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.publisher import add_event
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.people import make_staff, make_user
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.fake_http import FakeHttp
from tests.graphql.shop_client import ApiClient

PRODUCTS, STAFF, USERS = (
    Permission.MANAGE_PRODUCTS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
)
MINE = "https://mine.example/"
SIGNING = "the secret of another webhook"

CREATE = """
mutation ($input: WebhookCreateInput!) {
  webhookCreate(input: $input) { webhook { id asyncEvents { eventType } } errors { field code } }
}"""
UPDATE = """
mutation ($id: ID!, $input: WebhookUpdateInput!) {
  webhookUpdate(id: $id, input: $input) { webhook { id name } errors { field code } }
}"""
DELETE = "mutation ($id: ID!) { webhookDelete(id: $id) { webhook { id } errors { field code } } }"
RETRY = "mutation ($id: ID!) { eventDeliveryRetry(id: $id) { errors { field code } } }"
READ = """
query ($id: ID!) {
  webhook(id: $id) { name targetUrl secretKey customHeaders eventDeliveries(first: 5) {
    edges { node { payload attempts(first: 5) { edges { node { response } } } } }
  } }
}"""
LIST = """
{ app { webhooks {
  name secretKey customHeaders eventDeliveries(first: 1) { edges { node { id } } }
} } }"""
HEARS_STAFF = "subscription { event { ... on StaffSetPasswordRequested { token } } }"
PRODUCT_AND_SECRETS = """
subscription { event { ... on ProductUpdated {
  product { id } recipient { webhooks {
    secretKey customHeaders eventDeliveries(first: 5) { edges { node { payload } } }
  } }
} } }"""


@dataclass
class Scenario:
    """An app that holds more than one of its tokens, and what its endpoints were sent."""

    ports: Ports
    api: ApiClient
    http: FakeHttp
    app: int
    full_token: str

    def token(self, *permissions: Permission) -> str:
        options = TokenOptions(permissions=frozenset(permissions))
        return create_app_token(self.ports, OPERATOR, self.app, options).secret

    def happen(self, *events: Event) -> None:
        with self.ports.database.transaction() as session:
            for event in events:
                add_event(self.ports, OPERATOR, session, event)
        fan_out_events(self.ports, WORKER)
        work_off(replace(self.ports, http=self.http))

    def create(self, token: str, **input_: object) -> Any:
        return self.api.run(CREATE, token, input={"targetUrl": MINE, **input_})

    @property
    def sent(self) -> list[str]:
        return [
            (request.body or b"").decode() for request in self.http.requests if request.url == MINE
        ]


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: these rules stand above it."""
    return sqlite_url


@pytest.fixture
def scenario(ports: Ports) -> Scenario:
    app, full_token = make_app(ports, "warehouse", PRODUCTS, STAFF, USERS)
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    return Scenario(ports, ApiClient(ports), http, app, full_token)


def everything(ports: Ports) -> tuple[Event, ...]:
    customer = make_user(ports, "ann@example.com", first_name="Ann")
    clerk = make_staff(ports, "clerk@example.com")
    return (
        CustomerUpdated(customer),
        StaffSetPasswordRequested(clerk, token="sesame"),
        ProductUpdated(make_product(ports, "Cup")),
    )


UNHEARD: list[tuple[dict[str, object], str]] = [
    ({"asyncEvents": ["STAFF_SET_PASSWORD_REQUESTED"]}, "asyncEvents"),
    ({"events": ["CUSTOMER_UPDATED"]}, "asyncEvents"),
    ({"asyncEvents": ["ANY_EVENTS"]}, "asyncEvents"),
    ({"asyncEvents": ["PRODUCT_UPDATED", "ANY_EVENTS"]}, "asyncEvents"),
    ({"query": HEARS_STAFF}, "query"),
    ({"asyncEvents": ["CUSTOMER_UPDATED"], "isActive": False}, "asyncEvents"),
]


def test_limited_token_cannot_subscribe_without_the_permission(scenario: Scenario) -> None:
    for token in (scenario.token(PRODUCTS), scenario.token()):
        for input_, field in UNHEARD:
            created = scenario.create(token, **input_)
            refused = [{"field": field, "code": "INVALID"}]
            assert (created["webhook"], created["errors"]) == (None, refused), input_
    scenario.happen(*everything(scenario.ports))
    assert scenario.sent == []


def test_limited_token_cannot_add_an_event_without_the_permission(scenario: Scenario) -> None:
    token = scenario.token(PRODUCTS)
    mine = scenario.create(token, asyncEvents=["PRODUCT_UPDATED"])["webhook"]["id"]
    for input_ in ({"asyncEvents": ["ANY_EVENTS"]}, {"query": HEARS_STAFF}):
        assert scenario.api.run(UPDATE, token, id=mine, input=input_)["errors"]
    scenario.happen(*everything(scenario.ports))
    (payload,) = scenario.sent
    assert "product" in payload


CHANGES: list[dict[str, object]] = [
    {"targetUrl": MINE},
    {"isActive": True},
    {"customHeaders": "{}"},
    {"secretKey": "mine"},
    {"query": "subscription { event { ... on ProductUpdated { product { id } } } }"},
    {"asyncEvents": ["PRODUCT_UPDATED"]},
]


def test_limited_token_cannot_change_a_more_privileged_webhook(scenario: Scenario) -> None:
    """Earlier deliveries would go to its own URL, and the secret would be its own."""
    key = make_webhook(scenario.ports, scenario.app, EventType.CUSTOMER_UPDATED, secret=SIGNING)
    webhook, token = to_global_id("Webhook", key), scenario.token(PRODUCTS)
    refused = [{"field": "id", "code": "INVALID"}]
    for input_ in CHANGES:
        changed = scenario.api.run(UPDATE, token, id=webhook, input=input_)
        assert changed["errors"] == refused, input_
    assert scenario.api.run(DELETE, token, id=webhook)["errors"] == refused
    scenario.happen(*everything(scenario.ports))
    assert scenario.sent == []


def test_limited_token_cannot_read_details_of_a_more_privileged_webhook(
    scenario: Scenario,
) -> None:
    key = make_webhook(
        scenario.ports,
        scenario.app,
        EventType.CUSTOMER_UPDATED,
        secret=SIGNING,
        custom_headers={"Authorization": "Bearer sesame"},
    )
    scenario.http.answer = lambda request: HttpResponse(200, {}, request.body or b"")
    scenario.happen(*everything(scenario.ports))
    delivery = make_delivery(scenario.ports, key)

    token, webhook = scenario.token(PRODUCTS), to_global_id("Webhook", key)
    shown = scenario.api.run(READ, token, id=webhook)
    assert (shown["name"], shown["secretKey"]) == ("hook", None)
    assert shown["eventDeliveries"]["edges"] == []
    listed = json.dumps(scenario.api.run(LIST, token))
    assert "hook" in listed
    for secret in (SIGNING, "sesame", "ann@example.com", '"id"'):
        assert secret not in json.dumps(shown) + listed
    retried = scenario.api.run(RETRY, token, id=to_global_id("EventDelivery", delivery))
    assert retried["errors"] == [{"field": "id", "code": "NOT_FOUND"}]

    response = json.dumps(scenario.api.run(READ, scenario.full_token, id=webhook))
    for secret in (SIGNING, "sesame", "ann@example.com"):
        assert secret in response


def test_query_of_a_limited_token_reads_with_the_rights_of_the_token(scenario: Scenario) -> None:
    make_webhook(
        scenario.ports,
        scenario.app,
        EventType.CUSTOMER_UPDATED,
        secret=SIGNING,
        target_url="https://app.example/",
    )
    customer, clerk, product = everything(scenario.ports)
    scenario.happen(customer, clerk)
    assert scenario.create(scenario.token(PRODUCTS), query=PRODUCT_AND_SECRETS)["errors"] == []
    scenario.happen(product)
    (payload,) = scenario.sent
    assert "product" in payload
    assert SIGNING not in payload
    assert "ann@example.com" not in payload


def test_webhook_of_a_limited_token_gains_nothing_by_a_later_grant(scenario: Scenario) -> None:
    token = scenario.token(PRODUCTS)
    key = scenario.create(token, asyncEvents=["PRODUCT_UPDATED"])["webhook"]["id"]
    with scenario.ports.database.transaction() as session:  # whatever else let it in
        added = models.WebhookEvent(event="ANY_EVENTS", webhook_id=key_of(key, "Webhook"))
        session.add(added)
    taxes = frozenset({PRODUCTS, STAFF, USERS, Permission.MANAGE_TAXES})
    update_app(scenario.ports, OPERATOR, scenario.app, AppChange(permissions=taxes))
    scenario.happen(*everything(scenario.ports))
    (payload,) = scenario.sent
    assert "product" in payload


def test_delivery_of_an_event_that_the_limit_excludes_is_not_sent(scenario: Scenario) -> None:
    token = scenario.token(PRODUCTS)
    key = key_of(
        scenario.create(token, asyncEvents=["PRODUCT_UPDATED"])["webhook"]["id"], "Webhook"
    )
    change_delivery(scenario.ports, make_delivery(scenario.ports, key), event="CUSTOMER_UPDATED")
    scenario.happen()
    assert scenario.sent == []


def test_triggered_delivery_is_limited_too(scenario: Scenario) -> None:
    token = scenario.token(PRODUCTS)
    make_webhook(scenario.ports, scenario.app, secret=SIGNING, target_url="https://app.example/")
    created = scenario.create(token, query=PRODUCT_AND_SECRETS)["webhook"]["id"]
    cup = make_product(scenario.ports, "Cup")
    sent = trigger_webhook(scenario.ports, OPERATOR, created, product_id(cup))
    assert SIGNING not in sent.payload


def test_limited_token_manages_webhooks_within_its_limit(scenario: Scenario) -> None:
    token = scenario.token(PRODUCTS)
    created = scenario.create(
        token, asyncEvents=["PRODUCT_UPDATED"], secretKey="mine", customHeaders='{"X-Key": "k1"}'
    )
    mine = created["webhook"]["id"]
    input_ = {"name": "Products", "asyncEvents": ["PRODUCT_UPDATED", "PRODUCT_DELETED"]}
    assert scenario.api.run(UPDATE, token, id=mine, input=input_)["webhook"]["name"] == "Products"
    scenario.happen(*everything(scenario.ports))
    assert [json.loads(payload)["product"]["name"] for payload in scenario.sent] == ["Cup"]

    shown = scenario.api.run(READ, token, id=mine)
    assert shown["secretKey"] == "mine"
    assert shown["customHeaders"] == '{"X-Key": "k1"}'
    assert "Cup" in json.dumps(shown["eventDeliveries"])
    narrower = scenario.token()
    assert scenario.api.run(READ, narrower, id=mine)["secretKey"] is None
    assert scenario.api.run(DELETE, token, id=mine)["errors"] == []


def test_token_without_a_limit_manages_all_webhooks_of_its_app(scenario: Scenario) -> None:
    limited = scenario.create(scenario.token(PRODUCTS), asyncEvents=["PRODUCT_UPDATED"])[
        "webhook"
    ]["id"]
    input_ = {"asyncEvents": ["CUSTOMER_UPDATED", "PRODUCT_UPDATED"]}
    assert scenario.api.run(UPDATE, scenario.full_token, id=limited, input=input_)["errors"] == []
    scenario.happen(*everything(scenario.ports))
    assert sorted("product" in payload for payload in scenario.sent) == [False, True]
