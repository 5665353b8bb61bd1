"""The CPU time of a request, and the limit for it on this machine."""

import gc
import time
from collections.abc import Callable
from functools import cache

ALLOWED = 0.25
"""Seconds of CPU that a request of any kind can take outside password hashing."""

_HEADROOM = 2.0
_TRIES = 3
_REFERENCE = 0.05
"""Seconds that ``_work`` takes on the machine that ``ALLOWED`` was measured on."""


def bound() -> float:
    """Return the seconds allowed on this machine, scaled by its speed."""
    return _HEADROOM * ALLOWED * slowness()


@cache
def slowness() -> float:
    """Return how many times as long this machine computes as the reference; at least 1."""
    return max(1.0, cpu_seconds(_work) / _REFERENCE)


def busyness() -> float:
    """Return how many times as long work takes at present, beside all that others do."""
    return max(1.0, *(_seconds(_work) / _REFERENCE for _ in range(_TRIES)))


def cpu_seconds(work: Callable[[], object]) -> float:
    """The seconds of CPU that ``work`` takes in this thread; other threads don't count.

    Without garbage collection, which would look through everything that other tests left.
    """
    gc.disable()
    try:
        start = time.thread_time()
        work()
        return time.thread_time() - start
    finally:
        gc.enable()


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def slowest(work: Callable[[], object]) -> float:
    """The seconds of CPU of ``work``; measured again where the first time was over the bound."""
    taken = cpu_seconds(work)
    for _ in range(_TRIES - 1):
        if taken <= bound():
            break
        taken = min(taken, cpu_seconds(work))
    return taken


def _work() -> int:
    return sum(len(str(number)) for number in range(600_000))
