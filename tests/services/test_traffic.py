"""Traffic as it was counted."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from app.adapters.activity import SqlActivity
from app.domain.actor import OPERATOR, WORKER
from app.domain.errors import PermissionDenied
from app.domain.traffic import TrafficKind
from app.ports import Ports
from app.services.housekeeping import tidy
from app.services.traffic import count_traffic
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
        ports.activity.saw_request(kind)
    ports.activity.flush()


def test_the_last_hours_requests_are_told_by_kind(busy: Ports, clock: FakeClock) -> None:
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


def test_counts_are_forgotten_after_a_week(busy: Ports, clock: FakeClock) -> None:
    see(busy, TrafficKind.ANONYMOUS)
    clock.pass_(hours=8 * 24)
    assert tidy(busy, WORKER).traffic_counts == 0
    clock.pass_(minutes=1)
    assert tidy(busy, WORKER).traffic_counts == 1


def test_traffic_is_for_those_who_manage_settings(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        count_traffic(ports, NOBODY, HOUR)
