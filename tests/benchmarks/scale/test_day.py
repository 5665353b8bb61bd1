"""A day that a person interrupts: what was measured is printed."""

import signal
import subprocess
import sys

import pytest

from benchmarks.scale.day import report
from benchmarks.scale.minutes import Ending
from tests.benchmarks.test_scale import DELIVERED, GOOD

_DAY = """
import asyncio, sys
from benchmarks.scale.day import report
from tests.benchmarks.test_scale import DELIVERED, GOOD

minutes = []

async def live():
    minutes.extend([GOOD] * 3)
    print("lived", flush=True)
    await asyncio.sleep(60)

def whole_day():
    asyncio.run(live())
    return DELIVERED

sys.exit(report(minutes, whole_day))
"""


def test_interrupted_day_prints_the_summary_of_its_minutes() -> None:
    with subprocess.Popen([sys.executable, "-c", _DAY], stdout=subprocess.PIPE) as day:
        assert day.stdout is not None
        assert day.stdout.readline() == b"lived\n"
        day.send_signal(signal.SIGINT)
        shown = day.stdout.read().decode()
        assert day.wait(60) == 130
    assert "- the day, 3 minutes: " in shown
    assert "- interrupted: deliveries weren't counted\n" in shown
    assert "MISSED" not in shown


def test_day_without_a_minute_has_no_summary(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> Ending:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit, match="130"):
        report([], interrupted)
    assert capsys.readouterr().out == "interrupted in the first minute\n"


def test_whole_day_counts_its_deliveries(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([GOOD] * 3, lambda: DELIVERED) == 0
    shown = capsys.readouterr().out
    assert "- the day, 3 minutes: " in shown
    assert "- 500 of 500 deliveries made" in shown
