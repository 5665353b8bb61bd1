"""Load people in a transaction, and make snapshots for deletions."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import datetime

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from app.domain.accounts.emails import email_spellings, normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.live_sessions import (
    USER_COLUMNS,
    read_user,
    switches_of,
    with_effective_rights,
)
from app.services.authorization.register import part

BeforeDeletion = Callable[[User], object]
"""What a use case that deletes a user calls first, to read what the answer shows of them."""

_KEPT = (str, int, bool, type(None))


@part
def ignore_deletion(_user: User) -> None:
    """Read nothing before a user is deleted."""


@part
def load_user(session: Session, user_id: int) -> User:
    """The person with that key, with every right they hold, as this transaction has left them."""
    session.flush()
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == user_id)).one()
    return read_user(row)


@part
def stored_email(session: Session, text: str) -> str:
    """Return the spelling in which an account with the email ``text`` is stored.

    An account in the typed spelling goes before one in another: two accounts can have the same
    email in two spellings, from when those were different emails. Without an account it is
    ``normalize_email``. ``text`` must be storable.
    """
    spellings = email_spellings(text)
    if len(spellings) == 1:
        return spellings[0]
    found = set(session.scalars(select(UserRecord.email).where(UserRecord.email.in_(spellings))))
    return next((each for each in spellings if each in found), normalize_email(text))


@part
def has_email(email: str) -> ColumnElement[bool]:
    """Return the condition that a user has that email, in any spelling: that it is taken."""
    return UserRecord.email.in_(email_spellings(email))


@part
def find_user_by_key(session: Session, user_id: int) -> User:
    """The person with that key; refuses NOT_FOUND on ``id``."""
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == user_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such user.", "id"))
    return read_user(row)


@part
def load_caller(ports: Ports, session: Session, actor: Actor, user_id: int) -> User:
    """The person who is calling, with the rights that count in the session they are calling from.

    In a restricted login mode answers show what the token really has (contract, "Modes,
    precisely").
    """
    switches = switches_of(session.get_one(ShopRecord, SHOP_ID), ports.clock.now())
    user = load_user(session, user_id)
    return with_effective_rights(user, actor.origin, actor.amr, switches, actor.grant)


@part
def snapshot_of(user: User, external_reference: str | None) -> dict[str, object]:
    """Return the snapshot of ``user`` for a deletion: times in ISO 8601, permissions by name."""
    values = {field.name: getattr(user, field.name) for field in fields(user)}
    plain = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
        if isinstance(value, (*_KEPT, datetime))
    }
    groups = [
        {"id": group.id, "name": group.name, "permissions": _names(group.permissions)}
        for group in user.groups
    ]
    return plain | {
        "permissions": _names(user.permissions),
        "groups": groups,
        "external_reference": external_reference or "",
    }


def _names(permissions: Iterable[Permission]) -> list[str]:
    return sorted(permission.value for permission in permissions)
