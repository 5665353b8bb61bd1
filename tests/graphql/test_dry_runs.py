"""A dry run of any event shows the bytes that a delivery carries once the event has happened."""

import json
from collections import defaultdict
from collections.abc import Sequence

import pytest
from sqlalchemy import delete, func, select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import (
    EVENTS,
    AccountConfirmed,
    AccountDeleted,
    AppDeleted,
    CheckoutUpdated,
    CustomerUpdated,
    Deletion,
    Event,
    EventType,
    OrderPaid,
    PermissionGroupDeleted,
    ProductDeleted,
    StaffSetPasswordRequested,
    StaffUpdated,
    Subject,
    default_kinds,
    default_query,
)
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.dry_runs import dry_run_webhook, sample_payload, trigger_webhook
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.publisher import add_event, decrypted_payload
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff, make_user
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import make_webhook
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements
from tests.graphql.sample_objects import SampleObject, delete_sample_object, make_sample_object
from tests.services.error_codes import codes

_BELONGING = {
    "User": "user { permissionGroups { name } orders(first: 1) { edges { node { id } } } "
    "checkouts(first: 1) { edges { node { id } } } userPermissions { code } }",
    "Group": "permissionGroup { users { email } permissions { code } }",
    "App": "app { permissions { code } extensions { id } }",
}
"""What belongs to an object beside its own fields."""


def about_the_same() -> list[list[type[Event]]]:
    """Return all events, those of one object together: its deletion is the last."""
    found: dict[Subject, list[type[Event]]] = defaultdict(list)
    for kind in sorted(EVENTS.values(), key=lambda kind: issubclass(kind, Deletion)):
        found[kind.subject].append(kind)
    return [*found.values()]


@pytest.fixture
def manager(ports: Ports) -> Actor:
    return actor_of(ports, make_user(ports, "boss@example.com", is_superuser=True))


@pytest.fixture
def listener(ports: Ports) -> int:
    return make_app(ports, "listener", *ALL_PERMISSIONS)[0]


def query_of(kind: type[Event]) -> str:
    """A query that asks for all that there is to tell."""
    everything = f"{kind.selection} {_BELONGING.get(kind.subject.type, '')}"
    # Who deletes an account is gone with it.
    principal = "" if kind.type is EventType.ACCOUNT_DELETED else "issuingPrincipal { __typename }"
    return (
        f"subscription {{ event {{ version {principal} recipient {{ name }} "
        f"... on {kind.__name__} {{ {everything} }} }} }}"
    )


def happen(ports: Ports, manager: Actor, kind: type[Event], sample: SampleObject) -> None:
    if issubclass(kind, Deletion):
        delete_sample_object(ports, manager, kind.type, sample)
        return
    with ports.database.transaction() as session:
        add_event(ports, manager, session, kind(sample.key))


def bodies(ports: Ports) -> Sequence[str]:
    with ports.database.reading() as session:
        stored = session.scalars(select(models.Delivery.payload).order_by(models.Delivery.id))
        return [decrypted_payload(ports, payload) for payload in stored]


def rows(ports: Ports) -> list[int | None]:
    with ports.database.reading() as session:
        return [
            session.scalar(select(func.count()).select_from(table))
            for table in (models.Delivery, models.OutboxEvent, models.AuditEntry)
        ]


@pytest.mark.parametrize("kinds", about_the_same(), ids=lambda kinds: kinds[0].subject.heading)
def test_dry_run_equals_the_later_delivery_and_writes_nothing(
    ports: Ports, manager: Actor, listener: int, kinds: list[type[Event]]
) -> None:
    sample, app = make_sample_object(ports, kinds[0]), to_global_id("App", listener)
    with ports.database.transaction() as session:
        session.execute(delete(models.OutboxEvent))
    for kind in kinds:
        query, before = query_of(kind), rows(ports)
        with recorded_statements() as statements:
            both = dry_run_webhook(ports, manager, query=query, object_id=sample.id, app=app)
            newest = dry_run_webhook(ports, manager, query=query, app=app)
        assert rows(ports) == before
        assert statements
        assert not [
            statement
            for statement in statements
            if statement.startswith(("INSERT", "UPDATE", "DELETE"))
        ]

        delivered = len(bodies(ports))
        make_webhook(ports, listener, EventType(kind.type.value), query=query)
        happen(ports, manager, kind, sample)
        fan_out_events(ports, WORKER)

        assert bodies(ports)[delivered:] == [both.payload]
        assert both.event is kind.type
        assert newest == both
        assert sample.id in both.payload


