"""Mailed links: purposes, lifetimes, and what invalidates them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

TOKEN_LENGTH = 43
"""Letters and digits of a link's token: 256 bits."""


class LinkPurpose(StrEnum):
    """The purpose of a link, which can't be used for another."""

    SET_PASSWORD = "set_password"
    INVITATION = "invitation"
    CONFIRM_ACCOUNT = "confirm_account"
    CHANGE_EMAIL = "change_email"
    DELETE_ACCOUNT = "delete_account"
    NOTICE = "notice"
    """Opens nothing: it marks that a notice has been mailed, so that none follows too soon."""
    NOT_ME = "not_me"
    """Ends all sessions and removes the password: "This wasn't me" in a security notice."""
    RESTORE_EMAIL = "restore_email"
    """As NOT_ME, in the notice of a new email; it also restores the old one."""


LIFETIMES: Mapping[LinkPurpose, timedelta] = {
    LinkPurpose.SET_PASSWORD: timedelta(hours=1),
    LinkPurpose.INVITATION: timedelta(days=7),
    LinkPurpose.CONFIRM_ACCOUNT: timedelta(days=3),
    LinkPurpose.CHANGE_EMAIL: timedelta(hours=24),
    LinkPurpose.DELETE_ACCOUNT: timedelta(hours=1),
    LinkPurpose.NOTICE: timedelta(hours=1),
    LinkPurpose.NOT_ME: timedelta(days=7),
    LinkPurpose.RESTORE_EMAIL: timedelta(days=7),
}
"""The more a link can do, and the sooner it is expected, the shorter it works."""

NOT_ME_PURPOSES = (LinkPurpose.NOT_ME, LinkPurpose.RESTORE_EMAIL)
"""Links of security notices: they must work after the changes that they are about."""


@dataclass(frozen=True, slots=True)
class AccountState:
    """The account's fields that a link can depend on."""

    email: str
    password_hash: str | None = field(repr=False)
    is_active: bool
    is_confirmed: bool
    is_staff: bool
    signed_out_at: datetime | None = None
    """When all sessions of the account were last ended."""


def state_of(purpose: LinkPurpose, account: AccountState) -> str:
    """A digest of what a link for ``purpose`` depends on: when it changes, the link is invalid.

    A link that sets a password depends on the password, so it works once, whether or not its row
    is deleted. One that was asked for in a session depends on the sessions: ending all invalidates
    it. One that restores an email doesn't depend on the email, but works no more after a customer
    became staff: the old email may be a stranger's.
    """
    if purpose in NOT_ME_PURPOSES:
        email = account.email if purpose is LinkPurpose.NOT_ME else ""
        return _digest([purpose.value, email, account.is_active, account.is_staff])
    parts: list[object] = [purpose.value, account.email, account.is_active]
    if purpose is LinkPurpose.CONFIRM_ACCOUNT:
        parts.append(account.is_confirmed)
    else:
        parts.append(account.password_hash)
    if purpose in (LinkPurpose.CHANGE_EMAIL, LinkPurpose.DELETE_ACCOUNT):
        moment = account.signed_out_at
        parts += [account.is_staff, None if moment is None else moment.isoformat()]
    return _digest(parts)


def digest_of(token: str) -> str:
    """Return the stored form of a link's token, which opens nothing."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def format_lifetime(purpose: LinkPurpose) -> str:
    """Return how long a link works, as its mail says it: ``1 hour``, ``3 days``."""
    lifetime = LIFETIMES[purpose]
    number, unit = lifetime.days, "day"
    if not number:
        number, unit = lifetime.seconds // 3600, "hour"
    return f"{number} {unit}{'' if number == 1 else 's'}"


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
