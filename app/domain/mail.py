"""The mails that are sent: a closed set, each with its template of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MailKind(StrEnum):
    PASSWORD_RESET = "password_reset"
    ACCOUNT_CONFIRMATION = "account_confirmation"
    EMAIL_CHANGE_REQUEST = "email_change_request"
    ACCOUNT_DELETION_REQUEST = "account_deletion_request"
    STAFF_INVITATION = "staff_invitation"
    PASSWORD_CHANGED = "password_changed"
    EMAIL_CHANGED = "email_changed"


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to be: ``values`` are what its template shows, links with their tokens included."""

    kind: MailKind
    recipient: str
    values: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail ready to be handed over: header fields are single lines, both bodies are complete."""

    sender_name: str
    sender_address: str
    recipient: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    message_id: str = ""
