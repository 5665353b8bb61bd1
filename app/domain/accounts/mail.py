"""The mails that are sent: a closed set, each with its template of the same name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class MailKind(StrEnum):
    """Each mail, and the ``values`` of its template besides ``shop`` and ``recipient``.

    All are texts. ``link`` is a URL, ``lifetime`` how long it works ("1 hour"), ``when`` a time in
    UTC, ``address`` the IP address that the change came from ("" if unknown).
    """

    PASSWORD_RESET = "password_reset"
    """``link``, ``lifetime``."""
    ACCOUNT_CONFIRMATION = "account_confirmation"
    """``link``, ``lifetime``."""
    ACCOUNT_EXISTS = "account_exists"
    """Nothing more: someone tried to register, or to move to, an email that has an account.

    Only the mailbox learns of it, not the caller.
    """
    EMAIL_CHANGE_REQUEST = "email_change_request"
    """To the new address: ``link``, ``lifetime``, ``old_email``, ``new_email``."""
    ACCOUNT_DELETION_REQUEST = "account_deletion_request"
    """``link``, ``lifetime``."""
    STAFF_INVITATION = "staff_invitation"
    """``link``, ``lifetime``, ``inviter`` (an email or an app's name, "" when the operator)."""
    CUSTOMER_INVITATION = "customer_invitation"
    """``link``, ``lifetime``."""
    PASSWORD_CHANGED = "password_changed"
    """``when``, ``address``."""
    EMAIL_CHANGED = "email_changed"
    """To the old address: ``old_email``, ``new_email``, ``when``, ``address``."""
    WEBHOOK_DISABLED = "webhook_disabled"
    """To app managers: ``webhook``, ``app``, ``target``, ``reason``, ``when``, ``since``.

    ``since`` is the first of the failures without a success between them, "" for none.
    """


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to be: ``values`` are what its template shows, links with their tokens included."""

    kind: MailKind
    recipient: str
    values: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class RenderedMail:
    """A mail ready to be handed over: header fields are single lines, both bodies are complete."""

    sender_name: str
    sender_address: str
    recipient: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    message_id: str = ""
