"""The figures of ``make bench``: rows beside their yardstick, notes, and what was recorded."""

import json
import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from benchmarks import load_client
from benchmarks.load_client import Outcome, Target
from benchmarks.neighbours import Measured, undisturbed

RECORDED = Path(__file__).parent / "recorded.json"
"""The figures that docs/speed.md shows, and that ``--check`` compares with."""

ALLOWED_FALL = 0.15
"""The part of a recorded share that a row can lose before ``--check`` fails."""

YARDSTICK = "an empty Flask view (the yardstick)"
"""The row of the yardstick beside itself."""

MAX_CHANCE = 0.1
"""By how much the yardstick can differ from itself in figures that are compared or recorded."""


@dataclass(frozen=True, slots=True)
class Row:
    """A path: ``share`` is its rate as a part of the yardstick's, which ran in the same seconds.

    ``rate`` (a second) and ``share`` are medians of the runs, ``lowest`` and ``highest`` the
    shares of single runs, ``p99`` is in milliseconds.
    """

    name: str
    rate: float
    share: float
    lowest: float
    highest: float
    p99: float | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run of the table found, on which machine."""

    machine: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...]


class Report:
    """Measures beside a yardstick and collects the figures.

    ``on_row`` is called with each row at once; ``busy``: neighbours are no reason to refuse.
    """

    def __init__(
        self, on_row: Callable[[Row], None] = lambda _: None, *, busy: bool = False
    ) -> None:
        self._on_row = on_row
        self._busy = busy
        self._rows: list[Row] = []
        self._notes: list[str] = []
        self.exceeded: list[str] = []

    def side_by_side(self, *targets: Target) -> list[Outcome]:
        """Return what each of ``targets`` gives, in turn; raises ``BusyMachine``."""
        return self.quietly(lambda: load_client.side_by_side(*targets))

    def quietly(self, measure: Callable[[], Measured]) -> Measured:
        """Return what ``measure`` does while other processes are quiet; else ``BusyMachine``."""
        return undisturbed(measure, allowed=self._busy)

    def add(self, name: str, outcome: Outcome, yardstick: Outcome) -> None:
        """Add a path that ran beside ``yardstick``."""
        if outcome.unexpected:
            raise RuntimeError(f"{name}: {outcome.unexpected} answers had another status")
        shares = outcome.shares(yardstick)
        self.add_row(
            Row(
                name,
                round(outcome.rate, 1),
                round(median(shares), 4),
                round(min(shares), 4),
                round(max(shares), 4),
                round(outcome.percentile(0.99), 1),
            )
        )

    def add_row(self, row: Row) -> None:
        self._rows.append(row)
        self._on_row(row)

    def note(self, text: str) -> None:
        """Add a figure that has no yardstick."""
        self._notes.append(text)

    def limited(self, text: str, *, exceeds: bool) -> None:
        """Add a figure with a limit, which ``text`` says."""
        self._notes.append(text)
        if exceeds:
            self.exceeded.append(text)

    def figures(self) -> Figures:
        return Figures(_machine(), tuple(self._rows), tuple(self._notes))


def write_table(figures: Figures) -> str:
    """Return the figures in Markdown."""
    lines = ["| path | a second | of the yardstick | lowest to highest | p99 |"]
    lines += ["|---|---|---|---|---|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in figures.rows]
    lines += ["", *(f"- {note}" for note in figures.notes), "", f"{figures.machine}."]
    return "\n".join(lines) + "\n"


def read_recorded(path: Path = RECORDED) -> Figures:
    """Return the recorded figures; raises ``FileNotFoundError`` if there are none."""
    stored = json.loads(path.read_text())
    rows = tuple(Row(**row) for row in stored["rows"])
    return Figures(stored["machine"], rows, tuple(stored["notes"]))


def record(figures: Figures, path: Path = RECORDED) -> None:
    """Store ``figures`` as those that later runs are compared with."""
    path.write_text(json.dumps(asdict(figures), indent=2) + "\n")


def falls(figures: Figures, recorded: Figures) -> Iterator[str]:
    """Yield a sentence for each row whose share fell by more than ``ALLOWED_FALL``."""
    before = {row.name: row for row in recorded.rows}
    for row in figures.rows:
        known = before.get(row.name)
        if known is not None and row.share < known.share * (1 - ALLOWED_FALL):
            change = row.share / known.share - 1
            yield (
                f"{row.name}: {row.share:.0%} of the yardstick, recorded {known.share:.0%} "
                f"({change:+.0%})"
            )


def unsteady(figures: Figures) -> str | None:
    """Return why the figures say little, or ``None``: the yardstick differs from itself.

    Other virtual machines of the same computer show in no other way.
    """
    for row in figures.rows:
        if row.name == YARDSTICK and max(1 - row.lowest, row.highest - 1) > MAX_CHANCE:
            return (
                f"The yardstick was {row.lowest:.0%} to {row.highest:.0%} of itself, more than "
                f"{MAX_CHANCE:.0%} apart: this computer's speed changes. Try again later."
            )
    return None


def _cells(row: Row) -> tuple[str, ...]:
    tail = "" if row.p99 is None else f"{row.p99:.1f} ms"
    spread = f"{row.lowest:.0%} to {row.highest:.0%}"
    return row.name, f"{row.rate:,.0f}", f"{row.share:.0%}", spread, tail


def _machine() -> str:
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"
