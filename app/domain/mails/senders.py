"""Which emails with a link an app can send instead, and how long ours waits for it."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType

from app.domain.events import EventType
from app.domain.mails.mail import MailKind


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
"""How long ours waits for an app, from the request: half as long as the shortest link works."""

ASKED_AGAIN = timedelta(hours=24)
"""Someone who asks again so soon didn't get the app's email: ours is sent, too."""


def kinds_without_app(
    senders: Mapping[MailKind, str], apps: Mapping[MailKind, Collection[str]]
) -> tuple[MailKind, ...]:
    """Return the kinds that an app is to send though none can: ours are sent.

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
