"""A day that a person interrupts: what was measured is printed."""

import signal
import subprocess
import sys

_DAY = """
import asyncio, sys
from benchmarks.scale.day import report
from tests.benchmarks.test_scale import DELIVERED, GOOD

minutes = []

async def live():
    minutes.extend([GOOD] * {minutes})
    print("lived", flush=True)
    await asyncio.sleep({more})

def whole_day():
    asyncio.run(live())
    return DELIVERED

sys.exit(report(minutes, whole_day))
"""


def _run(minutes: int, more: float, number: int | None) -> tuple[int, str]:
    """Return the exit code and what was printed by a day that gets the signal ``number``."""
    script = _DAY.format(minutes=minutes, more=more)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as day:
        assert day.stdout is not None
        assert day.stdout.readline() == b"lived\n"
        if number is not None:
            day.send_signal(number)
        shown = day.stdout.read().decode()
        return day.wait(60), shown


def test_interrupted_day_prints_the_summary_of_its_minutes() -> None:
    code, shown = _run(3, 60.0, signal.SIGINT)
    assert code == 130
    assert "- the day, 3 minutes: " in shown
    assert "- interrupted: deliveries weren't counted\n" in shown
    assert "MISSED" not in shown


def test_day_without_a_minute_has_no_summary() -> None:
    assert _run(0, 60.0, signal.SIGINT) == (130, "interrupted in the first minute\n")


def test_whole_day_counts_its_deliveries() -> None:
    code, shown = _run(3, 0.0, None)
    assert code == 0
    assert "- the day, 3 minutes: " in shown
    assert "- 500 of 500 deliveries made" in shown
