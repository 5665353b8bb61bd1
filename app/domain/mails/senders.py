"""Which emails with a link an app can send instead, and how long ours waits for it."""

from collections.abc import Mapping
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


def sender_setting(kind: MailKind) -> str:
    """Return the name of the shop's setting that says who sends this kind of email."""
    return f"{kind.value}_sender"
