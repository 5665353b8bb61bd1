"""What operators watch: metrics (Prometheus), traces (OpenTelemetry) and the security log.

The security log is for a SIEM, in addition to the audit log and the sign-in log. Usage and refused
sign-ins are collected in memory and written once a minute by each process.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from app.domain.audit import SecurityEvent
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TrafficKind
from app.domain.sign_in.sign_in_log import SignInRefusal


class MetricKind(StrEnum):
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    PROCESS_GAUGE = "gauge of each process"
    """Summed over the processes that are alive."""
    GAUGE = "gauge"
    """Read when it is asked for."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric by its Prometheus name; ``buckets`` are a histogram's, in seconds."""

    name: str
    help: str
    labels: tuple[str, ...]
    kind: MetricKind
    buckets: tuple[float, ...]


_METRICS: list[Metric] = []


def _metric(
    name: str,
    text: str,
    labels: tuple[str, ...] = (),
    kind: MetricKind = MetricKind.COUNTER,
    buckets: tuple[float, ...] = (),
) -> Metric:
    metric = Metric(name, text, labels, kind, buckets)
    _METRICS.append(metric)
    return metric


def _gauge(name: str, text: str, labels: tuple[str, ...] = ()) -> Metric:
    return _metric(name, text, labels, MetricKind.GAUGE)


_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0)

