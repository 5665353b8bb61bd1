"""The webhooks of all apps, found and with their health, without a secret."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.apps.app_lists import list_webhooks_of_app
from app.services.webhooks.lists import (
    Health,
    ListedWebhook,
    WebhookFilter,
    list_webhooks,
    show_listed_webhook,
    show_webhook,
    webhooks_of_apps,
)
from tests.builders.apps import change_app, make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

PAGE = PageRequest(10)


def change(ports: Ports, key: int, **values: object) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.Webhook).where(models.Webhook.id == key).values(**values))


def listed(ports: Ports, **conditions: object) -> list[ListedWebhook]:
    filtered = replace(WebhookFilter(), **conditions)  # type: ignore[arg-type]
    return list(list_webhooks(ports, OPERATOR, PAGE, filtered).items)


@pytest.fixture
def shop(ports: Ports, clock: FakeClock) -> dict[str, int]:
    """Three webhooks of two apps: one fails, one is disabled."""
    warehouse, _ = make_app(ports, "Warehouse")
    till, _ = make_app(ports, "Till")
    change_app(ports, till, is_active=False)
    keys = {
        "good": make_webhook(ports, warehouse, EventType.ANY_EVENTS, secret="sesame"),
        "failing": make_webhook(
            ports, warehouse, EventType.ORDER_PAID, target_url="https://b.example/%_hook"
        ),
        "disabled": make_webhook(ports, till, EventType.PRODUCT_UPDATED, query="subscription"),
    }
    change(ports, keys["failing"], failing_since=clock.now(), last_failure="HTTP 500")
    change(ports, keys["disabled"], is_active=False, disabled_reason="Gone.", name="Third")
    return keys


def test_webhooks_are_listed_with_app_and_events(ports: Ports, shop: dict[str, int]) -> None:
    disabled, failing, good = listed(ports)

    assert [webhook.id for webhook in (good, failing, disabled)] == list(shop.values())
    assert (good.app_name, good.has_secret, good.has_query) == ("Warehouse", True, False)
    assert good.events == (EventType.ANY_EVENTS,)
    assert (failing.last_failure, failing.failing_since) == ("HTTP 500", ports.clock.now())
    assert (disabled.is_active, disabled.is_app_active, disabled.disabled_reason) == (
        False,
        False,
        "Gone.",
    )
    assert "sesame" not in repr(good)


def test_events_are_in_one_order_without_those_of_a_later_version(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Later")
    order = EventType.CHANNEL_UPDATED, EventType.CHANNEL_DELETED, EventType.ORDER_PAID
    key = make_webhook(ports, app_id, *reversed(order))
    with ports.database.transaction() as session:
        session.add(models.WebhookEvent(webhook_id=key, event="AN_EVENT_OF_A_LATER_VERSION"))
    one, shown = show_listed_webhook(ports, OPERATOR, key), show_webhook(ports, OPERATOR, key)
    assert one is not None
    assert shown is not None
    (of_app,) = list_webhooks_of_app(ports, OPERATOR, app_id)
    (with_secret,) = webhooks_of_apps(ports, OPERATOR, [app_id])[app_id]
    found = [tuple(webhook.events) for webhook in (one, shown, of_app, with_secret)]
    assert found == [order] * 4


@cases(
    ("conditions", "found"),
    [
        ({"search": "third"}, ["disabled"]),
        ({"search": "%_"}, ["failing"]),
        ({"search": "ware"}, ["failing", "good"]),
        ({"search": "\0"}, []),
        ({"is_active": False}, ["disabled"]),
        ({"event": EventType.ORDER_PAID}, ["failing", "good"]),
        ({"is_failing": True}, ["disabled", "failing"]),
        ({"app_id": 4711}, []),
    ],
)
def test_webhooks_are_searched_by_their_fields(
    ports: Ports, shop: dict[str, int], conditions: dict[str, object], found: list[str]
) -> None:
    assert [webhook.id for webhook in listed(ports, **conditions)] == [
        shop[name] for name in found
    ]


def test_health_covers_the_last_day(ports: Ports, shop: dict[str, int], clock: FakeClock) -> None:
    make_delivery(ports, shop["good"])
    clock.pass_(hours=25)
    for status in ("SUCCESS", "SUCCESS", "FAILED", "PENDING"):
        key = make_delivery(ports, shop["good"])
        with ports.database.transaction() as session:
            session.get_one(models.Delivery, key).status = status

    good = show_listed_webhook(ports, OPERATOR, shop["good"])
    assert good is not None
    assert good.health == Health(delivered=2, failed=1, waiting=1)
    assert listed(ports, search="third")[0].health == Health()


@pytest.mark.both_databases
def test_page_costs_the_same_statements_for_any_length(ports: Ports, shop: dict[str, int]) -> None:
    with recorded_statements() as statements:
        list_webhooks(ports, OPERATOR, PAGE)
    assert len(selects(statements)) == 2


def test_pages_are_consecutive(ports: Ports, shop: dict[str, int]) -> None:
    first = list_webhooks(ports, OPERATOR, PageRequest(2))
    cursor = read_cursor(first.cursors[-1], "after")
    rest = list_webhooks(ports, OPERATOR, PageRequest(2, cursor=cursor))

    assert [webhook.id for webhook in (*first.items, *rest.items)] == list(shop.values())[::-1]
    assert (first.has_next, rest.has_next, first.count()) == (True, False, 3)


def test_apps_cannot_list_all_webhooks(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    with pytest.raises(PermissionDenied):
        list_webhooks(ports, app, PAGE)
