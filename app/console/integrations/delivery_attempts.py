"""A delivery's state and its attempts in words, and as a command that repeats one."""

import shlex

from app.console.formatting import decimal
from app.domain.deliveries.causes import NOT_STORED, response_detail, status_line
from app.domain.deliveries.deliveries import DeliveryStatus
from app.services.deliveries.details import DeliveryDetails, ShownAttempt
from app.services.deliveries.search import DeliveryLine
from app.web.translation import reason_text, text

_KILO = 1024


def status_words(line: DeliveryLine) -> tuple[str, str]:
    """Return the state of a delivery: its pill's colour, and the word in it."""
    if line.status is DeliveryStatus.SUCCESS:
        return "ok", text("Delivered")
    if line.status is DeliveryStatus.FAILED:
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
    return text("No response") if status is None else status_line(status)


def cause_of(line: DeliveryLine) -> str:
    """Return why the last attempt failed; empty if it succeeded or there was none."""
    if line.status is DeliveryStatus.SUCCESS or not was_answered(line):
        return ""
    return failure_text(line.response_status, line.last_response)


def failure_text(status: int | None, response: str) -> str:
    """Return why an attempt failed, as ``failure_cause`` does, in the language of the request."""
    if status is None:
        return reason_text(response.strip()) or text("No response")
    detail = response_words(status, response)
    return f"{status_line(status)}: {detail}" if detail else status_line(status)


def response_words(status: int, response: str) -> str:
    """Return ``response_detail``; a response that isn't stored says so in the page's language."""
    detail = response_detail(status, response)
    return text(NOT_STORED) if detail == NOT_STORED else detail


def size_of(body: str) -> str:
    """Return the size of a body in words."""
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