REQUESTS = _metric(
    "latchkey_http_requests_total",
    "HTTP requests by method, route pattern and status.",
    ("method", "route", "status"),
)
REQUEST_SECONDS = _metric(
    "latchkey_http_request_duration_seconds",
    "Time from a request's arrival in a thread to its response, in seconds.",
    ("route",),
    MetricKind.HISTOGRAM,
    _FAST,
)
OPERATIONS = _metric(
    "latchkey_graphql_operations_total",
    "GraphQL operations by root field and outcome. Operations with several root fields have "
    'the field "several"; those that were refused before execution have "other".',
    ("field", "outcome"),
)
OPERATION_SECONDS = _metric(
    "latchkey_graphql_operation_duration_seconds",
    "Time to execute a GraphQL operation by root field, in seconds.",
    ("field",),
    MetricKind.HISTOGRAM,
    _FAST,
)
TOKENS_REFUSED = _metric(
    "latchkey_tokens_refused_total",
    "API requests whose token was refused, by reason.",
    ("reason",),
)
SIGN_INS = _metric(
    "latchkey_sign_ins_total",
    "Sign-in attempts by method and result. A right password that waits for a second factor "
    "isn't counted yet.",
    ("method", "result"),
)
THROTTLE_BLOCKS = _metric(
    "latchkey_throttle_blocks_total", "Times that the login throttle blocked an IP address."
)
HASHES_WAITING = _metric(
    "latchkey_password_hashes_waiting",
    "Password hashes that are computed or wait for their turn, by lane.",
    ("lane",),
    MetricKind.PROCESS_GAUGE,
)
ATTEMPTS = _metric(
    "latchkey_delivery_attempts_total", "Attempts to deliver webhooks by result.", ("result",)
)
ATTEMPT_SECONDS = _metric(
    "latchkey_delivery_attempt_duration_seconds",
    "Time until an endpoint responded or the attempt failed, in seconds.",
    (),
    MetricKind.HISTOGRAM,
    _SLOW,
)
DELIVERIES = _metric(
    "latchkey_deliveries_total", "Deliveries that ended with an attempt, by result.", ("result",)
)
DELIVERIES_DUE = _gauge(
    "latchkey_deliveries_due", "Deliveries that are due and wait for a worker; counted to 100,000."
)
OLDEST_DELIVERY = _gauge(
    "latchkey_delivery_oldest_due_seconds",
    "How long the oldest due delivery has been waiting; 0 if none is.",
)
DELIVERIES_HELD_UP = _gauge(
    "latchkey_delivery_oldest_without_worker_seconds",
    "How long the oldest due delivery has been waiting for a worker; 0 if none is. Those of "
    "endpoints that fail, are paused, or are sent as much as they get at once, don't count.",
)
DELIVERIES_RETRYING = _gauge(
    "latchkey_deliveries_retrying", "Deliveries that wait for a later attempt; counted to 100,000."
)
_WEBHOOK = ("webhook", "name", "app")
WEBHOOK_DELIVERIES = _gauge(
    "latchkey_webhook_deliveries",
    "Deliveries of a webhook that are due or retrying, or wait while it is paused (state); of the "
    "50 webhooks with most, each counted to 10,000.",
    (*_WEBHOOK, "state"),
)
WEBHOOK_OLDEST = _gauge(
    "latchkey_webhook_oldest_delivery_seconds",
    "How long the oldest of them has been due, or is after its event if it is retrying.",
    (*_WEBHOOK, "state"),
)
WEBHOOK_FAILING = _gauge(
    "latchkey_webhook_failing_seconds",
    "How long a webhook with waiting deliveries has only failed. Absent for one that works.",
    _WEBHOOK,
)
WEBHOOK_PAUSED = _gauge(
    "latchkey_webhook_paused_seconds",
    "How long a webhook with waiting deliveries has been paused. Absent for one that isn't.",
    _WEBHOOK,
)
EVENTS_OPEN = _gauge(
    "latchkey_outbox_events",
    "Events in the outbox whose deliveries haven't been created; counted to 100,000.",
)
OLDEST_EVENT = _gauge(
    "latchkey_outbox_oldest_event_seconds",
    "How long the oldest event has been in the outbox; 0 if there is none.",
)
MAILS_DUE = _gauge("latchkey_outbox_mails", "Emails that are due; counted to 100,000.")
OLDEST_MAIL = _gauge(
    "latchkey_outbox_oldest_mail_seconds",
    "How long the oldest due email has been waiting; 0 if none is.",
)
LOGOUT_REPORTS = _metric(
    "latchkey_logout_reports_total",
    "Reports of ended sessions to OAuth clients (back-channel logout) by result: ok, refused, "
    "failed (tried again), given_up.",
    ("result",),
)
LOGOUTS_WAITING = _gauge(
    "latchkey_logout_reports_waiting",
    "Reports of ended sessions that OAuth clients haven't got; counted to 100,000.",
)
OLDEST_LOGOUT = _gauge(
    "latchkey_logout_report_oldest_seconds",
    "How long the oldest of them is after its first attempt, which failed; 0 if there is none.",
)
HEARTBEAT = _gauge(
    "latchkey_worker_heartbeat_age_seconds",
    "Time since the last heartbeat of any worker. Absent if there never was one.",
)
BACKUP_AGE = _gauge(
    "latchkey_backup_age_seconds",
    "Time since `flask backup` last wrote a file. Absent if it never did.",
)
MIGRATION_PENDING = _gauge(
    "latchkey_migration_pending",
    "1 if the database lacks a migration of this version, which didn't run or failed, else 0.",
)
READY = _gauge("latchkey_ready", "1 if /readyz answers 200, else 0.")
DEGRADED = _gauge(
    "latchkey_degraded",
    "1 if /readyz answers 200 although a check has a warning, such as Redis being away, else 0.",
)
PROVIDER_CALLS = _metric(
    "latchkey_provider_calls_total",
    "Calls to identity providers by purpose and result.",
    ("purpose", "result"),
)
PROVIDER_SECONDS = _metric(
    "latchkey_provider_call_duration_seconds",
    "Time of a call to an identity provider by purpose, in seconds.",
    ("purpose",),
    MetricKind.HISTOGRAM,
    _SLOW,
)
CONNECTIONS = _metric(
    "latchkey_database_connections",
    "Database connections in use, by pool.",
    ("pool",),
    MetricKind.PROCESS_GAUGE,
)
CONNECTIONS_MAX = _metric(
    "latchkey_database_connections_max",
    "The most database connections that can be in use, by pool.",
    ("pool",),
    MetricKind.PROCESS_GAUGE,
)
REPLICA_READS = _metric(
    "latchkey_replica_reads_total",
    "Lists that could be read from the replica, by the server that was asked: replica, or primary "
    "while the replica can't be used and for statements that failed there.",
    ("server",),
)
REPLICA_READY = _gauge(
    "latchkey_replica_ready",
    "1 if lists can be read from the replica, else 0. Absent without DATABASE_REPLICA_URL.",
)
BUILD = _gauge("latchkey_build_info", "Always 1; the version is in the label.", ("version",))

METRICS = tuple(_METRICS)
"""All of them, in the order of the documentation."""

Measurement = tuple[Metric, float, tuple[str, ...]]
"""A gauge's value and the values of its labels."""


