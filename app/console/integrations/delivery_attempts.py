"""An attempt at a delivery, in words, and as a command that makes it again."""

import shlex
from http import HTTPStatus

from app.domain.deliveries.deliveries import DeliveryStatus
from app.services.deliveries.details import DeliveryDetails, ShownAttempt
from app.services.deliveries.search import DeliveryLine

_KILO = 1024


def status_words(line: DeliveryLine) -> tuple[str, str]:
    """The state of a delivery: its pill's colour, and the word in it."""
    if line.status is DeliveryStatus.SUCCESS:
        return "ok", "Arrived"
    if line.status is DeliveryStatus.FAILED:
        return "bad", "Gave up"
    return ("warn", "Failed, retries") if line.attempts else ("info", "Waiting")


def answer_words(status: int | None) -> str:
    """What an endpoint answered: ``503 Service Unavailable``."""
    if status is None:
        return "No answer"
    known = status in {one.value for one in HTTPStatus}
    return f"{status} {HTTPStatus(status).phrase}" if known else str(status)


def size_of(text: str) -> str:
    """How large a body is."""
    size = len(text.encode())
    return f"{size} bytes" if size < _KILO else f"{size / _KILO:.1f} kB"


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
