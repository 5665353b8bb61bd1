"""Webhook deliveries: when to retry, and what a response means.

Contract, "Webhooks"; schedule and limits are documented in docs/reference/webhooks.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum

SCHEDULE = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds before each attempt: now, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h."""

JITTER = 0.1
"""By how much of the wait what failed together is spread, at most."""

TIMEOUT = 20.0
"""Seconds that an endpoint has for its whole answer."""

MAX_RESPONSE_SIZE = 64 * 1024
"""Bytes of an answer that are read and kept."""

MAX_HEADERS_SIZE = 16 * 1024
"""Characters of an answer's headers that are kept."""

MAX_RETRY_AFTER = 86_400
"""Seconds that an endpoint may put us off with ``Retry-After``: no longer than we would wait."""

DISABLE_AFTER = timedelta(days=5)
"""How long an endpoint may have failed only, before it is disabled."""

RETENTION = timedelta(days=14)
"""How long deliveries and their attempts are kept."""

GONE = 410
_GOOD = range(200, 300)


class DeliveryStatus(StrEnum):
    PENDING = "PENDING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Batch:
    """Deliveries to one endpoint, covered by one lease."""

    lease: str
    webhook_id: int
    deliveries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EventDelivery:
    """A delivery; ``given_up`` is why nothing more is tried, if known.

    ``lacking`` are permissions without which its reader doesn't see the payload, empty then.
    """

    id: int
    webhook_id: int
    event: str
    status: DeliveryStatus
    created_at: datetime
    payload: str = field(repr=False)
    given_up: str = ""
    lacking: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a delivery; ``duration`` in seconds.

    ``lacking`` are permissions without which its reader sees neither headers nor response, which
    are empty then.
    """

    id: int
    created_at: datetime
    duration: float
    status: DeliveryStatus
    response_status: int | None
    request_headers: Mapping[str, object] = field(repr=False)
    response_headers: Mapping[str, object] = field(repr=False)
    response: str = field(repr=False)
    lacking: tuple[str, ...] = ()

    def withheld(self, lacking: tuple[str, ...]) -> "Attempt":
        """Return the attempt as a person who lacks these permissions sees it."""
        if not lacking:
            return self
        return replace(self, request_headers={}, response_headers={}, response="", lacking=lacking)


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """How many deliveries had failed and are due again, and how many were missing.

    ``has_more`` where more are missing than are made at once: ask again for the next.
    """

    failed: int
    missing: int
    has_more: bool = False


@dataclass(frozen=True, slots=True)
class NextStep:
    """A delivery's status after an attempt; ``wait`` is in seconds until the next one.

    ``gone`` means that the endpoint asked to stop: the webhook is to be disabled.
    """

    status: DeliveryStatus
    wait: float | None = None
    gone: bool = False


def next_step_after(
    *, answered: int | None, attempts: int, retry_after: float | None, chance: float
) -> NextStep:
    """Return what follows from attempt number ``attempts`` (from 1).

    ``answered`` is the HTTP status, ``None`` without a response. 2xx is success, 410 stops,
    everything else is a failure, redirects too. ``retry_after`` (seconds) can only delay the next
    attempt. ``chance`` (0 to 1) is jitter.
    """
    if answered is not None and answered in _GOOD:
        return NextStep(DeliveryStatus.SUCCESS)
    if answered == GONE:
        return NextStep(DeliveryStatus.FAILED, gone=True)
    if attempts >= len(SCHEDULE):
        return NextStep(DeliveryStatus.FAILED)
    wait = SCHEDULE[attempts] * (1 + JITTER * chance)
    if retry_after is not None:
        wait = max(wait, min(retry_after, MAX_RETRY_AFTER))
    return NextStep(DeliveryStatus.PENDING, wait)


def read_retry_after(text: str | None, now: datetime) -> float | None:
    """The seconds that ``Retry-After`` asks for (RFC 9110, 10.2.3): a number, or a date."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), MAX_RETRY_AFTER))
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if when.tzinfo is None:
        return None
    return max(0.0, (when - now).total_seconds())