class Metrics(Protocol):
    """Where measurements go; calls are quick and raise nothing."""

    def count(self, metric: Metric, *labels: str, amount: float = 1.0) -> None:
        """Add to a counter."""

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        """Add a duration to a histogram."""

    def observe_all(self, metric: Metric, durations: Iterable[float], *labels: str) -> None:
        """Add several durations to a histogram."""

    def watch(self, read: Callable[[], Iterable[Measurement]]) -> None:
        """Read gauges of this process every second."""

    def fold_with(self, fold: Callable[[], None]) -> None:
        """Call ``fold`` every second, which counts and observes what has been collected.

        For what is measured so often that even these calls would be too slow.
        """

    def claim(self) -> bool:
        """Whether this process presents the metrics of its host from now on, until it ends.

        False while another process of the installation does.
        """

    def render(self, measured: Iterable[Measurement]) -> bytes:
        """Return all metrics in Prometheus's text format, with gauges that were measured now."""


class NoMetrics:
    """Metrics that are switched off."""

    def count(self, metric: Metric, *labels: str, amount: float = 1.0) -> None:
        return

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        return

    def observe_all(self, metric: Metric, durations: Iterable[float], *labels: str) -> None:
        return

    def watch(self, read: Callable[[], Iterable[Measurement]]) -> None:
        return

    def fold_with(self, fold: Callable[[], None]) -> None:
        return

    def claim(self) -> bool:
        return True

    def render(self, measured: Iterable[Measurement]) -> bytes:
        return b""


NO_METRICS = NoMetrics()

Attributes = Mapping[str, str | int | float | bool]


class SpanKind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"


class Span(Protocol):
    """A running span."""

    def rename(self, name: str) -> None:
        """Replace its name."""

    def add(self, attributes: Attributes) -> None:
        """Add attributes; no secrets, no personal data."""


class EndSpan(Protocol):
    def __call__(self, *, failed: bool) -> None:
        """End the span."""


class Traces(Protocol):
    """Where spans go."""

    @property
    def is_on(self) -> bool:
        """Whether spans are sent; check it before doing work for a span."""

    def span(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        attributes: Attributes | None = None,
        traceparent: str = "",
    ) -> AbstractContextManager[Span]:
        """Run the block in a span, below the current one or ``traceparent`` (W3C Trace Context).

        What the block raises marks the span as failed.
        """

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> EndSpan:
        """Begin a childless span below the current one; return what ends it."""

    def traceparent(self) -> str:
        """Return the current span for the header ``traceparent``; empty outside of spans."""


def _end_nothing(*, failed: bool) -> None:
    return


class _NoSpan:
    def rename(self, name: str) -> None:
        return

    def add(self, attributes: Attributes) -> None:
        return


class NoTraces:
    """Traces that are switched off."""

    is_on = False
    _span: AbstractContextManager[Span] = nullcontext(_NoSpan())

    def span(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        attributes: Attributes | None = None,
        traceparent: str = "",
    ) -> AbstractContextManager[Span]:
        return self._span

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> EndSpan:
        return _end_nothing

    def traceparent(self) -> str:
        return ""


NO_TRACES = NoTraces()


class SecurityLog(Protocol):
    def write(self, event: SecurityEvent, **fields: object) -> None:
        """Write a line; ``None`` and empty fields are left out. Raises nothing."""


class NoSecurityLog:
    """A security log that is switched off."""

    def write(self, event: SecurityEvent, **fields: object) -> None:
        return


NO_SECURITY_LOG = NoSecurityLog()


class SignInLog(Protocol):
    """No refused attempt waits for a write, and a flood of them takes bounded memory and rows."""

    def count_refusal(self, refusal: SignInRefusal, user_agent: str) -> None:
        """Count a refused attempt; equal ones become one entry, with the last ``user_agent``."""

    def flush(self) -> None:
        """Write what was counted; what cannot be written is kept for the next time."""


class Activity(Protocol):
    """Noticing costs the hot path next to nothing: no request waits for a write of these."""

    def count_request(self, kind: TrafficKind) -> None:
        """Count a request of that kind of caller."""

    def count_rejection(self) -> None:
        """Count a request that the closed storefront rejected."""

    def record_session_use(self, session_id: int) -> None:
        """Record that a session was used now."""

    def record_app_token_use(self, token_id: int, address: str | None) -> None:
        """Record that an app's token was used now, from ``address``."""

    def count_app_request(
        self, app_id: int, code: str, seconds: float, permissions: Collection[Permission] = ()
    ) -> None:
        """Count a request of an app that ended with the error ``code``, "" for none.

        It needed ``permissions``.
        """

    def record_permission_use(self, app_id: int, permission: Permission) -> None:
        """Record that an app needed a permission now: to be sent an event."""

    def record_forwarding(self, peer: str) -> None:
        """Record that ``peer``, not a trusted proxy, sent a forwarded client address."""

    def flush(self) -> None:
        """Write down what has been gathered; what cannot be written is kept for the next time."""
