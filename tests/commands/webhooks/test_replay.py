"""``flask webhook replay`` goes on until nothing is missing any more."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app.models import DeliveryRecord
from app.ports import Ports
from app.services.deliveries import replays
from tests.builders.webhooks import make_missed_events
from tests.commands.shell import run_json
from tests.fakes.clock import FakeClock
from tests.fakes.payloads import FakePayloads


def test_all_that_is_missing_is_made_however_much_it_is(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_MISSING", 50)
    telling = replace(ports, payloads=FakePayloads(ports.database))
    make_missed_events(telling, 120)
    since = (clock.now() - timedelta(hours=1)).isoformat()

    page = run_json(telling, "webhook", "replay", "hook", "--since", since)

    assert page == {"failed": 0, "missing": 120}
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(DeliveryRecord)) == 120
