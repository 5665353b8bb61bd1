"""Bad targets, queries and object ids: each refused by its code, and nothing is changed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from app import models
from app.adapters.http.guarded_http import GuardedHttp
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import CustomerUpdated, EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from tests.adapters.test_http import INTERNAL as INTERNAL_HOSTS
from tests.builders.apps import make_app
from tests.builders.people import make_user, sign_in
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import TARGET, make_delivery, make_webhook
from tests.domain.urls.test_delivery_targets import INTERNAL, NO_ADDRESSES
from tests.fixtures.network import take_attempts
from tests.fixtures.one_of_each import InTurn
from tests.graphql.shop_client import ApiClient
from tests.graphql.test_event_deliveries import DRY_RUN, TRIGGER
from tests.graphql.test_webhooks import CREATE, UPDATE
from tests.services.deliveries.test_fanout import happen

SPELLINGS = tuple(dict.fromkeys((*INTERNAL, *(f"https://{host}/" for host in INTERNAL_HOSTS))))
GOOD = "subscription { event { ... on ProductCreated { product { id } } } }"
PRODUCT = "... on ProductCreated { product { id } }"
CROWD = "... on CustomerCreated { user { " + "orders(first: 100) { edges { node { user { " * 4

QUERIES = [
    ("{", "SYNTAX"),
    ("subscription{event{", "SYNTAX"),
    ("subscription", "SYNTAX"),
    ("# nothing but a remark", "SYNTAX"),
    ("\u202esubscription", "SYNTAX"),
    ("subscription { }", "SYNTAX"),
    ("subscription { event { } }", "SYNTAX"),
    (f"subscription {{ {'event ' * 6000} }}", "SYNTAX"),
    ("subscription { event }", "GRAPHQL_ERROR"),
    ("subscription { nope }", "GRAPHQL_ERROR"),
    ("subscription { event { nope } }", "GRAPHQL_ERROR"),
    ("subscription { event { ... on Nope { id } } }", "GRAPHQL_ERROR"),
    ("subscription { event { ... on Shop { name } } }", "GRAPHQL_ERROR"),
    ("subscription { event { ... on ProductCreated { product { nope } } } }", "GRAPHQL_ERROR"),
    ("subscription { event { ...Nope } }", "GRAPHQL_ERROR"),
    ("subscription { event { ...A } } fragment A on Event { ...A }", "GRAPHQL_ERROR"),
    (f"subscription {{ event {{ {PRODUCT} }} }} fragment A on Shop {{ name }}", "GRAPHQL_ERROR"),
    (f"subscription {{ event @nope {{ {PRODUCT} }} }}", "GRAPHQL_ERROR"),
    ("{ shop { name } }", "MISSING_SUBSCRIPTION"),
    ("mutation { tokensDeactivateAll { errors { code } } }", "MISSING_SUBSCRIPTION"),
    ("fragment A on Shop { name }", "MISSING_SUBSCRIPTION"),
    ("subscription { event { issuedAt } }", "MISSING_EVENT"),
    ("subscription { event { __typename } }", "MISSING_EVENT"),
    ("subscription { event { ... on Event { version } } }", "MISSING_EVENT"),
    ("subscription { __typename }", "GRAPHQL_ERROR"),
    (f"subscription A {{ event {{ {PRODUCT} }} }} {{ shop {{ name }} }}", "UNABLE_TO_PARSE"),
    (f"subscription ($id: ID!) {{ event {{ {PRODUCT} }} }}", "UNABLE_TO_PARSE"),
    (f"subscription {{ event {{ {CROWD} id {'} } } } ' * 4} }} }} }} }}", "INVALID"),
]
"""Queries that nobody can be told by: they do not parse, select nothing, are no subscription …"""

IDS = [
    ("", "INVALID_ID"),
    ("garbage", "INVALID_ID"),
    ("\0", "INVALID_ID"),
    (to_global_id("User", 1), "INVALID_ID"),
    (to_global_id("Nope", 1), "INVALID_ID"),
    (to_global_id("Product", "x"), "INVALID_ID"),
    (to_global_id("Product", "-1"), "INVALID_ID"),
    (to_global_id("Product", "1.0"), "INVALID_ID"),
    (to_global_id("Product", "\u0661"), "INVALID_ID"),
    (to_global_id("Product", "9" * 40), "INVALID_ID"),
    (to_global_id("Product", "1:1"), "INVALID_ID"),
    (to_global_id("Product", 99999), "NOT_FOUND"),
    (to_global_id("Product", 0), "NOT_FOUND"),
]
"""Ids of no product: of another type, malformed, unknown."""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def owner(ports: Ports) -> tuple[int, str]:
    return make_app(ports, "owner", *ALL_PERMISSIONS - {Permission.MANAGE_ORDERS})


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_user(ports, "boss@example.com", is_superuser=True)).access


def problems(payload: Any) -> list[tuple[str | None, str]]:
    return [(error["field"], error["code"]) for error in payload["errors"]]


def stored(ports: Ports) -> Sequence[tuple[str, str]]:
    with ports.database.reading() as session:
        rows = session.scalars(select(models.Webhook)).all()
    return [(row.target_url, row.query) for row in rows]


def deliveries(ports: Ports) -> Sequence[models.Delivery]:
    with ports.database.reading() as session:
        return session.scalars(select(models.Delivery).order_by(models.Delivery.id)).all()


def test_internal_target_is_refused_in_every_spelling_on_create_and_update(
    api: ApiClient, ports: Ports, owner: tuple[int, str], in_turn: InTurn
) -> None:
    key = to_global_id("Webhook", make_webhook(ports, owner[0]))
    doors: list[tuple[str, dict[str, str]]] = [(CREATE, {}), (UPDATE, {"id": key})]
    # Blanks around an address are taken off: no fault in itself.
    wrong = [url for url in (*SPELLINGS, *NO_ADDRESSES) if url == url.strip()]
    for url in wrong:
        for mutation, which in in_turn(doors):
            answer = api.run(mutation, owner[1], input={"targetUrl": url}, **which)
            assert problems(answer) == [("targetUrl", "INVALID")], url
    assert stored(ports) == [(TARGET, "")]


def test_target_is_checked_before_each_attempt(ports: Ports, owner: tuple[int, str]) -> None:
    """As ``tests/adapters/test_http.py`` shows for every spelling."""
    guarded, targets = replace(ports, http=GuardedHttp()), SPELLINGS[3::8]
    for url in targets:
        make_delivery(ports, make_webhook(ports, owner[0], target_url=url))
    while batches := lease_due_deliveries(guarded, WORKER):
        for batch in batches:
            send_deliveries(guarded, WORKER, batch)

    with ports.database.reading() as session:
        attempts = session.scalars(select(models.DeliveryAttempt)).all()
        count = session.scalar(select(func.count()).select_from(models.Delivery))
    assert len(attempts) == count == len(targets)
    assert {(attempt.status, attempt.response_status) for attempt in attempts} == {
        ("FAILED", None)
    }
    assert all(attempt.response for attempt in attempts)
    # Names are resolved, for what they resolve to is what counts; nothing is connected to.
    assert {attempt.partition(" ")[0] for attempt in take_attempts()} == {"socket.getaddrinfo"}


def test_query_without_payload_is_refused(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str, in_turn: InTurn
) -> None:
    key = to_global_id("Webhook", make_webhook(ports, owner[0], query=GOOD))

    def create(query: str) -> Any:
        return api.run(CREATE, owner[1], input={"targetUrl": TARGET, "query": query})

    def change(query: str) -> Any:
        return api.run(UPDATE, owner[1], id=key, input={"query": query})

    def try_out(query: str) -> Any:
        return api.run(DRY_RUN, manager, told=query)

    for query, code in QUERIES:
        for act in in_turn([create, change, try_out]):
            # A dry run has no code of its own for what asks too much.
            expected = "GRAPHQL_ERROR" if (code, act) == ("INVALID", try_out) else code
            assert problems(act(query)) == [("query", expected)], (act.__name__, query)
    assert stored(ports) == [(TARGET, GOOD)]


def test_invalid_object_id_is_refused(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str
) -> None:
    make_product(ports)
    webhook = to_global_id("Webhook", make_webhook(ports, owner[0], query=GOOD))
    for id_, code in IDS:
        tried = api.run(DRY_RUN, manager, told=GOOD, id=id_)
        assert problems(tried) == [("objectId", code)], id_
        sent = api.run(TRIGGER, manager, webhook=webhook, id=id_)
        assert problems(sent) == [("objectId", code)], id_
    assert deliveries(ports) == []


def test_payload_without_permission_fails_with_the_reason(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str
) -> None:
    query = """subscription { event { ... on CustomerUpdated {
        user { email orders(first: 1) { edges { node { id } } } } } } }"""
    customer = make_user(ports, "ann@example.com")
    made = api.run(CREATE, owner[1], input={"targetUrl": TARGET, "query": query})
    assert made["errors"] == []
    happen(ports, CustomerUpdated(customer))
    fan_out_events(ports, WORKER)

    (failed,) = deliveries(ports)
    assert (failed.status, failed.payload) == ("FAILED", "")
    assert "MANAGE_ORDERS" in failed.given_up
    app = to_global_id("App", owner[0])
    tried = api.run(DRY_RUN, manager, told=query, id=to_global_id("User", customer), app=app)
    assert (tried["payload"], problems(tried)) == (None, [("query", "GRAPHQL_ERROR")])


def test_event_is_not_sent_after_losing_its_permission(
    api: ApiClient, ports: Ports, manager: str
) -> None:
    app, _ = make_app(ports, "till")
    webhook = make_webhook(ports, app, EventType.PRODUCT_UPDATED, query=GOOD)
    product = product_id(make_product(ports))

    sent = api.run(TRIGGER, manager, webhook=to_global_id("Webhook", webhook), id=product)

    assert problems(sent) == [(None, "MISSING_PERMISSION")]
    assert deliveries(ports) == []
