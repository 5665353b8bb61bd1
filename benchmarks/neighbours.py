"""What other processes take of the machine while something is measured.

A measurement next to busy neighbours says more about them than about the server, so it is made
again, and refused in the end.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks.servers import family

LIMIT = 0.2
"""Cores that other processes can take on average while a row is measured."""

_TRIES = 3
_TICKS = os.sysconf("SC_CLK_TCK")
_BUSY = (0, 1, 2, 7)
"""The columns of /proc/stat for user, nice, system and steal. Interrupts are left out: those of
our own packages over loopback are counted there, for no process."""

Measured = TypeVar("Measured")


class BusyMachine(RuntimeError):
    """Other processes took more than ``LIMIT`` in every try; ``cores`` is the least they took."""

    def __init__(self, cores: float) -> None:
        super().__init__(
            f"Other processes took {cores:.2f} of a core, more than {LIMIT}. Stop them and try "
            "again, or pass --busy to measure anyway."
        )
        self.cores = cores


class Neighbours:
    """What processes other than this one and its descendants take, from the start on."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._busy, self._own = _busy_seconds(), own_seconds()

    def cores(self) -> float:
        """Return how many cores they took on average until now."""
        taken = (_busy_seconds() - self._busy) - (own_seconds() - self._own)
        return max(0.0, taken / (time.perf_counter() - self._started))


def undisturbed(measure: Callable[[], Measured], *, allowed: bool = False) -> Measured:
    """Return what ``measure`` does, made again if other processes took more than ``LIMIT``.

    Raises ``BusyMachine`` after three tries; with ``allowed``, the first one counts.
    """
    least = float("inf")
    for _ in range(_TRIES):
        neighbours = Neighbours()
        measured = measure()
        least = min(least, neighbours.cores())
        if allowed or least <= LIMIT:
            return measured
    raise BusyMachine(least)


def _busy_seconds() -> float:
    columns = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(columns[place]) for place in _BUSY) / _TICKS


def own_seconds() -> float:
    """Return the processor time of this process and its descendants, also of ended ones."""
    return family_seconds(os.getpid())


def family_seconds(parent: int) -> float:
    """Return the processor time of ``parent`` and its descendants, also of ended ones."""
    ticks = 0
    for process in family(parent):
        try:
            text = Path(f"/proc/{process}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended: its parent has its seconds
        # utime, stime, cutime and cstime, counted from the end of the name in parentheses.
        ticks += sum(int(field) for field in text.rpartition(")")[2].split()[11:15])
    return ticks / _TICKS
