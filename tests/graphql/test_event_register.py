"""The register of events is complete: each has a type, a default, and a use case that tells it."""

import json
from collections.abc import Callable

import pytest
from graphql import GraphQLObjectType
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.events import (
    EVENTS,
    CheckoutUpdated,
    Deletion,
    Event,
    Occurrence,
    OrderPaid,
    ProductUpdated,
    default_query,
)
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.graphql.payloads import SchemaPayloads
from app.graphql.schema import schema
from app.ports import Ports
from app.services.deliveries.dry_runs import dry_run_webhook
from app.services.deliveries.fanout import read_event
from tests.builders.apps import make_app
from tests.builders.limits import default_limits
from tests.builders.orders import checkout_id, make_cart, make_order, order_id
from tests.builders.people import actor_of, make_user
from tests.builders.products import make_product, product_id
from tests.fixtures.cases import cases
from tests.graphql import event_scenarios
from tests.services.error_codes import codes
from tests.spec.floor import floor

SCENARIOS: dict[Callable[[Ports], None], str] = {
    event_scenarios.accounts: """
        ACCOUNT_CONFIRMATION_REQUESTED ACCOUNT_CHANGE_EMAIL_REQUESTED ACCOUNT_EMAIL_CHANGED
        ACCOUNT_SET_PASSWORD_REQUESTED ACCOUNT_CONFIRMED ACCOUNT_DELETE_REQUESTED ACCOUNT_DELETED
        CUSTOMER_CREATED CUSTOMER_UPDATED CUSTOMER_DELETED
    """,
    event_scenarios.confirmation: """
        ACCOUNT_CONFIRMATION_REQUESTED ACCOUNT_CONFIRMED
    """,
    event_scenarios.apps: "APP_INSTALLED APP_UPDATED APP_DELETED APP_STATUS_CHANGED",
    event_scenarios.people: """
        CUSTOMER_CREATED CUSTOMER_UPDATED CUSTOMER_DELETED
        STAFF_CREATED STAFF_UPDATED STAFF_DELETED STAFF_SET_PASSWORD_REQUESTED
        PERMISSION_GROUP_CREATED PERMISSION_GROUP_UPDATED PERMISSION_GROUP_DELETED
    """,
    event_scenarios.addresses: "ADDRESS_CREATED ADDRESS_UPDATED ADDRESS_DELETED CUSTOMER_UPDATED",
    event_scenarios.metadata: """
        CUSTOMER_UPDATED CUSTOMER_METADATA_UPDATED SHOP_METADATA_UPDATED
    """,
    event_scenarios.channels: """
        CHANNEL_CREATED CHANNEL_UPDATED CHANNEL_DELETED CHANNEL_STATUS_CHANGED
        CHANNEL_METADATA_UPDATED
    """,
    event_scenarios.products: "PRODUCT_CREATED PRODUCT_UPDATED PRODUCT_DELETED",
    event_scenarios.sales: """
        CHECKOUT_CREATED CHECKOUT_UPDATED
        ORDER_CREATED ORDER_CONFIRMED ORDER_PAID ORDER_UPDATED ORDER_CANCELLED ORDER_FULFILLED
    """,
}
"""Which events each scene tells, and no others."""


def outbox_events(ports: Ports) -> list[Event]:
    """The events in the outbox, the oldest first."""
    with ports.database.reading() as session:
        notes = session.scalars(select(models.OutboxEvent).order_by(models.OutboxEvent.id)).all()
    return [read_event(ports, note) for note in notes]


def test_event_register_has_the_public_catalogue() -> None:
    catalogue = floor().get_type("WebhookEventTypeAsyncEnum")
    names = set(getattr(catalogue, "values", {})) - {"ANY_EVENTS"}
    assert names <= {event.value for event in EVENTS}


@cases("event", EVENTS.values())
def test_every_event_has_a_type_with_the_fields_of_every_event(event: type[Event]) -> None:
    found = schema.graphql_schema.type_map[event.__name__]
    assert isinstance(found, GraphQLObjectType)
    assert [interface.name for interface in found.interfaces] == ["Event"]
    assert found.description == event.description


@cases("event", EVENTS.values())
def test_every_events_default_selection_is_a_query_of_that_event(event: type[Event]) -> None:
    checked = SchemaPayloads(schema.graphql_schema, default_limits()).check(default_query(event))
    assert checked == (event.type,)


def test_every_event_is_published_by_a_use_case() -> None:
    assert {name for names in SCENARIOS.values() for name in names.split()} == set(EVENTS)


@pytest.mark.parametrize("scene", SCENARIOS, ids=lambda scene: scene.__name__)
def test_every_published_event_renders_a_payload(
    ports: Ports, scene: Callable[[Ports], None]
) -> None:
    key, _ = make_app(ports, "listener", *ALL_PERMISSIONS)
    listener = Actor(ActorKind.APP, app_id=key, permissions=ALL_PERMISSIONS)
    scene(ports)
    events = outbox_events(ports)
    assert {event.type.value for event in events} == set(SCENARIOS[scene].split())
    shown = set()
    for event in events:
        occurrence = Occurrence(event, ports.clock.now(), recipient_id=key)
        text = ports.payloads.make(ports, listener, default_query(type(event)), occurrence)
        payload = json.loads(text)
        subject = next(iter(payload.values()))
        if subject is not None:
            shown.add(event.type.value)
            assert subject["id"]
        if isinstance(event, Deletion):
            assert subject is not None, "there is nothing left to read but the snapshot"
    assert shown == set(SCENARIOS[scene].split())


def test_dry_run_finds_products_carts_and_orders(ports: Ports) -> None:
    manager = actor_of(ports, make_user(ports, "boss@example.com", is_superuser=True))
    order, cart = make_order(ports), make_cart(ports)
    product = product_id(make_product(ports, "Bowl", is_published=False))
    for id_, kind, field in (
        (product, ProductUpdated, "product"),
        (checkout_id(cart), CheckoutUpdated, "checkout"),
        (order_id(order), OrderPaid, "order"),
    ):
        by_id = dry_run_webhook(ports, manager, object_id=id_)
        assert json.loads(by_id.payload)[field]["id"] == id_
        newest = dry_run_webhook(ports, manager, query=default_query(kind))
        both = dry_run_webhook(ports, manager, object_id=id_, query=default_query(kind))
        assert json.loads(newest.payload)[field]["id"] == id_
        assert newest == both


def test_dry_run_of_a_missing_object_is_refused(ports: Ports) -> None:
    manager = actor_of(ports, make_user(ports, "boss@example.com", is_superuser=True))
    make_cart(ports)
    unknown_carts = (to_global_id("Checkout", 1), to_global_id("Checkout", "\0"))
    for id_ in (product_id(4711), order_id(4711), *unknown_carts):
        with pytest.raises(Refused) as refused:
            dry_run_webhook(ports, manager, object_id=id_)
        assert codes(refused) == [("objectId", "NOT_FOUND")], id_
