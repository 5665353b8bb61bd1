"""The table that ``make bench`` prints."""

import os
import platform
from pathlib import Path

from benchmarks.load_client import Outcome


class Report:
    """Collects figures; ``text`` is the table in Markdown, as docs/speed.md shows it."""

    def __init__(self) -> None:
        self._yardstick = 1.0
        self._rows: list[tuple[str, str, str, str]] = []
        self._notes: list[str] = []
        self._missed = False

    @property
    def status(self) -> int:
        """What the process ends with: 1 where a limit was missed."""
        return int(self._missed)

    def baseline(self, outcome: Outcome) -> None:
        self._yardstick = outcome.rate
        self.add("an empty Flask view (the yardstick)", outcome, outcome)

    def add(self, name: str, outcome: Outcome, baseline: Outcome) -> None:
        """A row; ``yardstick`` is what an empty view gave at the same time."""
        if outcome.unexpected:
            raise RuntimeError(f"{name}: {outcome.unexpected} answers had another status")
        self._rows.append(
            (
                name,
                f"{outcome.rate:,.0f}",
                f"{outcome.rate / baseline.rate:.0%}",
                f"{outcome.percentile(0.99):.1f} ms",
            )
        )

    def note(self, text: str) -> None:
        self._notes.append(text)

    def limited(self, text: str, *, missed: bool) -> None:
        """A figure with a limit (``text``); it is marked if the limit is exceeded."""
        self._missed |= missed
        self._notes.append(f"{text} **too much**" if missed else text)

    def cold_start(self, seconds: float) -> None:
        self._notes.append(f"cold start to the first answer: {seconds:.2f} s")

    def memory(self, mebibytes: float) -> None:
        self._notes.append(f"a worker's resident memory after all of this: {mebibytes:.0f} MiB")

    def logins(self, milliseconds: float, hashing: float) -> None:
        share = hashing / milliseconds
        self._notes.append(
            f"`tokenCreate`: {milliseconds:.1f} ms, of which the password hash alone takes"
            f" {hashing:.1f} ms ({share:.0%})"
        )

    def deliveries(self, rate: float, milliseconds: float) -> None:
        self._rows.append(
            (
                "webhook deliveries by the background worker",
                f"{rate:,.0f}",
                f"{rate / self._yardstick:.0%}",
                f"{milliseconds:.1f} ms of processor time each",
            )
        )

    def while_logging_in(self, outcome: Outcome, baseline: Outcome) -> None:
        self.add("`me` while one client logs in", outcome, baseline)

    def at_size(
        self, name: str, outcomes: tuple[Outcome, Outcome], sizes: tuple[int, int]
    ) -> None:
        small, large = (one.rate for one in outcomes)
        self._notes.append(
            f"{name} at {sizes[0]} and at {sizes[1]:,} users, sessions and app tokens:"
            f" {small:,.0f} and {large:,.0f} a second ({large / small - 1:+.0%})"
        )

    def notes(self) -> str:
        """Return the notes below the table."""
        return "".join(f"- {note}\n" for note in self._notes)

    def text(self) -> str:
        lines = ["| path | a second | of the empty view | p99 |", "|---|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in self._rows]
        lines += ["", self.notes()]
        lines += [f"{_machine()}; one worker on one core, 8 connections from another, SQLite."]
        return "\n".join(lines) + "\n"


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
