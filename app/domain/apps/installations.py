"""Installations of apps: asked for, under way, failed; gone once the app is there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.authorization.permissions import Permission
from app.domain.values.text_rules import is_storable

MAX_ATTEMPTS = 3
"""How often an installation is begun whose worker died in the middle of it."""

MAX_MESSAGE_LENGTH = 1000
MAX_ANSWER_LENGTH = 200


class JobStatus(StrEnum):
    """The status of a job; successful installations are no longer listed."""

    PENDING = "PENDING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Installation:
    """A requested app; ``message`` is the app's own reason for a failure."""

    id: int
    app_name: str
    manifest_url: str
    status: JobStatus
    message: str
    permissions: frozenset[Permission]
    activate: bool
    created_at: datetime
    updated_at: datetime


def refusal_in(response: Mapping[str, object], *, good: bool) -> str | None:
    """Why an app refuses to be installed, or ``None`` when it does not.

    ``response`` is the JSON of its token target, empty for none; ``good`` whether the status was
    2xx. ``success: false`` is a refusal whatever the status (contract, "What existing clients hold
    us to": the message is ``error.message``).
    """
    if good and response.get("success") is not False:
        return None
    error = response.get("error")
    message = error.get("message") if isinstance(error, Mapping) else None
    return shown(message) if isinstance(message, str) and message.strip() else ""


def plain_answer(answer: str) -> str:
    """Return what an app answered in plain text, on one line and shortened; empty for HTML."""
    if answer.lstrip().startswith("<"):
        return ""
    line = shown(answer)
    return line if len(line) <= MAX_ANSWER_LENGTH else f"{line[: MAX_ANSWER_LENGTH - 1]}…"


def shown(message: str) -> str:
    """Return a foreign message on one line, fit to be stored and shown."""
    plain = "".join(
        character if character.isprintable() else " "
        for character in message
        if is_storable(character)
    )
    return " ".join(plain.split())[:MAX_MESSAGE_LENGTH]
