"""Progress of long work: lines without a terminal, nothing with ``--json``.

test_demo.py shows the bar on a terminal.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.commands.terminal import progress
from app.commands.terminal.progress import speed_and_time_left
from app.ports import Ports
from app.services.deliveries import replays
from tests.builders.webhooks import make_missed_events
from tests.commands.shell import run
from tests.fakes.clock import FakeClock
from tests.fakes.payloads import FakePayloads
from tests.fixtures.cases import cases


@cases(
    ("done", "total", "seconds", "shown"),
    [
        (0, 100, 3.0, ""),
        (50, 100, 0.2, ""),
        (50, 100, 2.0, "25 per second, 2 s left"),
        (5_000, 100_000, 2.5, "2,000 per second, 48 s left"),
        (10, 1_000, 10.0, "1 per second, 16 min left"),
        (1, 4, 20.0, "3 per minute, 60 s left"),
        (100, 100, 4.0, "25 per second"),
    ],
)
def test_pace_is_a_rate_and_the_time_left(
    done: int, total: int, seconds: float, shown: str
) -> None:
    assert speed_and_time_left(done, total, seconds) == shown


def replay(ports: Ports, clock: FakeClock, *options: str) -> str:
    """Replay 120 missing events in two rounds; return standard error."""
    telling = replace(ports, payloads=FakePayloads(ports.database))
    make_missed_events(telling, 120)
    since = (clock.now() - timedelta(hours=1)).isoformat()
    done = run(telling, "webhook", "replay", "hook", "--since", since, *options)
    assert done.exit_code == 0, done.output
    return done.stderr


def test_progress_without_a_terminal_is_lines(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    lines = replay(ports, clock).splitlines()
    assert [line for line in lines if line.startswith("Scheduling deliveries")] == [
        "Scheduling deliveries: 50 of 120",
        "Scheduling deliveries: 100 of 120",
    ]


def test_progress_goes_on_where_a_replay_takes_several_rounds(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(replays, "MAX_MISSING", 100)
    lines = replay(ports, clock).splitlines()
    assert lines[0].startswith(
        "Failed deliveries to resend: 0. Missed events to send: 100 or more."
    )
    assert lines[1] == "Scheduling deliveries: 50 of 100"
    assert lines[-1].endswith(": 120.")


@pytest.mark.parametrize(("seconds", "options"), [(600.0, ()), (0.0, ("--json",))])
def test_short_work_and_json_have_no_progress(
    ports: Ports,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    options: tuple[str, ...],
) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", seconds)
    assert "of 120" not in replay(ports, clock, *options)
