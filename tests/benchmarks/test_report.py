"""Rows beside their yardstick, and what falls against the recorded figures."""

from pathlib import Path

import pytest

from benchmarks.load_client import Outcome
from benchmarks.report import (
    YARDSTICK,
    Figures,
    Report,
    Row,
    falls,
    read_recorded,
    record,
    unsteady,
    write_table,
)

LATENCIES = [1.0] * 98 + [7.0, 9.0]


def figures(**shares: float) -> Figures:
    rows = tuple(Row(name, 1000.0, share, share, share) for name, share in shares.items())
    return Figures("A machine", rows, ())


def test_share_is_the_median_of_runs_beside_the_yardstick() -> None:
    """The machine became half as fast during the last runs; the share didn't change."""
    report = Report()
    own = Outcome((500.0, 510.0, 520.0, 250.0, 260.0), LATENCIES, 0)
    report.add("`me`", own, Outcome((1000.0, 1000.0, 1000.0, 500.0, 500.0), [], 0))
    (row,) = report.figures().rows
    assert (row.rate, row.share, row.lowest, row.highest, row.p99) == (500, 0.51, 0.5, 0.52, 9.0)


def test_unexpected_answers_are_no_figure() -> None:
    with pytest.raises(RuntimeError, match="3 answers had another status"):
        Report().add("`me`", Outcome((1.0,), LATENCIES, 3), Outcome((1.0,), LATENCIES, 0))


@pytest.mark.parametrize(("share", "fell"), [(0.43, False), (0.42, True), (0.6, False)])
def test_share_can_fall_by_15_percent(share: float, fell: bool) -> None:
    found = list(falls(figures(me=share), figures(me=0.5)))
    assert bool(found) is fell
    assert not fell or found == ["me: 42% of the yardstick, recorded 50% (-16%)"]


def test_row_without_a_record_and_slower_machine_are_no_fall() -> None:
    slower = Row("me", 10.0, 0.5, 0.5, 0.5)
    assert not list(falls(Figures("Another", (slower,), ()), figures(me=0.5, other=0.9)))
    assert not list(falls(figures(new=0.1), figures(me=0.5)))


@pytest.mark.parametrize(
    ("lowest", "highest", "says"),
    [(0.91, 1.09, None), (0.77, 1.02, "77% to 102%"), (0.98, 1.16, "98% to 116%")],
)
def test_yardstick_that_differs_from_itself_makes_figures_unsteady(
    lowest: float, highest: float, says: str | None
) -> None:
    rows = Row(YARDSTICK, 1000.0, 1.0, lowest, highest), Row("me", 100.0, 0.1, 0.01, 0.9)
    reason = unsteady(Figures("A machine", rows, ()))
    assert (reason is None) is (says is None)
    assert says is None or says in str(reason)


def test_recorded_figures_are_read_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "recorded.json"
    kept = Figures("A machine", (Row("`me`", 1234.6, 0.554, 0.5, 0.6, 2.51),), ("a note",))
    record(kept, path)
    assert read_recorded(path) == kept
    table = write_table(kept)
    assert "| `me` | 1,235 | 55% | 50% to 60% | 2.5 ms |" in table
    assert "- a note\n" in table


def test_figure_over_its_limit_is_kept_as_such() -> None:
    report = Report()
    report.limited("1.2 ms (the limit: 1 ms)", exceeds=True)
    report.limited("0.2 ms (the limit: 1 ms)", exceeds=False)
    assert report.exceeded == ["1.2 ms (the limit: 1 ms)"]
    assert len(report.figures().notes) == 2
