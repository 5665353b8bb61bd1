"""The view model of one delivery: its state, what was sent and answered, and its attempts."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from app.console.frame.formatting import decimal, html_text, milliseconds, time_element
from app.console.integrations.event_subjects import title_of
from app.console.integrations.missing_permissions import WithheldNote
from app.domain.deliveries import deliveries
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.services.deliveries.details import (
    SHOWN_ATTEMPTS,
    DeliveryDetails,
    ObjectName,
    ShownAttempt,
    Signed,
)
from app.services.deliveries.lists import DeliveryLine
from app.web.translation import reason_text, text

_KILO = 1024


def status_words(line: DeliveryLine) -> tuple[str, str]:
    """Return the state of a delivery: its pill's colour, and the word in it."""
    if line.status is deliveries.DeliveryStatus.SUCCESS:
        return "ok", text("Delivered")
    if line.status is deliveries.DeliveryStatus.FAILED:
        return "bad", text("Failed")
    if not can_be_sent(line):
        return "warn", text("Not sending")
    if line.attempts:
        return "warn", text("Retrying")
    return "info", text("Resending") if was_answered(line) else text("Waiting")


def can_be_sent(line: DeliveryLine) -> bool:
    """Return whether the webhook and its app are active."""
    return line.is_webhook_active and line.is_app_active


def was_answered(line: DeliveryLine) -> bool:
    """Return whether an attempt came to anything, be it a network error."""
    return line.response_status is not None or bool(line.last_response)


def answer_words(status: int | None) -> str:
    """Return a response's status: ``503 Service Unavailable``."""
    return text("No response") if status is None else deliveries.status_line(status)


def cause_of(line: DeliveryLine) -> str:
    """Return why the last attempt failed; empty if it succeeded or there was none."""
    if line.status is deliveries.DeliveryStatus.SUCCESS or not was_answered(line):
        return ""
    return failure_text(line.response_status, line.last_response)


def failure_text(status: int | None, response: str) -> str:
    """Return why an attempt failed, as ``failure_cause`` does, in the language of the request."""
    if status is None:
        return reason_text(response.strip()) or text("No response")
    detail = response_words(status, response)
    return (
        f"{deliveries.status_line(status)}: {detail}" if detail else deliveries.status_line(status)
    )


def response_words(status: int, response: str) -> str:
    """Return ``response_detail``; a response that isn't stored says so in the page's language."""
    detail = deliveries.response_detail(status, response)
    return text(deliveries.NOT_STORED) if detail == deliveries.NOT_STORED else detail


def size_of(body: str) -> str:
    size = len(body.encode())
    if size < _KILO:
        return text("{count} byte", "{count} bytes", count=size)
    return text("{size} kB", size=decimal(size / _KILO, 1))


def curl_of(found: DeliveryDetails, chosen: ShownAttempt | None) -> str:
    """Return a curl command for the same request; no header in it holds a secret."""
    if chosen is None:
        return ""
    headers = [
        f"-H {shlex.quote(f'{name}: {value}')}"
        for name, value in chosen.attempt.request_headers.items()
    ]
    body = f"--data-raw {shlex.quote(found.payload)}"
    return " ".join(["curl -X POST", *headers, body, shlex.quote(found.line.target_url)])


_MAX_VALUE = 96
_TIMING = translatable("{moment} · {duration}")
_SHOWN_TIMING = translatable("{moment} · {duration} · shown")
_SIGNATURES = {
    Signed.VERIFIED: ("ok", translatable("Signature valid")),
    Signed.KEY_GONE: ("", translatable("Key replaced since")),
    Signed.WRONG: ("bad", translatable("Signature invalid")),
}

_SOON = timedelta(minutes=1)
_OFTEN, _SELDOM = 2, 15
"""Seconds between two refreshes, when the next attempt is soon and when it isn't."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header; ``note`` is its length if the value is cut."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Banner:
    """What happened, the cause first, and what follows."""

    state: str
    cause: str
    detail: str


@dataclass(frozen=True, slots=True)
class Response:
    """What an attempt came to: an endpoint's response, or the network error instead of one."""

    state: str
    result: str
    timing: str
    headers: tuple[Header, ...]
    error: str
    body: str
    size: str


