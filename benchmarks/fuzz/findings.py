"""What a run has come to: requests, faults with what caused them, the slowest answer."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_MAX_KEPT = 200
"""Faults of which the whole request is written down; more are counted."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One piece of input: by which part of the run, from which seed, and what was sent."""

    part: str
    seed: int
    sent: dict[str, object]


@dataclass(slots=True)
class Findings:
    """``folder`` gets a file per error, and one for the slowest response."""

    folder: Path
    requests: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    unavailable: int = 0
    slowest: float = 0.0
    slowest_of: str = ""

    def count(self, attempt: Attempt, seconds: float, name: str) -> None:
        """One attempt took so long."""
        self.requests[attempt.part] += 1
        if seconds > self.slowest:
            self.slowest, self.slowest_of = seconds, name
            self._write("slowest", attempt, {"seconds": seconds})

    def fault(self, attempt: Attempt, kind: str, **observed: object) -> None:
        """An internal error; ``kind`` is a short name for it."""
        self.faults[attempt.part] += 1
        self.kinds[kind] += 1
        if self.total <= _MAX_KEPT:
            self._write(f"fault-{self.total:03d}", attempt, {"kind": kind, **observed})

    @property
    def total(self) -> int:
        return sum(self.faults.values())

    def _write(self, name: str, attempt: Attempt, observed: dict[str, object]) -> None:
        record = {"part": attempt.part, "seed": attempt.seed, **observed, "sent": attempt.sent}
        file = self.folder / f"{name}.json"
        file.write_text(json.dumps(record, indent=2, default=repr), errors="replace")
