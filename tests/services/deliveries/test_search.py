"""Deliveries of all webhooks, found by webhook, event, state, answer, time, object and text."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest, Range, read_cursor
from app.ports import Ports
from app.services.deliveries import lists as delivery_search
from app.services.deliveries.lists import NO_ANSWER, DeliverySearch, search_deliveries
from tests.builders.apps import make_app
from tests.builders.orders import make_cart
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import plans, recorded_statements, selects
from tests.services.error_codes import codes

pytestmark = pytest.mark.both_databases

PAGE = PageRequest(10)


def change(ports: Ports, key: int, **values: object) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.Delivery).where(models.Delivery.id == key).values(**values))


@pytest.fixture
def shop(ports: Ports, clock: FakeClock) -> dict[str, int]:
    """Four deliveries to two webhooks of two apps, an hour between each."""
    app, _ = make_app(ports, "Warehouse")
    till, _ = make_app(ports, "Till")
    hook, other = make_webhook(ports, app), make_webhook(ports, till)
    cart = make_cart(ports)
    made = {}
    for name, webhook in (("good", hook), ("bad", hook), ("mute", other), ("cart", other)):
        made[name] = make_delivery(ports, webhook, payload=f'{{"name": "{name} 50%"}}')
        clock.pass_(hours=1)
    change(ports, made["good"], status="SUCCESS", response_status=200, attempts=1, subject_id=7)
    change(ports, made["bad"], status="FAILED", response_status=500, attempts=10)
    change(ports, made["mute"], attempts=2)
    change(ports, made["cart"], event="CHECKOUT_CREATED", subject_id=cart.id, given_up="Off.")
    return made | {"hook": hook, "app": app, "cart_id": cart.id}


def found(ports: Ports, **conditions: object) -> list[int]:
    search = replace(DeliverySearch(), **conditions)  # type: ignore[arg-type]
    return [delivery.id for delivery in search_deliveries(ports, OPERATOR, PAGE, search).items]


def keys(shop: dict[str, int], names: Sequence[str]) -> list[int]:
    return [shop[name] for name in names]


SEARCHES: tuple[tuple[dict[str, object], list[str]], ...] = (
    ({}, ["cart", "mute", "bad", "good"]),
    ({"event": EventType.CHECKOUT_CREATED}, ["cart"]),
    ({"status": DeliveryStatus.PENDING}, ["cart", "mute"]),
    ({"response_status": 500}, ["bad"]),
    ({"response_status": NO_ANSWER}, ["mute"]),
    ({"object_id": to_global_id("Product", 7)}, ["good"]),
    ({"object_id": to_global_id("Order", 7)}, []),
    ({"text": "BAD 50%"}, ["bad"]),
    ({"text": "50_"}, []),
    ({"text": "off."}, ["cart"]),
    ({"text": "\0"}, []),
    ({"text": "50%", "status": DeliveryStatus.SUCCESS}, ["good"]),
)
"""Conditions, and the deliveries that meet them."""


def test_deliveries_are_searched_by_their_fields(ports: Ports, shop: dict[str, int]) -> None:
    for conditions, names in SEARCHES:
        assert found(ports, **conditions) == keys(shop, names), conditions


def test_deliveries_are_found_by_webhook_app_and_time(ports: Ports, shop: dict[str, int]) -> None:
    assert found(ports, webhook_id=shop["hook"]) == keys(shop, ["bad", "good"])
    assert found(ports, app_id=shop["app"], text="name") == keys(shop, ["bad", "good"])
    assert found(ports, created=Range(None, START)) == keys(shop, ["good"])
    assert found(ports, created=Range(START.replace(hour=14), None)) == keys(
        shop, ["cart", "mute"]
    )


def test_cart_is_searched_and_listed_by_its_global_id(ports: Ports, shop: dict[str, int]) -> None:
    (line,) = search_deliveries(
        ports, OPERATOR, PAGE, DeliverySearch(event=EventType.CHECKOUT_CREATED)
    ).items
    assert line.object_id.startswith(to_global_id("Checkout", "")[:10])
    assert found(ports, object_id=line.object_id) == keys(shop, ["cart"])
    assert found(ports, object_id=to_global_id("Checkout", "nobody's")) == []


@cases("id_", ["garbage", to_global_id("Plugin", 1), to_global_id("Product", "x"), "\0"])
def test_invalid_id_is_refused(ports: Ports, id_: str) -> None:
    with pytest.raises(Refused) as refused:
        found(ports, object_id=id_)
    assert codes(refused) == [("objectId", "INVALID_ID")]


def test_webhook_id_finds_its_delivery(ports: Ports, shop: dict[str, int]) -> None:
    (line,) = search_deliveries(ports, OPERATOR, PAGE, DeliverySearch(text="bad 50%")).items
    assert found(ports, text=line.message_id) == keys(shop, ["bad"])


def test_text_search_covers_only_the_newest_deliveries(
    ports: Ports, shop: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_search, "MAX_SEARCHED", 2)
    assert found(ports, text="50%") == keys(shop, ["cart", "mute"])
    assert found(ports, text="50%", webhook_id=shop["hook"]) == keys(shop, ["bad", "good"])


@pytest.mark.parametrize("by_webhook", [True, False])
def test_consecutive_pages_cost_one_statement_each(
    ports: Ports, shop: dict[str, int], by_webhook: bool
) -> None:
    search = DeliverySearch(webhook_id=shop["hook"] if by_webhook else None)
    with recorded_statements() as statements:
        first = search_deliveries(ports, OPERATOR, PageRequest(1), search)
    assert len(selects(statements)) == 1
    cursor = read_cursor(first.cursors[0], "after")
    rest = search_deliveries(ports, OPERATOR, PageRequest(5, cursor=cursor), search)

    names = ["bad", "good"] if by_webhook else ["cart", "mute", "bad", "good"]
    assert [item.id for item in (*first.items, *rest.items)] == keys(shop, names)


def test_apps_cannot_search_all_deliveries(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    with pytest.raises(PermissionDenied):
        search_deliveries(ports, app, PAGE, DeliverySearch())


NONE = EventType.ORDER_CANCELLED


@cases(
    ("conditions", "index"),
    [
        ({"object_id": to_global_id("Product", 7)}, "subject_id (subject_id=?)"),
        ({"event": NONE}, "event (event=?)"),
        ({"event": NONE, "oldest_first": True}, "event (event=?)"),
        ({"event": NONE, "status": DeliveryStatus.SUCCESS}, "event (event=?)"),
        ({"event": NONE, "status": DeliveryStatus.PENDING}, "state (status=?)"),
        ({"event": NONE, "text": "zebra"}, "event (event=?)"),
        ({"response_status": 418}, "answered (response_status=?)"),
        ({"response_status": NO_ANSWER}, "unanswered"),
    ],
)
def test_unrequested_conditions_are_not_evaluated(
    sqlite_url: str, clock: FakeClock, conditions: dict[str, object], index: str
) -> None:
    ports = fake_ports(sqlite_url, clock)
    with recorded_statements() as statements:
        assert found(ports, **conditions) == []
    [query] = [statement for statement in selects(statements) if "deliveries" in statement]
    steps = plans(ports, [query])
    assert any(f"deliveries USING INDEX ix_deliveries_{index}" in step for step in steps), steps