@dataclass(frozen=True, slots=True)
class AttemptRow:
    id: int
    state: str
    result: str
    timing: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class DeliveryPage:
    """One delivery, with one of its attempts shown in full.

    While ``refresh_seconds`` isn't 0, an open page looks for the next attempt that often;
    ``announcement`` is what a screen reader reads when it was made.
    """

    line: DeliveryLine
    title: str
    event: str
    webhook: str
    api_id: str
    state: str
    status: str
    banner: Banner | None
    withheld: WithheldNote | None
    resend: str
    enables: bool
    signature_state: str
    signature: str
    request_headers: tuple[Header, ...]
    payload: str
    size: str
    curl: str
    response: Response | None
    not_sent: str
    attempts: tuple[AttemptRow, ...]
    attempt_count: str
    next_attempt: str
    expires_at: datetime
    refresh_seconds: int
    announcement: str


def make_delivery_page(
    found: DeliveryDetails,
    now: datetime,
    names: Mapping[str, ObjectName],
    attempt_id: int | None = None,
    withheld: WithheldNote | None = None,
) -> DeliveryPage:
    """Return the page; it shows the attempt ``attempt_id``, or else the last one.

    ``names`` are those of objects by global ID. With ``withheld``, what was sent and answered
    isn't shown.
    """
    line, attempts = found.line, found.attempts
    chosen = next((attempt for attempt in attempts if attempt.attempt.id == attempt_id), None)
    chosen = chosen or (attempts[0] if attempts else None)
    state, status = status_words(line)
    signature_state, signature = ("", "")
    if chosen is not None and chosen.signed is not None:
        signature_state, signature = _SIGNATURES[chosen.signed]
    return DeliveryPage(
        line=line,
        title=title_of(line, names),
        event=text(line.event.label),
        webhook=line.webhook_name or text("Unnamed webhook"),
        api_id=to_global_id("EventDelivery", line.id),
        state=state,
        status=status,
        banner=_banner(line, now),
        withheld=withheld,
        resend="" if withheld else _resend(line),
        enables=not line.is_webhook_active,
        signature_state=signature_state,
        signature=text(signature),
        request_headers=() if chosen is None else _headers(chosen.attempt.request_headers),
        payload=found.payload,
        size=size_of(found.payload),
        curl="" if withheld else curl_of(found, chosen),
        response=None if chosen is None else _response(chosen, now),
        not_sent=_not_sent(line),
        attempts=tuple(_row(attempt, chosen, now) for attempt in attempts),
        attempt_count=_attempt_count(line, len(attempts)),
        next_attempt=_next_moment(line, now),
        expires_at=line.created_at + deliveries.RETENTION,
        refresh_seconds=_refresh_seconds(line, now),
        announcement=text("{title}: {status}", title=title_of(line, names), status=status),
    )


def _refresh_seconds(line: DeliveryLine, now: datetime) -> int:
    """Return how often an open page looks for the next attempt; 0 if there is none."""
    if not _is_pending(line) or not can_be_sent(line) or line.next_attempt_at is None:
        return 0
    return _OFTEN if line.next_attempt_at - now < _SOON else _SELDOM


def _is_pending(line: DeliveryLine) -> bool:
    return line.status is deliveries.DeliveryStatus.PENDING


def _banner(line: DeliveryLine, now: datetime) -> Banner | None:
    cause = cause_of(line)
    if line.status is deliveries.DeliveryStatus.FAILED:
        return Banner("bad", cause or text("Not delivered"), _failure_sentence(line, cause))
    if _is_pending(line) and not can_be_sent(line):
        return Banner("warn", cause or text("Not sent"), _obstacle(line))
    if _is_pending(line) and cause and line.next_attempt_at:
        return Banner("warn", cause, _next_attempt(line.next_attempt_at, now))
    return None


