"""Account events, for apps that write to people."""

from dataclasses import dataclass

from app.domain.authorization.permissions import Permission
from app.domain.events.event import Deletion, Event, EventType, LinkRequested

_USER = "user { id email firstName lastName isActive isConfirmed }"
_LINK = f"{_USER} token redirectUrl"


@dataclass(frozen=True, slots=True)
class AccountConfirmationRequested(LinkRequested):
    type = EventType.ACCOUNT_CONFIRMATION_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "A new customer must confirm their account with a link."
    selection = _LINK


@dataclass(frozen=True, slots=True)
class AccountChangeEmailRequested(LinkRequested):
    type = EventType.ACCOUNT_CHANGE_EMAIL_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "A person must confirm their new email with a link."
    selection = f"{_LINK} newEmail"


@dataclass(frozen=True, slots=True)
class AccountEmailChanged(Event):
    type = EventType.ACCOUNT_EMAIL_CHANGED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "An account has a new email."
    selection = _USER


@dataclass(frozen=True, slots=True)
class AccountSetPasswordRequested(LinkRequested):
    type = EventType.ACCOUNT_SET_PASSWORD_REQUESTED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "A customer is sent a link to set a password."
    selection = _LINK


@dataclass(frozen=True, slots=True)
class AccountConfirmed(Event):
    type = EventType.ACCOUNT_CONFIRMED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "An account is confirmed."
    selection = _USER


@dataclass(frozen=True, slots=True)
class AccountDeleted(Deletion):
    type = EventType.ACCOUNT_DELETED
    subject = "User"
    permission = Permission.MANAGE_USERS
    description = "A person deletes their account."
    selection = _USER
