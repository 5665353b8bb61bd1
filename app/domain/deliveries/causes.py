"""Why a delivery failed, in one line."""

import json
from http import HTTPStatus

from app.domain.values.text import translatable

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