@cases("kind", default_kinds())
def test_id_without_query_uses_the_default_query(
    ports: Ports, manager: Actor, kind: type[Event]
) -> None:
    sample = make_sample_object(ports, kind)

    by_id = dry_run_webhook(ports, manager, object_id=sample.id)

    assert by_id == dry_run_webhook(ports, manager, query=default_query(kind), object_id=sample.id)


@cases(
    "kind",
    [
        AccountDeleted,
        AppDeleted,
        ProductDeleted,
        PermissionGroupDeleted,
        CheckoutUpdated,
        OrderPaid,
    ],
)
def test_triggered_delivery_equals_the_dry_run(
    ports: Ports, manager: Actor, listener: int, kind: type[Event]
) -> None:
    sample = make_sample_object(ports, kind)
    query, app = default_query(kind), to_global_id("App", listener)
    shown = dry_run_webhook(ports, manager, query=query, object_id=sample.id, app=app)
    hook = make_webhook(ports, listener, query=query)
    by_events = make_webhook(ports, listener, EventType(kind.type.value))

    for webhook in (hook, by_events):
        sent = trigger_webhook(ports, manager, to_global_id("Webhook", webhook), sample.id)
        assert (sent.payload, sent.event) == (shown.payload, kind.type.value)


def test_one_of_several_events_is_triggered(ports: Ports, manager: Actor, listener: int) -> None:
    make_sample_object(ports, OrderPaid)
    events = (EventType.ORDER_CREATED, EventType.ORDER_PAID)
    webhook = to_global_id("Webhook", make_webhook(ports, listener, *events))
    assert trigger_webhook(ports, manager, webhook).event == "ORDER_CREATED"
    sent = trigger_webhook(ports, manager, webhook, event=EventType.ORDER_PAID)
    assert sent.event == "ORDER_PAID"
    with pytest.raises(Refused) as refused:
        trigger_webhook(ports, manager, webhook, event=EventType.PRODUCT_UPDATED)
    assert codes(refused) == [("event", "MISSING_EVENT")]


def test_query_without_id_uses_the_newest_object(
    ports: Ports, manager: Actor, listener: int
) -> None:
    by_query = make_webhook(ports, listener, query=default_query(ProductDeleted))
    by_events = make_webhook(ports, listener, EventType.PRODUCT_DELETED)
    with pytest.raises(Refused) as refused:
        trigger_webhook(ports, manager, to_global_id("Webhook", by_query))
    assert codes(refused) == [("objectId", "NOT_FOUND")]

    make_product(ports, "Ash tray")
    newest = product_id(make_product(ports, "Birch spoon"))
    for webhook in (by_query, by_events):
        sent = trigger_webhook(ports, manager, to_global_id("Webhook", webhook))
        assert json.loads(sent.payload)["product"]["id"] == newest


def test_dry_run_without_a_matching_object_is_reported(ports: Ports) -> None:
    for kind in EVENTS.values():
        if kind.subject.type in ("Channel", "Shop"):
            continue  # there is always one
        with pytest.raises(Refused) as refused:
            dry_run_webhook(ports, OPERATOR, query=default_query(kind))
        assert codes(refused) == [("objectId", "NOT_FOUND")]
        assert "to preview yet. Create one first." in str(refused.value)


def test_dry_run_of_a_link_event_has_no_token(ports: Ports, manager: Actor) -> None:
    sample = make_sample_object(ports, StaffSetPasswordRequested)
    ran = dry_run_webhook(
        ports, manager, query=default_query(StaffSetPasswordRequested), object_id=sample.id
    )
    assert json.loads(ran.payload)["token"] == ""


