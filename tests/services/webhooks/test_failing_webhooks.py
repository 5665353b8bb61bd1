"""Webhooks whose endpoints fail, or that were switched off for it; the navigation's numbers."""

from dataclasses import replace

import pytest

from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.console.saved_filters import Badges, show_badges
from app.services.deliveries.attempt_results import GONE_REASON
from app.services.webhooks.failing_webhooks import list_failing_webhooks
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt, store_deliveries
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff, make_user
from tests.builders.webhooks import TARGET, change_webhook, make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

PENDING, SUCCESS = DeliveryStatus.PENDING, DeliveryStatus.SUCCESS


def test_failing_webhook_is_listed_with_its_last_response(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports, "Stocksync")
    make_webhook(ports, app_id)
    failing = make_webhook(ports, app_id)
    since = clock.now()
    change_webhook(ports, failing, failing_since=since, name="Stock feed")
    (older,) = store_deliveries(ports, failing, SUCCESS)
    store_attempt(ports, older)
    (tried,) = store_deliveries(ports, failing, PENDING, attempts=2)
    store_attempt(ports, tried, answered=500)
    clock.pass_(minutes=5)
    store_attempt(ports, tried, answered=503)
    store_deliveries(ports, failing, PENDING, attempts=0, count=3)
    (webhook,) = list_failing_webhooks(ports, OPERATOR)
    assert (webhook.id, webhook.name, webhook.app_id, webhook.app_name) == (
        failing,
        "Stock feed",
        app_id,
        "Stocksync",
    )
    assert (webhook.target_url, webhook.failing_since) == (TARGET, since)
    assert webhook.last_status == 503
    assert webhook.disabled_reason == ""


def test_failing_webhooks_come_before_disabled_ones(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports)
    late, gone, early = (make_webhook(ports, app_id) for _ in range(3))
    change_webhook(ports, gone, is_active=False, disabled_reason=GONE_REASON)
    change_webhook(ports, early, failing_since=clock.now())
    clock.pass_(hours=1)
    change_webhook(ports, late, failing_since=clock.now())
    listed = list_failing_webhooks(ports, OPERATOR)
    assert [webhook.id for webhook in listed] == [early, late, gone]
    assert listed[2].disabled_reason == GONE_REASON
    assert listed[2].last_status is None
    assert [webhook.id for webhook in list_failing_webhooks(ports, OPERATOR, limit=1)] == [early]


def test_manually_disabled_webhook_is_not_failing(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports)
    change_webhook(ports, make_webhook(ports, app_id), is_active=False, failing_since=clock.now())
    assert list_failing_webhooks(ports, OPERATOR) == ()


def test_failing_webhooks_require_manage_apps(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        list_failing_webhooks(ports, NOBODY)


@pytest.mark.both_databases
def test_badges_are_counted_in_one_statement(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports)
    change_webhook(ports, make_webhook(ports, app_id), failing_since=clock.now())
    change_webhook(
        ports, make_webhook(ports, app_id), is_active=False, disabled_reason=GONE_REASON
    )
    make_webhook(ports, app_id)
    ports.throttle.fail(ADDRESS, "", make_user(ports), clock.timestamp())
    with recorded_statements() as statements:
        badges = show_badges(ports, OPERATOR)
    assert badges == Badges(webhooks=2, blocked_ips=1)
    assert len(selects(statements)) == 1
    clock.pass_(seconds=5)
    assert show_badges(ports, OPERATOR).blocked_ips == 0


def test_badges_hide_what_the_caller_cannot_see(ports: Ports) -> None:
    apps = actor_of(ports, make_staff(ports, "a@example.com", Permission.MANAGE_APPS))
    staff = actor_of(ports, make_staff(ports, "s@example.com", Permission.MANAGE_STAFF))
    other = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS))
    assert show_badges(ports, apps) == Badges(webhooks=0)
    assert show_badges(ports, staff) == Badges(blocked_ips=0)
    assert show_badges(ports, other) == Badges()
    with pytest.raises(PermissionDenied):
        show_badges(ports, NOBODY)


def test_page_is_shown_while_counters_are_unreadable(ports: Ports) -> None:
    without = replace(ports, throttle=connect_redis_throttle("unix:///nowhere/redis.sock"))
    assert show_badges(without, OPERATOR) == Badges(webhooks=0, blocked_ips=None)