def _obstacle(line: DeliveryLine) -> str:
    if not line.is_app_active:
        return text(
            "{app} is inactive. Activate the app to send this delivery.", app=line.app_name
        )
    return text("The webhook is disabled. Enable it to send this delivery.")


def _resend(line: DeliveryLine) -> str:
    """Return the label of the button that resends; empty while the app is inactive."""
    if not line.is_app_active:
        return ""
    return text("Resend now") if line.is_webhook_active else text("Enable and resend")


def _failure_sentence(line: DeliveryLine, cause: str) -> str:
    if line.given_up:
        reason = reason_text(line.given_up)
        return text("Not delivered. {reason}", reason=reason) if cause else reason
    return text(
        "Not delivered after {count} attempt.",
        "Not delivered after {count} attempts.",
        count=line.attempts,
    )


def _next_moment(line: DeliveryLine, now: datetime) -> str:
    if not _is_pending(line) or not can_be_sent(line) or line.next_attempt_at is None:
        return ""
    if line.next_attempt_at <= now:
        return text("due now")
    return time_element(line.next_attempt_at, now)


def _next_attempt(moment: datetime, now: datetime) -> str:
    if moment <= now:
        return text("The next attempt is due now.")
    return html_text("Next attempt {moment}.", moment=time_element(moment, now))


def _headers(values: Mapping[str, object]) -> tuple[Header, ...]:
    return tuple(_header(name, str(value)) for name, value in values.items())


def _header(name: str, value: str) -> Header:
    if len(value) <= _MAX_VALUE:
        return Header(name, value)
    length = text("{count:,} character", "{count:,} characters", count=len(value))
    return Header(name, f"{value[: _MAX_VALUE - 1]}…", length)


def _not_sent(line: DeliveryLine) -> str:
    """Return why there is no attempt."""
    if _is_pending(line) and can_be_sent(line):
        return text("A worker sends it within seconds.")
    return text("No attempt was made.")


def _response(shown: ShownAttempt, now: datetime) -> Response:
    attempt = shown.attempt
    has_answer = attempt.response_status is not None
    body = (
        text(deliveries.NOT_STORED)
        if attempt.response == deliveries.NOT_STORED
        else attempt.response
    )
    is_good = attempt.status is deliveries.DeliveryStatus.SUCCESS
    return Response(
        state="ok" if is_good else "bad",
        result=answer_words(attempt.response_status),
        timing=_timing(attempt, now),
        headers=_headers(attempt.response_headers),
        error="" if has_answer else failure_text(None, attempt.response),
        body=body if has_answer else "",
        size=size_of(attempt.response) if has_answer else "",
    )


def _row(shown: ShownAttempt, chosen: ShownAttempt | None, now: datetime) -> AttemptRow:
    is_shown = shown is chosen
    return AttemptRow(
        id=shown.attempt.id,
        state="ok" if shown.attempt.status is deliveries.DeliveryStatus.SUCCESS else "bad",
        result=answer_words(shown.attempt.response_status),
        timing=_timing(shown.attempt, now, _SHOWN_TIMING if is_shown else _TIMING),
        is_shown=is_shown,
    )


def _timing(attempt: deliveries.Attempt, now: datetime, template: str = _TIMING) -> Markup:
    return html_text(
        template,
        moment=time_element(attempt.created_at, now),
        duration=milliseconds(1000 * attempt.duration),
    )


def _attempt_count(line: DeliveryLine, attempts: int) -> str:
    """Return how many attempts there were; of a resent delivery, those before it too."""
    if attempts >= SHOWN_ATTEMPTS:
        return text("latest {count}", count=SHOWN_ATTEMPTS)
    counted = str(attempts)
    if _is_pending(line) and line.attempts == attempts:
        return text("{count} of {most}", count=attempts, most=len(deliveries.SCHEDULE))
    if not 0 < line.attempts < attempts:
        return counted
    again = str(line.attempts)
    if _is_pending(line):
        again = text("{count} of {most}", count=again, most=len(deliveries.SCHEDULE))
    return text("{total}, {count} since it was resent", total=counted, count=again)
