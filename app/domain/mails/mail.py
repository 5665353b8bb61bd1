"""Emails: their kinds, and which ones an app can send instead.

Each kind has templates of the same name.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from app.domain.events import EventType
from app.domain.mails.design import Logo
from app.domain.values.text import translatable


class MailKind(StrEnum):
    """Each mail; ``app.domain.mails.own_templates`` lists the values of its template.

    All are texts. ``link`` is a URL, ``lifetime`` how long it works ("1 hour"), ``when`` a time in
    UTC, ``address`` the IP address that the change came from ("" if unknown). Security notices
    have ``when``, ``address``, ``device`` and ``not_me``, the link "This wasn't me"; these three
    are "" if someone else changed the account. ``app.domain.mails.values`` makes those that differ
    by language.
    """

    PASSWORD_RESET = "password_reset"
    ACCOUNT_CONFIRMATION = "account_confirmation"
    ACCOUNT_EXISTS = "account_exists"
    """Someone tried to register, or to move to, an email that has an account.

    Only the mailbox learns of it, not the caller.
    """
    SIGN_IN_CODE = "sign_in_code"
    EMAIL_CHANGE_REQUEST = "email_change_request"
    """To the new address."""
    ACCOUNT_DELETION_REQUEST = "account_deletion_request"
    STAFF_INVITATION = "staff_invitation"
    """``inviter`` is an email or an app's name, "" when the operator."""
    CUSTOMER_INVITATION = "customer_invitation"
    PASSWORD_CHANGED = "password_changed"
    EMAIL_CHANGED = "email_changed"
    """To the old address."""
    SECOND_FACTOR_ADDED = "second_factor_added"
    """``factor`` is "Authenticator app", or such as 'Passkey "Laptop"'."""
    SECOND_FACTOR_REMOVED = "second_factor_removed"
    IDENTITY_LINKED = "identity_linked"
    """The owner linked an SSO identity."""
    SECOND_FACTORS_RESET = "second_factors_reset"
    """Someone else removed all second factors."""
    RECOVERY_CODES_REPLACED = "recovery_codes_replaced"
    RECOVERY_CODE_USED = "recovery_code_used"
    PASSKEY_COPIED = "passkey_copied"
    """A passkey's counter didn't grow."""
    INCORRECT_CODES = "incorrect_codes"
    """The password was right, the codes after it were wrong."""
    NEW_DEVICE = "new_device"
    """A sign-in from a device or network that wasn't seen before."""
    ACCOUNT_SECURED = "account_secured"
    """A link "This wasn't me" was used."""
    WEBHOOK_DISABLED = "webhook_disabled"
    """To app managers. ``since`` is the first of the failures without a success between them."""
    WEBHOOK_FAILING = "webhook_failing"
    """To the app's contact, or app managers; ``reason`` is the last failure."""
    WEBHOOK_RECOVERED = "webhook_recovered"
    """To them when it works again."""


