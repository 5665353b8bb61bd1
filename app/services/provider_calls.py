"""Calls to identity providers, few at a time: one that is slow keeps nobody else waiting."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.services.access import part

QUEUE_SECONDS = 0.5
"""How long a request waits for its turn to call; password logins need the same threads."""

FAILED_PAUSE = 5.0
"""Seconds for which an address that failed is left alone."""

CROWDED_PAUSE = 2.0
"""Seconds for which nobody queues at an address that keeps its callers waiting."""


@part
@contextmanager
def calling(ports: Ports, url: str) -> Iterator[None]:
    """Whatever the block calls at ``url``, with few others at the same time.

    Raises ``CallFailed`` at once while the address is left alone, because it failed a moment ago
    or because others wait for its answer.
    """
    memory = ports.remembered.providers
    if ports.clock.timestamp() < (memory.paused.get(url) or 0.0):
        raise CallFailed(CallFault.UNREACHABLE, f"{url} did not answer a moment ago.")
    if not memory.calls.acquire(timeout=QUEUE_SECONDS):
        _pause(ports, url, CROWDED_PAUSE)
        raise CallFailed(CallFault.TIMEOUT, f"{url} keeps too many requests waiting.")
    try:
        yield
    except CallFailed:
        _pause(ports, url, FAILED_PAUSE)
        raise
    finally:
        memory.calls.release()


def _pause(ports: Ports, url: str, seconds: float) -> None:
    ports.remembered.providers.paused.put(url, ports.clock.timestamp() + seconds)
