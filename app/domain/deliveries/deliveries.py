"""Webhook deliveries: IDs, when to retry, what a response means, and why a delivery failed.

Contract, "Webhooks"; schedule and limits are documented in docs/reference/webhooks.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from http import HTTPStatus

from app.domain.values.text import translatable
from app.domain.values.times import delay_before

SCHEDULE = (0, 5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""Seconds before each attempt: now, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h."""

MOST_ATTEMPTS_RELEASED = len(SCHEDULE) - 2
"""Attempts that count of a delivery that is sent before its time: it has two left at least.

So an endpoint that works and fails in turn, or is paused, doesn't use up what its deliveries have.
"""

TIMEOUT = 20.0
"""Seconds that an endpoint has for its whole answer."""

MAX_RESPONSE_SIZE = 64 * 1024
"""Bytes of an answer that are read and kept."""

MAX_HEADERS_SIZE = 16 * 1024
"""Characters of an answer's headers that are kept."""

MAX_RETRY_AFTER = 86_400
"""Seconds of ``Retry-After`` that are honored at most: as long as the schedule waits."""

RECOVERED_AFTER = timedelta(minutes=5)
"""How long an endpoint must have failed before its backlog is sent when it works again.

After a shorter failure, what it kept waiting is due soon in any case.
"""

CATCH_UP_RATE = 20
"""Deliveries of such a backlog that become due in a second; also after a pause."""

MAX_RATE = 1000
"""The most requests a second that an endpoint can be limited to."""

RATE_BURST = 0.25
"""Seconds whose requests a limited endpoint can be sent at once."""

_MAX_SLOT_WAIT = timedelta(minutes=2)
"""No slot is later: one that is was claimed before the clock was put back."""

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
class ReplayScope:
    """What a replay sends: failed deliveries, and events that the webhook never got.

    Events from before the webhook was created only with ``before_creation``.
    """

    failed: bool = True
    missing: bool = True
    before_creation: bool = False


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """How many deliveries had failed and are due again, and how many were missing.

    ``has_more`` where more are missing than are made at once: ask again for the next. A preview
    has the events ``earlier`` than the webhook too, which are left out. ``is_paused``: they wait
    until the webhook is resumed.
    """

    failed: int
    missing: int
    has_more: bool = False
    earlier: int = 0
    is_paused: bool = False


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
    wait = delay_before(attempts, SCHEDULE, chance)
    if wait is None:
        return NextStep(DeliveryStatus.FAILED)
    if retry_after is not None:
        wait = max(wait, min(retry_after, MAX_RETRY_AFTER))
    return NextStep(DeliveryStatus.PENDING, wait)


ALERT_WINDOW = timedelta(minutes=15)
"""The time whose attempts an alert's share of failures is of."""

ALERT_PAUSE = timedelta(hours=1)
"""People are told of a webhook that works and fails in turn this often at most."""

