"""Limit concurrent calls to identity providers, and pause URLs that fail."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.monitoring import PROVIDER_CALLS, PROVIDER_SECONDS, SpanKind
from app.ports.process_cache import CallPurpose
from app.services.authorization.register import part

QUEUE_SECONDS = 0.5
"""How long a request waits for its turn to call; password logins need the same threads."""

MAX_FAILURES = 3
"""Failures in a row after which a URL is paused."""

FAILED_PAUSE = 5.0
"""Seconds for which a URL is paused, or a token isn't tried again, after a failure."""


@part
@contextmanager
def calling(ports: Ports, url: str, purpose: CallPurpose) -> Iterator[None]:
    """Whatever the block calls at ``url``, with few others of that ``purpose`` at the same time.

    Raises ``CallFailed`` NOT_CALLED when too many others wait, and while the URL is paused: after
    ``MAX_FAILURES`` failed connections in a row, and never for verified callers. An answer of
    whatever status is no failure of the URL: it may be about the one token alone.
    """
    if purpose is not CallPurpose.VERIFIED:
        require_not_paused(ports, url)
    lane = ports.cache.providers.lanes[purpose]
    if not lane.enter(QUEUE_SECONDS):
        ports.metrics.count(PROVIDER_CALLS, purpose.value, CallFault.NOT_CALLED.value)
        message = f"Too many requests are waiting for {url}."
        raise CallFailed(CallFault.NOT_CALLED, message)
    is_connected, result, started = True, "ok", time.perf_counter()
    try:
        with ports.traces.span(f"identity provider {purpose.value}", SpanKind.CLIENT):
            yield
    except CallFailed as failed:
        is_connected, result = not failed.is_connection, failed.fault.value
        raise
    except Exception:
        result = "refused"  # it answered, but with no token or person
        raise
    finally:
        lane.leave()
        ports.metrics.count(PROVIDER_CALLS, purpose.value, result)
        seconds = time.perf_counter() - started
        ports.metrics.observe(PROVIDER_SECONDS, seconds, purpose.value)
        note_outcome(ports, url, is_good=is_connected)


@part
def require_not_paused(ports: Ports, url: str) -> None:
    """Raise ``CallFailed`` NOT_CALLED while the URL is paused."""
    if ports.clock.timestamp() < (ports.cache.providers.paused.get(url) or 0.0):
        raise CallFailed(CallFault.NOT_CALLED, f"{url} failed several times recently.")


@part
def note_outcome(ports: Ports, url: str, *, is_good: bool) -> None:
    """Count failures in a row at ``url``, and pause it when they are ``MAX_FAILURES``."""
    memory = ports.cache.providers
    failures = 0 if is_good else (memory.failures.get(url) or 0) + 1
    if failures or memory.failures.get(url):
        memory.failures.put(url, failures)
    if is_good and memory.paused.get(url):
        memory.paused.put(url, 0.0)
    if failures >= MAX_FAILURES:
        memory.paused.put(url, ports.clock.timestamp() + FAILED_PAUSE)