KIND_LABELS: Mapping[str, str] = {
    MailKind.PASSWORD_RESET: translatable("Password reset"),
    MailKind.ACCOUNT_CONFIRMATION: translatable("Account confirmation"),
    MailKind.ACCOUNT_EXISTS: translatable("Account exists"),
    MailKind.SIGN_IN_CODE: translatable("Code to sign in"),
    MailKind.EMAIL_CHANGE_REQUEST: translatable("Email change request"),
    MailKind.ACCOUNT_DELETION_REQUEST: translatable("Account deletion request"),
    MailKind.STAFF_INVITATION: translatable("Staff invitation"),
    MailKind.CUSTOMER_INVITATION: translatable("Customer invitation"),
    MailKind.PASSWORD_CHANGED: translatable("Password changed"),
    MailKind.EMAIL_CHANGED: translatable("Email changed"),
    MailKind.SECOND_FACTOR_ADDED: translatable("Second factor added"),
    MailKind.SECOND_FACTOR_REMOVED: translatable("Second factor removed"),
    MailKind.IDENTITY_LINKED: translatable("SSO identity linked"),
    MailKind.SECOND_FACTORS_RESET: translatable("Second factors reset"),
    MailKind.RECOVERY_CODES_REPLACED: translatable("Recovery codes replaced"),
    MailKind.RECOVERY_CODE_USED: translatable("Recovery code used"),
    MailKind.PASSKEY_COPIED: translatable("Passkey copied"),
    MailKind.INCORRECT_CODES: translatable("Incorrect codes"),
    MailKind.NEW_DEVICE: translatable("New device"),
    MailKind.ACCOUNT_SECURED: translatable("Account secured"),
    MailKind.WEBHOOK_DISABLED: translatable("Webhook disabled"),
    MailKind.WEBHOOK_FAILING: translatable("Webhook failing"),
    MailKind.WEBHOOK_RECOVERED: translatable("Webhook recovered"),
}
"""What an email of each kind is called."""


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to be: ``values`` are what its template shows, links with their tokens included.

    ``language_code`` is such as "DE" or "PT_BR", "" for English.
    """

    kind: MailKind
    recipient: str
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    language_code: str = ""


@dataclass(frozen=True, slots=True)
class RenderedMail:
    """A mail ready to be handed over: header fields are single lines, both bodies are complete.

    ``reply_to`` is "" for the sender; ``language`` is that of the texts. The HTML shows ``logo``
    by its ``CONTENT_ID``. ``message_id`` and ``created_at`` are the same in each attempt to send
    it; without them, the mailer makes some.
    """

    sender_name: str
    sender_address: str
    recipient: str
    subject: str
    text: str = field(repr=False)
    html: str = field(repr=False)
    message_id: str = ""
    created_at: datetime | None = None
    reply_to: str = ""
    language: str = ""
    logo: Logo | None = None


_LINKED = re.compile(r"://|\.(?=[^\W\d_])")


def unlinked(text: str) -> str:
    """Return ``text`` with blanks where mail programs would see a link: ``example com``.

    Programs choose their own names, and people choose those of their passkeys. A security notice
    must not carry a stranger's link. Version numbers stay.
    """
    return _LINKED.sub(" ", text)


class MailSender(StrEnum):
    """Who sends a kind of email."""

    OURS = "OURS"
    APP = "APP"
    BOTH = "BOTH"


LINK_EVENTS: Mapping[MailKind, tuple[EventType, ...]] = MappingProxyType(
    {
        MailKind.PASSWORD_RESET: (
            EventType.ACCOUNT_SET_PASSWORD_REQUESTED,
            EventType.STAFF_SET_PASSWORD_REQUESTED,
        ),
        MailKind.ACCOUNT_CONFIRMATION: (EventType.ACCOUNT_CONFIRMATION_REQUESTED,),
        MailKind.EMAIL_CHANGE_REQUEST: (EventType.ACCOUNT_CHANGE_EMAIL_REQUESTED,),
        MailKind.CUSTOMER_INVITATION: (EventType.ACCOUNT_SET_PASSWORD_REQUESTED,),
        MailKind.STAFF_INVITATION: (EventType.STAFF_SET_PASSWORD_REQUESTED,),
    }
)
"""The emails that an app can send, by the events that carry the same link."""

MAX_WAIT = timedelta(minutes=30)
"""How long Latchkey's email waits for an app's: half the lifetime of the shortest-lived link."""

ASKED_AGAIN = timedelta(hours=24)
"""A person who asks again within this time didn't get the app's email: Latchkey sends its own."""


def kinds_without_app(
    senders: Mapping[MailKind, str], apps: Mapping[MailKind, Collection[str]]
) -> tuple[MailKind, ...]:
    """Return the kinds that an app is set to send but none can: Latchkey sends them.

    ``senders`` are the settings, ``apps`` the names of the apps that can send each kind.
    """
    return tuple(
        kind
        for kind, sender in senders.items()
        if sender in (MailSender.APP, MailSender.BOTH) and not apps[kind]
    )


def sender_setting(kind: MailKind) -> str:
    """Return the name of the shop's setting that says who sends this kind of email."""
    return f"{kind.value}_sender"