def test_sample_payload_is_about_the_newest_object(ports: Ports) -> None:
    key, _ = make_app(ports, "shelves", Permission.MANAGE_PRODUCTS, Permission.MANAGE_USERS)
    app = Actor(
        ActorKind.APP,
        app_id=key,
        permissions=frozenset({Permission.MANAGE_PRODUCTS, Permission.MANAGE_USERS}),
    )
    assert sample_payload(ports, app, EventType.PRODUCT_CREATED) is None
    make_product(ports, "Cup")
    make_product(ports, "Bowl")
    for event in (EventType.PRODUCT_CREATED, EventType.PRODUCT_DELETED):
        shown = sample_payload(ports, app, event)
        assert shown is not None
        assert json.loads(shown)["product"]["name"] == "Bowl"
    assert sample_payload(ports, app, "GIFT_CARD_CREATED") is None
    with pytest.raises(PermissionDenied):
        sample_payload(ports, app, EventType.ORDER_CREATED)


def test_sample_payload_shows_no_link_and_nobody_beyond_the_caller(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    make_staff(ports, "boss@example.com")
    key, _ = make_app(ports, "letters", Permission.MANAGE_USERS)
    app = Actor(ActorKind.APP, app_id=key, permissions=frozenset({Permission.MANAGE_USERS}))
    shown = sample_payload(ports, app, EventType.ACCOUNT_SET_PASSWORD_REQUESTED)
    assert shown is not None
    assert "ann@example.com" in shown
    assert "boss@example.com" not in shown
    assert json.loads(shown)["token"] == ""


def test_dry_run_of_a_person_needs_the_permission(ports: Ports) -> None:
    customer = to_global_id("User", make_user(ports, "ann@example.com"))
    staff = to_global_id("User", make_staff(ports, "bob@example.com"))
    client = actor_of(ports, make_staff(ports, "desk@example.com", Permission.MANAGE_USERS))
    chief = actor_of(ports, make_staff(ports, "chief@example.com", Permission.MANAGE_STAFF))

    for actor, kind, id_ in (
        (client, CustomerUpdated, staff),
        (client, AccountConfirmed, staff),
        (chief, StaffUpdated, customer),
    ):
        with pytest.raises(Refused) as refused:
            dry_run_webhook(ports, actor, query=default_query(kind), object_id=id_)
        assert codes(refused) == [("objectId", "NOT_FOUND")]
    newest = dry_run_webhook(ports, client, query=default_query(AccountConfirmed))
    assert customer in newest.payload


def test_dry_run_picks_the_event_of_the_object(ports: Ports, manager: Actor) -> None:
    query = """subscription { event {
        ... on StaffUpdated { user { id } } ... on ProductDeleted { product { id } }
        ... on CustomerUpdated { user { id } } } }"""
    product = make_sample_object(ports, ProductDeleted)
    customer = to_global_id("User", make_user(ports, "ann@example.com"))

    for id_, event in (
        (product.id, EventType.PRODUCT_DELETED),
        (customer, EventType.CUSTOMER_UPDATED),
    ):
        assert dry_run_webhook(ports, manager, query=query, object_id=id_).event is event


def test_dry_run_names_the_missing_permission(ports: Ports, manager: Actor) -> None:
    product = make_sample_object(ports, ProductDeleted)
    key, _ = make_app(ports, "till")
    webhook = to_global_id("Webhook", make_webhook(ports, key, EventType.PRODUCT_DELETED))

    with pytest.raises(Refused) as refused:
        dry_run_webhook(ports, manager, object_id=product.id, app=to_global_id("App", key))
    assert codes(refused) == [(None, "MISSING_PERMISSION")]
    assert "The app till needs MANAGE_PRODUCTS" in str(refused.value)
    with pytest.raises(Refused) as refused:
        trigger_webhook(ports, manager, webhook, product.id)
    assert codes(refused) == [(None, "MISSING_PERMISSION")]


def test_any_events_webhook_can_be_triggered_with_any_object(
    ports: Ports, manager: Actor, listener: int
) -> None:
    webhook = to_global_id("Webhook", make_webhook(ports, listener, EventType.ANY_EVENTS))
    order = make_sample_object(ports, OrderPaid)
    assert trigger_webhook(ports, manager, webhook, order.id).event == "ORDER_CREATED"
    deaf = to_global_id("Webhook", make_webhook(ports, listener))
    with pytest.raises(Refused) as refused:
        trigger_webhook(ports, manager, deaf, order.id)
    assert codes(refused) == [("webhookId", "MISSING_QUERY")]
