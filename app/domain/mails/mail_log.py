"""The mail log: which emails were sent, with which result, and why others weren't.

Errors are stored in English and shown in the reader's language.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.values.errors import Problem
from app.domain.values.text import translatable

MAX_TEXT_LENGTH = 100
"""Characters of a text that emails are searched for."""

MAX_SEARCHED = 10_000
"""Emails that a text is searched for in, the newest of those that the other filters leave."""

_MAX_ANSWER_LENGTH = 200
_HIDDEN = "[\N{HORIZONTAL ELLIPSIS}]"
_SECRETS = re.compile(
    r"\S*(?:@|//|www\.)\S*|[\w.~%+/=-]*=[\w.~%+/=-]+|[\w.~%+/=-]{20,}", re.IGNORECASE
)
"""An email or URL, a parameter with its value, a token."""


class MailStatus(StrEnum):
    """How far an email is; DEFERRED ones are tried again, FAILED ones aren't.

    WAITING ones wait for an app to send them instead, SENT_BY_APP ones an app has accepted.
    """

    QUEUED = "QUEUED"
    WAITING = "WAITING"
    SENT = "SENT"
    SENT_BY_APP = "SENT_BY_APP"
    DEFERRED = "DEFERRED"
    FAILED = "FAILED"


STATUS_LABELS: Mapping[str, str] = {
    MailStatus.QUEUED: translatable("Queued"),
    MailStatus.WAITING: translatable("Waiting for app"),
    MailStatus.SENT: translatable("Sent"),
    MailStatus.SENT_BY_APP: translatable("Sent by app"),
    MailStatus.DEFERRED: translatable("Deferred"),
    MailStatus.FAILED: translatable("Failed"),
}


@dataclass(frozen=True, slots=True)
class MailEntry:
    """An email in the mail log, without its content.

    ``kind`` is that of a ``MailKind``, or of one that existed once. ``user_id``, the names and
    ``is_staff`` are those of the account that it is about, empty without one. ``error`` says why
    the last attempt failed. ``sent_at`` is when a mail server accepted it, or the app ``sent_by``.
    ``waits_for`` is the app that it waits for: "" before one was found, ``None`` for no wait.
    """

    id: int
    kind: str
    recipient: str
    user_id: int | None
    first_name: str
    last_name: str
    is_staff: bool | None
    created_at: datetime
    attempts: int
    attempted_at: datetime | None
    next_attempt_at: datetime | None
    sent_at: datetime | None
    sent_by: str
    waits_for: str | None
    error: str

    @property
    def status(self) -> MailStatus:
        if self.sent_at is not None:
            return MailStatus.SENT_BY_APP if self.sent_by else MailStatus.SENT
        if self.next_attempt_at is None:
            return MailStatus.FAILED
        if self.waits_for is not None:
            return MailStatus.WAITING
        return MailStatus.DEFERRED if self.error else MailStatus.QUEUED


@dataclass(frozen=True, slots=True)
class MailFilter:
    """Conditions on emails; an empty field matches all.

    ``since`` and ``until`` are inclusive. ``text`` is a part of the recipient or of the account's
    name, ignoring case.
    """

    user_id: int | None = None
    kind: MailKind | None = None
    status: MailStatus | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""


def kind_label(kind: str) -> str:
    """Return what an email of that kind is called: "Password reset"."""
    return KIND_LABELS.get(kind) or kind.replace("_", " ").capitalize()


def readable_answer(answer: bytes | str, password: str = "") -> str:
    """Return what a mail server answered as one short line.

    Emails, URLs, possible tokens and the server's ``password`` are hidden: servers repeat what
    they were sent.
    """
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    line = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    if password:
        line = line.replace(password, _HIDDEN)
    return _SECRETS.sub(_HIDDEN, line)[:_MAX_ANSWER_LENGTH].rstrip(" .")


RECIPIENT_REJECTED = translatable("The mail server rejected the recipient with {answer}.")
CHECK_SETTINGS = translatable("The mail server responded with {answer}. Check MAIL_URL.")
RESPONDED = translatable("The mail server responded with {answer}.")
UNREACHABLE = translatable("Can't connect to the mail server ({answer}).")
RECIPIENT_NOT_ASCII = translatable(
    "The mail server doesn't accept addresses with letters beyond A to Z before the @ (SMTPUTF8)."
)
SENDER_NOT_ASCII = translatable(
    "The mail server doesn't accept the sender's address: it has letters beyond A to Z before the "
    "@ (SMTPUTF8). Use another sender address."
)
NO_LOGIN = translatable(
    "The mail server doesn't offer authentication. Check the user name, port and encryption in "
    "MAIL_URL."
)
LOGIN_NOT_ASCII = translatable(
    "The user name and password in MAIL_URL can have only ASCII characters."
)
INTERNAL = translatable("Internal error: {answer}. See the log for details.")
OTHER_KEY = translatable("Its content was encrypted with another SECRET_KEY.")
SUPERSEDED = translatable("A newer link replaced the one in this email.")

_SENTENCES = (
    RECIPIENT_REJECTED,
    CHECK_SETTINGS,  # before the next one, which fits what this one makes
    RESPONDED,
    UNREACHABLE,
    RECIPIENT_NOT_ASCII,
    SENDER_NOT_ASCII,
    NO_LOGIN,
    LOGIN_NOT_ASCII,
    INTERNAL,
    OTHER_KEY,
    SUPERSEDED,
)


def error_problem(error: str, field: str | None = None) -> Problem:
    """Return a stored error as a sentence with its value; an unknown one stays as it is."""
    for sentence in _SENTENCES:
        before, _, after = sentence.partition("{answer}")
        if error == sentence:
            return Problem("INVALID", sentence, field)
        if after and error.startswith(before) and error.endswith(after):
            answer = error[len(before) : -len(after)]
            return Problem("INVALID", sentence, field, values={"answer": answer})
    return Problem("INVALID", error, field)
