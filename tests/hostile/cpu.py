"""The CPU time of a request, and the limit for it."""

import gc
import time
from collections.abc import Callable

_ALLOWED = 0.25
"""Seconds of CPU that a request of any kind can take outside password hashing."""

_HEADROOM = 2.0

BOUND = _HEADROOM * _ALLOWED
"""What ``slowest`` may return."""

_TRIES = 3
_REFERENCE = 0.05
"""Seconds that ``_work`` takes on the machine that ``BOUND`` is for."""


def slowest(work: Callable[[], object], bound: float = BOUND) -> float:
    """Return the seconds of CPU of ``work`` on the reference machine.

    Over ``bound`` it is measured again, each time beside the same work as on the reference
    machine: what others do at that moment makes both slower.
    """
    taken = cpu_seconds(work)
    for _ in range(_TRIES):
        if taken <= bound:
            break
        before = _slowness()
        again = cpu_seconds(work)
        taken = min(taken, again / max(before, _slowness()))
    return taken


def _slowness() -> float:
    """Return how many times as long this machine computes at present; at least 1."""
    return max(1.0, cpu_seconds(_work) / _REFERENCE)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the seconds of CPU that ``work`` takes in this thread; other threads don't count.

    Without garbage collection, which would look through everything that other tests left.
    """
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return time.thread_time() - start
    finally:
        gc.enable()


def _work() -> int:
    return sum(len(str(number)) for number in range(600_000))
