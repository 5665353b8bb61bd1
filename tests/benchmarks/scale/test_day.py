"""A day that a person interrupts: what was measured is printed."""

import signal
from pathlib import Path

import pytest

from benchmarks.scale.day import report
from benchmarks.scale.minutes import Ending
from tests.benchmarks.test_scale import DELIVERED, GOOD
from tests.commands.real_installation import wait_until
from tests.servers.forked_commands import start_command
from tests.servers.run import ROOT

_DAY = "tests.benchmarks.scale.interrupted_day"


def test_interrupted_day_prints_the_summary_of_its_minutes(tmp_path: Path) -> None:
    printed = tmp_path / "printed"
    day = start_command((), ROOT, {}, printed, _DAY)
    try:
        wait_until(lambda: printed.read_text() == "lived\n", "the minutes are over")
        day.send_signal(signal.SIGINT)
        assert day.wait(60) == 130
    finally:
        day.kill()
    shown = printed.read_text()
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
