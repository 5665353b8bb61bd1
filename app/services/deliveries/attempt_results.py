"""Store the results of attempts: rows, the next attempt, and endpoints that only fail."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import bindparam, insert, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.deliveries.deliveries import (
    DISABLE_AFTER,
    RECOVERED_AFTER,
    Batch,
    DeliveryStatus,
    NextStep,
    failure_cause,
    next_step_after,
)
from app.ports import Ports
from app.ports.monitoring import ATTEMPT_SECONDS, ATTEMPTS, DELIVERIES
from app.services.authorization.register import building_block
from app.services.deliveries.backlog import release_gradually
from app.services.webhooks.failing_webhooks import disable_webhook, review_incident

GONE_REASON = "The endpoint returned 410 Gone."
FAILING_REASON = "The endpoint failed for 5 days without a successful delivery."
_MAX_SUMMARY_LENGTH = 256

_webhook = select(
    models.Webhook.target_url,
    or_(
        models.Webhook.failing_since.is_not(None),
        models.Webhook.failures_in_row > 0,
        models.Webhook.incident_since.is_not(None),
    ).label("is_suspect"),
).where(models.Webhook.id == bindparam("webhook"))
_LOCK = _webhook.with_for_update(key_share=True)
_LOCK_AGAINST_DELETION = _webhook.with_for_update(key_share=True, read=True)
_INSERT_ATTEMPTS = insert(models.DeliveryAttempt)
_SCHEDULE = (
    update(models.Delivery)
    .where(
        models.Delivery.id.in_(bindparam("deliveries", expanding=True)),
        models.Delivery.lease == bindparam("held"),
    )
    .values(
        status=bindparam("new_status"),
        attempts=bindparam("new_attempts"),
        response_status=bindparam("answered"),
        next_attempt_at=bindparam("next"),
        lease="",
        lease_until=None,
    )
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery of a batch, as far as an attempt needs it.

    ``is_sample`` if it was triggered by hand, and not by an event, whose trace it continues.
    """

    id: int
    event: str
    message_id: str
    payload: str = field(repr=False)
    issuer: str
    attempts: int
    is_sample: bool
    traceparent: str = ""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of one attempt; ``duration`` and ``retry_after`` in seconds.

    ``response`` is the response's body, or why there was none. ``fault`` is set for an internal
    error, which doesn't count against the endpoint.
    """

    delivery: Delivery
    at: datetime
    duration: float
    request_headers: Mapping[str, str] = field(repr=False)
    answered: int | None
    response_headers: Mapping[str, str] = field(repr=False)
    response: str = field(repr=False)
    retry_after: float | None
    fault: Exception | None = field(default=None, repr=False)

    @property
    def summary(self) -> str:
        """The response in one line: ``503 Service Unavailable: maintenance until 10:00``."""
        return failure_cause(self.answered, self.response)


@building_block
def save_results(
    ports: Ports, batch: Batch, target: str, results: Sequence[AttemptResult]
) -> None:
    """Store the attempts at ``target`` and schedule the next, unless the lease was lost.

    Nothing is stored if the webhook was deleted meanwhile.
    """
    if not results:
        return
    next_steps = [_next_step(ports, outcome) for outcome in results]
    _measure(ports, results, next_steps)
    now = ports.shared_clock.now()
    with ports.database.transaction() as session:
        # Before its deliveries, in the order of deletions, to avoid deadlocks. Against changes
        # too, unless all attempts succeeded: then batches don't wait for each other.
        arrived = all(next_step.status is DeliveryStatus.SUCCESS for next_step in next_steps)
        lock = _LOCK_AGAINST_DELETION if arrived else _LOCK
        webhook = session.execute(lock, {"webhook": batch.webhook_id}).one_or_none()
        if webhook is None:
            return
        attempts = [_attempt(*both) for both in zip(results, next_steps, strict=True)]
        session.connection().execute(_INSERT_ATTEMPTS, attempts)
        _schedule_next(session, batch.lease, results, next_steps, now)
        is_known_healthy = arrived and not webhook.is_suspect
        if webhook.target_url == target and not is_known_healthy:
            stored = session.get_one(models.Webhook, batch.webhook_id)
            _update_endpoint_health(ports, session, stored, results, next_steps)


def _measure(
    ports: Ports, results: Sequence[AttemptResult], next_steps: Sequence[NextStep]
) -> None:
    for result, next_step in zip(results, next_steps, strict=True):
        ports.metrics.count(ATTEMPTS, _kind(result, next_step))
        ports.metrics.observe(ATTEMPT_SECONDS, result.duration)
        if next_step.status is not DeliveryStatus.PENDING:
            ports.metrics.count(DELIVERIES, next_step.status.value)


def _kind(result: AttemptResult, next_step: NextStep) -> str:
    if result.fault is not None:
        return "fault"
    if result.answered is None:
        return "no_response"
    return "delivered" if next_step.status is DeliveryStatus.SUCCESS else "http_error"


@building_block
def fail_each(ports: Ports, lease: str, reasons: Mapping[int, str]) -> None:
    """End deliveries of a lease without an attempt, each for its reason, by key.

    One transaction, one statement for all that end for the same reason.
    """
    alike: dict[str, list[int]] = {}
    for key, reason in reasons.items():
        alike.setdefault(reason, []).append(key)
    if not alike:
        return
    with ports.database.transaction() as session:
        for reason, keys in alike.items():
            session.execute(
                update(models.Delivery)
                .where(models.Delivery.id.in_(keys), models.Delivery.lease == lease)
                .values(
                    status=DeliveryStatus.FAILED.value,
                    next_attempt_at=None,
                    lease="",
                    lease_until=None,
                    given_up=reason,
                )
            )


def _schedule_next(
    session: Session,
    lease: str,
    results: Sequence[AttemptResult],
    next_steps: Sequence[NextStep],
    now: datetime,
) -> None:
    """Group deliveries with the same outcome and update each group in one statement."""
    alike: dict[tuple[NextStep, int | None, int], list[int]] = {}
    for outcome, next_step in zip(results, next_steps, strict=True):
        came_to = (next_step, outcome.answered, outcome.delivery.attempts + 1)
        alike.setdefault(came_to, []).append(outcome.delivery.id)
    for (next_step, answered, attempts), deliveries in alike.items():
        wait = next_step.wait
        values = {
            "deliveries": deliveries,
            "held": lease,
            "new_status": next_step.status.value,
            "new_attempts": attempts,
            "answered": answered,
            "next": None if wait is None else now + timedelta(seconds=wait),
        }
        session.connection().execute(_SCHEDULE, values)


def _next_step(ports: Ports, outcome: AttemptResult) -> NextStep:
    return next_step_after(
        answered=outcome.answered,
        attempts=outcome.delivery.attempts + 1,
        retry_after=outcome.retry_after,
        chance=ports.randomness.secret(1)[0] / 255,
    )


def _attempt(outcome: AttemptResult, next_step: NextStep) -> dict[str, object]:
    succeeded = next_step.status is DeliveryStatus.SUCCESS
    return {
        "delivery_id": outcome.delivery.id,
        "created_at": outcome.at,
        "duration": outcome.duration,
        "status": (DeliveryStatus.SUCCESS if succeeded else DeliveryStatus.FAILED).value,
        "request_headers": dict(outcome.request_headers),
        "response_status": outcome.answered,
        "response_headers": dict(outcome.response_headers),
        "response": outcome.response,
    }


def _update_endpoint_health(
    ports: Ports,
    session: Session,
    webhook: models.Webhook,
    results: Sequence[AttemptResult],
    next_steps: Sequence[NextStep],
) -> None:
    """Store since when an endpoint has only failed; disable one that fails too long.

    What waits for one that works again is sent soon. People are told of both.
    """
    now = ports.clock.now()
    both = zip(results, next_steps, strict=True)
    judged = [(result, next_step) for result, next_step in both if result.fault is None]
    if not judged:
        return
    failed = [
        result for result, next_step in judged if next_step.status is not DeliveryStatus.SUCCESS
    ]
    webhook.failures_in_row = _failures_in_row(webhook.failures_in_row, judged)
    if failed:
        webhook.last_failure_at = failed[-1].at
        webhook.last_failure = failed[-1].summary[:_MAX_SUMMARY_LENGTH]
    if any(next_step.gone for next_step in next_steps):
        disable_webhook(ports, session, webhook, GONE_REASON)
    elif len(failed) < len(judged):
        since, webhook.failing_since = webhook.failing_since, None
        if since is not None and now - since >= RECOVERED_AFTER:
            release_gradually(session, webhook.id, ports.shared_clock.now())
    elif webhook.failing_since is None:
        webhook.failing_since = now
    elif now - webhook.failing_since >= DISABLE_AFTER:
        disable_webhook(ports, session, webhook, FAILING_REASON)
    review_incident(ports, session, webhook, has_failed=bool(failed))


def _failures_in_row(before: int, judged: Sequence[tuple[AttemptResult, NextStep]]) -> int:
    """Return how many attempts have failed since the last success, with those ``judged`` now."""
    in_row = 0
    for _, next_step in reversed(judged):
        if next_step.status is DeliveryStatus.SUCCESS:
            return in_row
        in_row += 1
    return before + in_row
