"""Traffic as it was counted."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from app.adapters.activity import SqlActivity
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.shop.settings import TrafficKind
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.operations.cleanup import clean_up
from app.services.shop.traffic import count_traffic, list_untrusted_forwarding
from tests.builders.people import NOBODY
from tests.fakes.clock import FakeClock

HOUR = timedelta(hours=1)


@pytest.fixture
def busy(ports: Ports, clock: FakeClock) -> Iterator[Ports]:
    """Ports that write down what they see."""
    activity = SqlActivity(ports.database, clock, 3600.0)
    yield replace(ports, activity=activity)
    activity.close()


def see(ports: Ports, *kinds: TrafficKind) -> None:
    for kind in kinds:
        ports.activity.count_request(kind)
    ports.activity.flush()


def test_last_hours_requests_are_counted_by_kind(busy: Ports, clock: FakeClock) -> None:
    see(busy, TrafficKind.ANONYMOUS)
    clock.pass_(minutes=30)
    see(busy, TrafficKind.ANONYMOUS, TrafficKind.ANONYMOUS, TrafficKind.STAFF)
    clock.pass_(minutes=45)
    see(busy, TrafficKind.APP)
    counted = count_traffic(busy, OPERATOR, HOUR)
    assert counted == {
        TrafficKind.ANONYMOUS: 2,
        TrafficKind.INVALID: 0,
        TrafficKind.CUSTOMER: 0,
        TrafficKind.STAFF: 1,
        TrafficKind.APP: 1,
    }


def test_counts_are_deleted_after_a_week(busy: Ports, clock: FakeClock) -> None:
    see(busy, TrafficKind.ANONYMOUS)
    clock.pass_(hours=8 * 24)
    assert clean_up(busy, WORKER).traffic_counts == 0
    clock.pass_(minutes=1)
    assert clean_up(busy, WORKER).traffic_counts == 1


def test_traffic_requires_manage_settings(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        count_traffic(ports, NOBODY, HOUR)


def test_untrusted_forwarding_is_reported_for_a_week(busy: Ports, clock: FakeClock) -> None:
    busy.activity.record_forwarding("203.0.113.7")
    busy.activity.flush()
    clock.pass_(hours=1)
    for _ in range(2):
        busy.activity.record_forwarding("2001:db8::1")
    busy.activity.flush()
    peers = list_untrusted_forwarding(busy, OPERATOR)
    assert [(forwarding.peer, forwarding.requests) for forwarding in peers] == [
        ("2001:db8::1", 2),
        ("203.0.113.7", 1),
    ]
    assert peers[0].last_seen_at == clock.now()
    assert len(list_untrusted_forwarding(busy, OPERATOR, limit=1)) == 1
    clock.pass_(hours=8 * 24)
    assert [forwarding.peer for forwarding in list_untrusted_forwarding(busy, OPERATOR)] == [
        "2001:db8::1"
    ]
    clean_up(busy, WORKER)
    clock.pass_(seconds=1)
    clean_up(busy, WORKER)
    assert list_untrusted_forwarding(busy, OPERATOR) == ()
    with pytest.raises(PermissionDenied):
        list_untrusted_forwarding(busy, NOBODY)
