"""Who forwards requests without being trusted to is gathered in memory, and few of them."""

from collections.abc import Iterator

import pytest
from sqlalchemy import select

from app import models
from app.adapters.activity import MAX_PEERS, SqlActivity
from app.ports import Ports
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.both_databases


@pytest.fixture
def activity(ports: Ports, clock: FakeClock) -> Iterator[SqlActivity]:
    made = SqlActivity(ports.database, clock, 3600.0)
    yield made
    made.close()


def test_untrusted_forwarding_is_counted(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    activity.record_forwarding("203.0.113.7")
    activity.flush()
    clock.pass_(minutes=1)
    activity.record_forwarding("203.0.113.7")
    activity.record_forwarding("2001:db8::1")
    activity.flush()
    with ports.database.reading() as session:
        rows = session.scalars(select(models.Forwarding).order_by(models.Forwarding.peer)).all()
        assert [(row.peer, row.requests) for row in rows] == [
            ("2001:db8::1", 1),
            ("203.0.113.7", 2),
        ]
        assert {row.last_seen_at for row in rows} == {clock.now()}


def test_number_of_recorded_peers_is_limited(ports: Ports, activity: SqlActivity) -> None:
    for _ in range(2):
        for number in range(MAX_PEERS + 5):
            activity.record_forwarding(f"2001:db8::{number}")
    activity.flush()
    with ports.database.reading() as session:
        rows = session.scalars(select(models.Forwarding)).all()
        assert len(rows) == MAX_PEERS
        assert {row.requests for row in rows} == {2}
