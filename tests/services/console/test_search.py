"""The search of the console: everything in one, and nothing that one may not see."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.console import search as finding
from app.services.console.search import (
    MAX_HITS_PER_KIND,
    MAX_SEARCH_LENGTH,
    Hit,
    HitKind,
    HitState,
    search_everything,
)
from tests.builders.addresses import make_address
from tests.builders.apps import change_app, make_app
from tests.builders.deliveries import store_attempt
from tests.builders.orders import make_order
from tests.builders.people import NOBODY, actor_of, make_group, make_staff, make_user
from tests.builders.products import make_product
from tests.builders.provider_records import make_provider
from tests.builders.sign_in_events import make_sign_in
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fixtures.cases import cases
from tests.fixtures.statements import plans, recorded_statements, selects


def titles(ports: Ports, text: str) -> list[tuple[str, str]]:
    return [(hit.kind.value, hit.title) for hit in search_everything(ports, OPERATOR, text)]


@pytest.mark.both_databases
def test_items_are_found_by_word_prefixes(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Parcelpost Labels", is_active=False)
    hook = make_webhook(ports, app_id, target_url="https://labels.example/hook")
    make_app(ports, "Other")
    make_group(ports, "Label keepers")
    staff = make_user(ports, "tom@example.com", is_staff=True, last_name="Labelle")
    customer = make_user(ports, "label@example.com", first_name="Anna")
    provider = make_provider(ports, "labels", name="Label ID", active=False)
    assert search_everything(ports, OPERATOR, " LABEL ") == (
        Hit(HitKind.APP, app_id, "Parcelpost Labels", "", HitState.INACTIVE),
        Hit(HitKind.WEBHOOK, hook, "hook", "https://labels.example/hook"),
        Hit(HitKind.STAFF, staff, "Labelle", "tom@example.com"),
        Hit(HitKind.CUSTOMER, customer, "Anna", "label@example.com"),
        Hit(HitKind.GROUP, 1, "Label keepers", ""),
        Hit(HitKind.PROVIDER, provider, "Label ID", "labels", HitState.INACTIVE),
    )
    assert titles(ports, "abel") == [("group", "Label keepers"), ("provider", "Label ID")]


@pytest.mark.both_databases
@cases("text", ["", "  ", "\0", "zzz", "x" * (MAX_SEARCH_LENGTH + 1)])
def test_blank_search_finds_nothing(ports: Ports, text: str) -> None:
    make_app(ports, "x" * (MAX_SEARCH_LENGTH + 2))
    assert search_everything(ports, OPERATOR, text) == ()


@pytest.mark.both_databases
def test_several_words_match_all(ports: Ports) -> None:
    make_app(ports, "Parcelpost Labels")
    make_app(ports, "Parcelpost Tracking")
    make_user(ports, "a@example.com", first_name="Anna", last_name="Berg")
    make_user(ports, "b@example.com", first_name="Anna", last_name="Tal")
    assert titles(ports, "track parcel") == [("app", "Parcelpost Tracking")]
    assert titles(ports, "ann ber") == [("customer", "Anna Berg")]
    assert titles(ports, "anna labels") == []


def test_app_is_not_found_during_installation(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Warehouse")
    change_app(ports, app_id, is_installed=False)
    assert titles(ports, "ware") == []
    change_app(ports, app_id, is_installed=True)
    assert titles(ports, "ware") == [("app", "Warehouse")]


@pytest.mark.both_databases
def test_renamed_items_are_found_by_their_new_name(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Before")
    hook = make_webhook(ports, app_id)
    with ports.database.transaction() as session:
        session.get_one(models.App, app_id).name = "After"
        webhook = session.get_one(models.Webhook, hook)
        webhook.name, webhook.target_url = "afterwards", "not a [url"
    assert titles(ports, "befor") == []
    assert titles(ports, "after") == [("app", "After"), ("webhook", "afterwards")]
    with ports.database.transaction() as session:
        session.delete(session.get_one(models.App, app_id))
    assert titles(ports, "after") == []


def test_results_per_kind_are_limited(ports: Ports) -> None:
    for number in range(MAX_HITS_PER_KIND + 2):
        make_app(ports, f"Label {number}")
        make_user(ports, f"label{number}@example.com")
    kinds = [kind for kind, _ in titles(ports, "label")]
    assert kinds == ["app"] * MAX_HITS_PER_KIND + ["customer"] * MAX_HITS_PER_KIND


def test_a_delivery_is_found_by_its_webhook_id(ports: Ports) -> None:
    app_id, _ = make_app(ports)
    key = make_delivery(ports, make_webhook(ports, app_id))
    with ports.database.reading() as session:
        name = session.scalars(select(models.Delivery.message_id)).one()
    (hit,) = search_everything(ports, OPERATOR, name)
    assert hit == Hit(HitKind.DELIVERY, key, "PRODUCT_UPDATED", name, "PENDING")
    assert search_everything(ports, OPERATOR, str(key)) == (hit,)
    assert search_everything(ports, OPERATOR, name[:-1]) == ()


def test_search_shows_only_what_the_caller_can_see(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Label")
    make_webhook(ports, app_id, target_url="https://label.example/")
    make_group(ports, "Label")
    make_provider(ports, "label")
    make_staff(ports, "label.staff@example.com")
    make_user(ports, "label.customer@example.com")
    seen = {}
    for name in (
        "MANAGE_PRODUCTS",
        "MANAGE_APPS",
        "MANAGE_STAFF",
        "MANAGE_USERS",
        "MANAGE_ORDERS",
        "MANAGE_PLUGINS",
    ):
        actor = actor_of(ports, make_staff(ports, f"{name}@example.com", Permission(name)))
        seen[name] = [hit.kind.value for hit in search_everything(ports, actor, "label")]
    assert seen == {
        "MANAGE_PRODUCTS": ["app"],
        "MANAGE_APPS": ["app", "webhook"],
        "MANAGE_STAFF": ["app", "staff", "group"],
        "MANAGE_USERS": ["app", "customer"],
        "MANAGE_ORDERS": ["app", "customer"],
        "MANAGE_PLUGINS": ["app", "provider"],
    }
    with pytest.raises(PermissionDenied):
        search_everything(ports, NOBODY, "label")


@pytest.mark.both_databases
def test_search_costs_at_most_two_limited_statements(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "_MAX_CANDIDATES", 2)
    for number in range(4):
        make_user(ports, f"{number}@example.com", first_name="Anna", last_name=f"Berg{number}")
    with recorded_statements() as statements:
        search_everything(ports, OPERATOR, "anna")
    assert len(selects(statements)) == 1
    with recorded_statements() as statements:
        assert titles(ports, "anna berg3") == [("customer", "Anna Berg3")]
    assert len(selects(statements)) == 2
    assert len(titles(ports, "anna berg")) == 2


def test_order_is_found_by_its_number(ports: Ports) -> None:
    customer = make_user(ports, "ann@example.com")
    order = make_order(ports, actor_of(ports, customer), make_product(ports, "Bowl"))
    number = str(order.id)
    found = Hit(HitKind.ORDER, customer, number, "ann@example.com", "UNCONFIRMED")
    for text in (number, f"#{number}", to_global_id("Order", order.id), "Ann@example.com"):
        assert found in search_everything(ports, OPERATOR, text)
    staff = actor_of(ports, make_staff(ports, "staff@example.com", Permission.MANAGE_USERS))
    assert search_everything(ports, staff, f"#{number}") == ()
    assert search_everything(ports, OPERATOR, f"#{order.id + 1}") == ()


def test_objects_are_found_by_their_api_id(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Warehouse")
    hook = make_webhook(ports, app_id)
    delivery = make_delivery(ports, hook)
    customer = make_user(ports, "ann@example.com")
    staff = make_user(ports, "tom@example.com", is_staff=True)
    group = make_group(ports, "Support")
    address = make_address(ports, customer)
    attempt = store_attempt(ports, delivery)
    for type_name, key, kind in (
        ("App", app_id, HitKind.APP),
        ("Webhook", hook, HitKind.WEBHOOK),
        ("EventDelivery", delivery, HitKind.DELIVERY),
        ("User", customer, HitKind.CUSTOMER),
        ("User", staff, HitKind.STAFF),
        ("Group", group, HitKind.GROUP),
        ("Address", address, HitKind.CUSTOMER),
        ("EventDeliveryAttempt", attempt, HitKind.DELIVERY),
    ):
        (hit,) = search_everything(ports, OPERATOR, to_global_id(type_name, key))
        found_by = {"Address": customer, "EventDeliveryAttempt": delivery}.get(type_name, key)
        assert (hit.kind, hit.id) == (kind, found_by)
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_PRODUCTS))
    for type_name, key in (
        ("Webhook", hook),
        ("EventDelivery", delivery),
        ("EventDeliveryAttempt", attempt),
        ("User", customer),
        ("Address", address),
    ):
        assert search_everything(ports, clerk, to_global_id(type_name, key)) == ()


def test_ip_address_is_found_by_attempts_to_sign_in_and_blocks(ports: Ports) -> None:
    make_sign_in(ports, address="203.0.113.7", attempts=4)
    make_sign_in(ports, address="203.0.113.7", attempts=2, account_type="STAFF")
    everything = Hit(HitKind.IP_ADDRESS, 0, "203.0.113.7", "", count=6)
    assert search_everything(ports, OPERATOR, "::ffff:203.0.113.7") == (everything,)
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_USERS))
    of_customers = Hit(HitKind.IP_ADDRESS, 0, "203.0.113.7", "", count=4)
    assert search_everything(ports, clerk, "203.0.113.7") == (of_customers,)
    orders = actor_of(ports, make_staff(ports, "orders@example.com", Permission.MANAGE_ORDERS))
    assert search_everything(ports, orders, "203.0.113.7") == ()
    assert search_everything(ports, OPERATOR, "203.0.113.70") == ()
    while not ports.throttle.fail("203.0.113.70", "", None, ports.clock.timestamp()):
        pass
    blocked = Hit(HitKind.IP_ADDRESS, 0, "203.0.113.70", "", HitState.BLOCKED)
    assert search_everything(ports, OPERATOR, "203.0.113.70") == (blocked,)
    assert search_everything(ports, clerk, "203.0.113.70") == ()


_LARGE = {
    "users",
    "user_words",
    "user_words_1",
    "user_words_2",
    "orders",
    "deliveries",
    "delivery_attempts",
    "addresses",
    "sign_in_events",
}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_search_reads_a_large_table_from_end_to_end(ports: Ports) -> None:
    texts = (
        "ann",
        "ann berg",
        "ann@example.com",
        "#1234",
        "203.0.113.7",
        "msg_0123456789",
        *(to_global_id(name, 1) for name in ("User", "Order", "Address", "EventDeliveryAttempt")),
    )
    for words in texts:
        with recorded_statements() as statements:
            search_everything(ports, OPERATOR, words)
        scans = {step for step in plans(ports, selects(statements)) if step.startswith("SCAN ")}
        tables = {step.split()[1] for step in scans}
        assert not tables & _LARGE, (words, scans)
        assert len(selects(statements)) <= 3, words


def test_key_in_a_webhooks_url_is_neither_found_nor_shown(ports: Ports) -> None:
    app, _ = make_app(ports, "Labels")
    url = "https://user:hidden1@hooks.example.com/in?token=hidden2"
    webhook = make_webhook(ports, app, name="Labels", target_url=url)
    manager = actor_of(ports, make_staff(ports, "m@example.com", Permission.MANAGE_APPS))
    found = [
        hit for hit in search_everything(ports, manager, "hooks.example") if hit.id == webhook
    ]
    assert found
    assert "hidden" not in found[0].detail + found[0].title
    for text in ("hidden", "hidden1", "hidden2", "token=hidden2", url):
        assert search_everything(ports, manager, text) == (), text
