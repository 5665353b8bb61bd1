"""The console's first page."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.adapters.activity import SqlActivity
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.mails.mail import LINK_EVENTS, MailKind
from app.domain.shop.settings import PasswordLoginMode, TrafficKind
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.ports.process_cache import CachedProviderKeys
from app.services.console.home import show_overview
from app.services.deliveries import statistics as delivery_days
from tests.builders.app_mail import make_mailing_shop
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt, store_deliveries
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff, make_user, sign_in
from tests.builders.provider_records import ISSUER_THERE, make_provider
from tests.builders.shop import close_storefront, set_mode
from tests.builders.webhooks import change_webhook, make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

PENDING, SUCCESS, FAILED = (DeliveryStatus.PENDING, DeliveryStatus.SUCCESS, DeliveryStatus.FAILED)


@pytest.fixture
def busy(ports: Ports, clock: FakeClock) -> Iterator[Ports]:
    """Ports that write down what they see."""
    activity = SqlActivity(ports.database, clock, 3600.0)
    yield replace(ports, activity=activity)
    activity.close()


@pytest.fixture
def hook(ports: Ports) -> int:
    app_id, _ = make_app(ports, "Stocksync")
    return make_webhook(ports, app_id)


def test_overview_shows_both_switches(ports: Ports, clock: FakeClock) -> None:
    make_provider(ports, name="Northlight ID")
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    close_storefront(ports)
    overview = show_overview(ports, OPERATOR)
    assert overview.at == clock.now()
    assert overview.switches.password_login_mode is PasswordLoginMode.CUSTOMERS_ONLY
    assert not overview.switches.allow_storefront_traffic
    (provider,) = overview.providers
    assert (provider.slug, provider.name, provider.is_active) == ("default", "Northlight ID", True)
    assert (provider.answered_at, provider.is_paused) == (None, False)


def test_provider_is_shown_with_its_last_known_state(ports: Ports, clock: FakeClock) -> None:
    make_provider(ports)
    memory, url = ports.cache.providers, f"{ISSUER_THERE}/keys"
    memory.keys.put(url, CachedProviderKeys((), clock.timestamp()))
    memory.paused.put(url, clock.timestamp() + 5)
    (provider,) = show_overview(ports, OPERATOR).providers
    assert (provider.answered_at, provider.is_paused) == (clock.now(), True)
    assert provider.answered_at == datetime.fromtimestamp(clock.timestamp(), UTC)


def test_deliveries_are_counted_by_hour_of_creation(
    ports: Ports, clock: FakeClock, hook: int
) -> None:
    now = clock.now()
    store_deliveries(ports, hook, SUCCESS, count=6, at=now - timedelta(hours=23, minutes=59))
    store_deliveries(ports, hook, SUCCESS, attempts=3, at=now - timedelta(minutes=90))
    store_deliveries(ports, hook, FAILED, attempts=10, at=now - timedelta(minutes=90))
    store_deliveries(ports, hook, PENDING, attempts=2, at=now - timedelta(minutes=1))
    store_deliveries(ports, hook, PENDING, attempts=0, at=now)
    store_deliveries(ports, hook, SUCCESS, count=4, at=now - timedelta(hours=25))
    store_deliveries(ports, hook, FAILED, count=1, at=now - timedelta(hours=48))
    store_deliveries(ports, hook, FAILED, count=1, at=now - timedelta(hours=48, seconds=1))
    day = show_overview(ports, OPERATOR).deliveries
    assert day is not None
    assert len(day.hours) == 24
    assert day.hours[0].began == now - timedelta(hours=24)
    counts = {
        number: (hour.delivered, hour.not_delivered, hour.waiting)
        for number, hour in enumerate(day.hours)
        if hour.total
    }
    assert counts == {0: (6, 0, 0), 22: (1, 1, 0), 23: (0, 1, 1)}
    assert (day.total, day.delivered, day.not_delivered) == (10, 7, 2)
    assert day.first_try_share == pytest.approx(6 / 9)
    assert (day.day_before.total, day.growth) == (5, 1.0)
    assert day.first_try_share_before == pytest.approx(4 / 5)


def test_day_without_deliveries_has_no_percentages(ports: Ports) -> None:
    day = show_overview(ports, OPERATOR).deliveries
    assert day is not None
    assert (day.total, day.first_try_share, day.growth, day.times) == (0, None, None, None)


def test_response_times_are_shown_with_the_slowest_endpoint(
    ports: Ports, clock: FakeClock, hook: int
) -> None:
    (delivery,) = store_deliveries(ports, hook, SUCCESS)
    app_id, _ = make_app(ports, "Ledgerly")
    other = make_webhook(ports, app_id)
    (slow,) = store_deliveries(ports, other, SUCCESS)
    store_attempt(ports, slow, duration=9.0, at=clock.now() - timedelta(hours=25))
    store_attempt(ports, slow, duration=1.9)
    store_attempt(ports, delivery, duration=20.0, answered=None)
    for duration in (0.1, 0.3, 0.2):
        store_attempt(ports, delivery, duration=duration)
    day = show_overview(ports, OPERATOR).deliveries
    assert day is not None
    assert day.times is not None
    assert day.times.median == pytest.approx(0.25)
    assert (day.times.slowest, day.times.slowest_app) == (1.9, "Ledgerly")


def test_response_times_use_only_the_last_responses(
    ports: Ports, hook: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_days, "ANSWERS", 2)
    (delivery,) = store_deliveries(ports, hook, SUCCESS)
    for duration in (5.0, 1.0, 2.0):
        store_attempt(ports, delivery, duration=duration)
    day = show_overview(ports, OPERATOR).deliveries
    assert day is not None
    assert day.times is not None
    assert day.times.median == 1.5


def test_requests_are_counted_by_kind(busy: Ports, clock: FakeClock) -> None:
    for kind, count in ((TrafficKind.ANONYMOUS, 3), (TrafficKind.INVALID, 2)):
        for _ in range(count):
            busy.activity.count_request(kind)
    busy.activity.flush()
    clock.pass_(hours=3)
    for kind in TrafficKind:
        busy.activity.count_request(kind)
    busy.activity.flush()
    traffic = show_overview(busy, OPERATOR).traffic
    assert traffic is not None
    assert (traffic.requests, traffic.refused, traffic.from_outside) == (10, 3, 3)
    assert traffic.by_kind[TrafficKind.ANONYMOUS] == 4
    assert len(traffic.hours) == 24
    assert [hour.by_kind[TrafficKind.ANONYMOUS] for hour in traffic.hours[-5:]] == [0, 0, 3, 0, 1]
    clock.pass_(hours=26)
    second = show_overview(busy, OPERATOR).traffic
    assert second is not None
    assert second.requests == 0


def test_untrusted_forwarding_needs_attention_for_a_week(busy: Ports, clock: FakeClock) -> None:
    busy.activity.record_forwarding("203.0.113.7")
    busy.activity.flush()
    seen = []
    for hours in (0, 8 * 24, 1):
        clock.pass_(hours=hours)
        people = show_overview(busy, OPERATOR).people
        assert people is not None
        seen.append(people.untrusted_peers)
    assert seen == [1, 1, 0]


def test_items_that_need_attention_are_listed(ports: Ports, clock: FakeClock, hook: int) -> None:
    change_webhook(ports, hook, failing_since=clock.now())
    sign_in(ports, make_staff(ports, "tom@example.com"))
    ports.throttle.fail(ADDRESS, "", make_user(ports), clock.timestamp())
    overview = show_overview(ports, OPERATOR)
    assert overview.webhooks is not None
    assert [webhook.id for webhook in overview.webhooks] == [hook]
    assert overview.people is not None
    assert (overview.people.staff_without_sign_on, overview.people.staff_sessions) == (1, 1)
    assert overview.people.blocked_ips == 1
    assert overview.last_changes is not None
    assert {change.action for change in overview.last_changes} == {"keys.create"}


def test_overview_shows_what_the_caller_can_see(ports: Ports) -> None:
    seen = {}
    for permission in ("MANAGE_ORDERS", "MANAGE_STAFF", "MANAGE_SETTINGS", "MANAGE_APPS"):
        user = make_staff(ports, f"{permission.lower()}@example.com", Permission(permission))
        overview = show_overview(ports, actor_of(ports, user))
        assert overview.switches.allow_storefront_traffic
        parts = ("people", "last_changes", "traffic", "deliveries", "webhooks")
        seen[permission] = {name for name in parts if getattr(overview, name) is not None}
    assert seen == {
        "MANAGE_ORDERS": set(),
        "MANAGE_STAFF": {"people", "last_changes"},
        "MANAGE_SETTINGS": {"traffic"},
        "MANAGE_APPS": {"deliveries", "webhooks"},
    }
    with pytest.raises(PermissionDenied):
        show_overview(ports, NOBODY)


def test_emails_without_an_app_that_can_send_them_are_shown(ports: Ports) -> None:
    manager = make_staff(ports, "settings@example.com", Permission.MANAGE_SETTINGS)
    actor = actor_of(ports, manager)
    assert show_overview(ports, actor).mails_without_app == ()
    mailing = make_mailing_shop(ports)
    assert show_overview(ports, actor).mails_without_app == tuple(LINK_EVENTS)
    webhook = mailing.make_listener(Permission.MANAGE_USERS)
    assert show_overview(ports, actor).mails_without_app == (MailKind.STAFF_INVITATION,)
    change_webhook(ports, webhook, is_active=False)
    assert show_overview(ports, actor).mails_without_app == tuple(LINK_EVENTS)
    other = make_staff(ports, "apps@example.com", Permission.MANAGE_APPS)
    assert show_overview(ports, actor_of(ports, other)).mails_without_app == ()


@pytest.mark.both_databases
def test_page_costs_at_most_four_statements(ports: Ports) -> None:
    show_overview(ports, OPERATOR)
    with recorded_statements() as statements:
        show_overview(ports, OPERATOR)
    queries = [statement for statement in statements if statement.startswith(("SELECT", "WITH"))]
    assert len(queries) == 4
    assert len(selects(statements)) <= 4


def test_statement_of_hours_is_compiled_once_for_all_moments(clock: FakeClock) -> None:
    spans = (delivery_days.hour_spans(clock.now() + timedelta(hours=later)) for later in (0, 1))
    keys = [select(span.c.began)._generate_cache_key() for span in spans]  # noqa: SLF001
    assert None not in keys
    assert keys[0] == keys[1]