MAX_ALERTS = 5
"""Webhooks of an app that people are told of in ``ALERT_PAUSE``: one host can have many."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """When a webhook counts as failing: so many failures in a row, or percent of attempts.

    The percentage counts from ``attempts`` on. Without ``is_on`` nobody is told.
    """

    is_on: bool = True
    failures: int = 3
    percent: int = 50
    attempts: int = 10

    def is_failing(self, in_row: int, failed: int, attempts: int) -> bool:
        """Whether one fails, with ``failed`` of ``attempts`` in ``ALERT_WINDOW``."""
        has_traffic = attempts >= max(1, self.attempts)
        return in_row >= self.failures or (has_traffic and 100 * failed >= self.percent * attempts)


@dataclass(frozen=True, slots=True)
class Slots:
    """How many requests can be sent to a limited endpoint now, each ``step`` after the other."""

    count: int
    begin: datetime
    step: timedelta

    def next_after(self, taken: int) -> datetime:
        """Return when the next request can be sent once ``taken`` slots are used."""
        return self.begin + taken * self.step


def free_slots(next_slot: datetime | None, now: datetime, rate: int) -> Slots:
    """Return the free slots of an endpoint that gets ``rate`` requests a second at most.

    Unused slots of the last ``RATE_BURST`` seconds can be used at once, at least one.
    """
    step = timedelta(seconds=1) / rate
    most = max(1, int(rate * RATE_BURST))
    begin = now - (most - 1) * step
    if next_slot is not None and begin < next_slot <= now + _MAX_SLOT_WAIT:
        begin = next_slot
    count = (now - begin) // step + 1 if begin <= now else 0
    return Slots(min(most, count), begin, step)


def sending_rate(max_rate: int, *, catches_up: bool) -> int:
    """Return the requests a second that an endpoint gets at most; 0 for no limit.

    ``catches_up``: what waited during a pause is being sent.
    """
    if not catches_up:
        return max_rate
    return min(max_rate, CATCH_UP_RATE) if max_rate else CATCH_UP_RATE


def read_retry_after(text: str | None, now: datetime) -> float | None:
    """Return the seconds that ``Retry-After`` asks for (RFC 9110, 10.2.3): a number, or a date."""
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


MAX_DETAIL = 160
"""Characters of a response's own words that are shown."""

NOT_STORED = translatable(
    "(not stored: this event carries a link that gives access to an account)"
)
"""What is stored instead of a response to an event with a link."""

_REASONS = {status.value: status.phrase for status in HTTPStatus}
_MEMBERS = ("error", "message", "detail", "error_description", "title", "errors")
"""Where JSON responses say what is wrong."""


def status_line(status: int) -> str:
    """Return a response's status with its reason: ``503 Service Unavailable``."""
    reason = _REASONS.get(status)
    return f"{status} {reason}" if reason else str(status)


def _reason(status: int) -> str:
    return _REASONS.get(status, "").casefold()


def failure_cause(status: int | None, response: str) -> str:
    """Return why an attempt failed: ``402 Payment Required: Your plan has ended``.

    ``response`` is the response's body; without a ``status`` it is the network error itself.
    """
    if status is None:
        return response.strip() or translatable("No response")
    detail = response_detail(status, response)
    return f"{status_line(status)}: {detail}" if detail else status_line(status)


def status_of(cause: str) -> str:
    """Return a cause without the response's own words; that of a network error as it is."""
    status, _, _ = cause.partition(": ")
    return status if status[:3].isdigit() else cause


def response_detail(status: int, response: str) -> str:
    """Return what a response's body says in plain words: an error's message, or a short text.

    Empty for markup, for JSON without a message, and for what the status says already.
    """
    try:
        message = _message_in(json.loads(response.removeprefix("\ufeff")))
    except RecursionError:
        message = ""
    except ValueError:
        is_text = "<" not in response and not response.lstrip().startswith(("{", "["))
        message = response if is_text else ""
    line = " ".join(message.split())
    if line.casefold() in (str(status), status_line(status).casefold(), _reason(status)):
        return ""
    return line if len(line) <= MAX_DETAIL else f"{line[: MAX_DETAIL - 1]}…"


def _message_in(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return _message_in(value[0]) if value else ""
    if isinstance(value, dict):
        found = (_message_in(value[name]) for name in _MEMBERS if name in value)
        return next(filter(None, found), "")
    return ""


MESSAGE_RANDOM_LENGTH = 16
"""Random characters in one; together with the millisecond they make it the only one."""


def make_message_id(created_at: datetime, chance: str) -> str:
    """Return ``msg_``, the millisecond in hexadecimal, and ``chance``.

    ``chance`` is ``MESSAGE_RANDOM_LENGTH`` random characters.

    Ids sort by time, so that new ones are neighbors in the index: with random ids a delivery would
    cost more as the table grows.
    """
    return f"msg_{int(created_at.timestamp() * 1000):012x}{chance}"
