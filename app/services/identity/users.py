"""Load people, decide who can manage them, and make accounts trusted.

An account becomes confirmed or a staff member's here alone.
"""

from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.emails import email_spellings, normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, is_manageable, reaches_channels
from app.domain.authorization.permissions import Permission
from app.domain.events import AccountConfirmed, CustomerCreated
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.audit.log import record, user_change
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import (
    USER_COLUMNS,
    read_user,
    stored_switches,
    with_effective_rights,
)
from app.services.outbox.publisher import add_event

BeforeDeletion = Callable[[User], object]
"""What a use case that deletes a user calls first, to read what the answer shows of them."""

_KEPT = (str, int, bool, type(None))


@building_block
def ignore_deletion(_user: User) -> None:
    """Read nothing before a user is deleted."""


@building_block
def load_user(session: Session, user_id: int) -> User:
    """The person with that key, with every right they hold, as this transaction has left them."""
    session.flush()
    row = session.execute(select(*USER_COLUMNS).where(models.User.id == user_id)).one()
    return read_user(row)


@building_block
def stored_email(session: Session, text: str) -> str:
    """Return the spelling in which an account with the email ``text`` is stored.

    An account in the typed spelling goes before one in another: two accounts can have the same
    email in two spellings, from when those were different emails. Without an account it is
    ``normalize_email``. ``text`` must be storable.
    """
    spellings = email_spellings(text)
    if len(spellings) == 1:
        return spellings[0]
    found = set(session.scalars(select(models.User.email).where(models.User.email.in_(spellings))))
    return next((each for each in spellings if each in found), normalize_email(text))


@building_block
def has_email(email: str) -> ColumnElement[bool]:
    """Return the condition that a user has that email, in any spelling: that it is taken."""
    return models.User.email.in_(email_spellings(email))


@building_block
def find_owner(session: Session, email: str, *, but: int | None = None) -> int | None:
    """Return the key of a user, other than ``but``, who has that email in any spelling."""
    owners = select(models.User.id).where(has_email(email))
    if but is not None:
        owners = owners.where(models.User.id != but)
    return session.scalar(owners.limit(1))


@building_block
def find_user_by_key(session: Session, user_id: int) -> User:
    """Return the person with that key; refuses NOT_FOUND on ``id``."""
    row = session.execute(select(*USER_COLUMNS).where(models.User.id == user_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such user.", "id"))
    return read_user(row)


@building_block
def load_caller(ports: Ports, session: Session, actor: Actor, user_id: int) -> User:
    """The person who is calling, with the rights that count in the session they are calling from.

    In a restricted login mode answers show what the token really has (contract, "Modes,
    precisely").
    """
    switches, user = stored_switches(ports, session), load_user(session, user_id)
    return with_effective_rights(user, actor.origin, actor.amr, switches, actor.grant)


@building_block
def snapshot_of(user: User, external_reference: str | None) -> dict[str, object]:
    """Return the snapshot of ``user`` for a deletion: times in ISO 8601, permissions by name."""
    values = {field.name: getattr(user, field.name) for field in fields(user)}
    plain = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in values.items()
        if isinstance(value, (*_KEPT, datetime))
    }
    groups = [
        {
            "id": group.id,
            "name": group.name,
            "permissions": _names(group.permissions),
            "channel_ids": None if group.channel_ids is None else sorted(group.channel_ids),
        }
        for group in user.groups
    ]
    return plain | {
        "permissions": _names(user.permissions),
        "groups": groups,
        "external_reference": external_reference or "",
    }


def _names(permissions: Iterable[Permission]) -> list[str]:
    return sorted(permission.value for permission in permissions)


NEEDED = {True: Permission.MANAGE_STAFF, False: Permission.MANAGE_USERS}
"""What it takes to manage staff (``True``) and customers."""


@building_block
def require_manage_permission(actor: Actor, *, is_staff: bool) -> None:
    """Raise unless ``actor`` manages that kind of people; no app ever manages staff."""
    if not actor.holds(NEEDED[is_staff]) or (is_staff and actor.is_app):
        raise PermissionDenied(NEEDED[is_staff])


@building_block
def require_private_reader(actor: Actor, *, is_staff: bool) -> None:
    """Raise unless ``actor``, and a preview's viewer, manage that kind of people."""
    needed = NEEDED[is_staff]
    if not (actor.holds(needed) and actor.viewer.holds(needed)):
        raise PermissionDenied(needed)


@building_block
def require_manageable(actor: Actor, user: User) -> None:
    """Raise unless ``actor`` manages that kind of people; refuse OUT_OF_SCOPE_USER on ``id``."""
    require_manage_permission(actor, is_staff=user.is_staff)
    if not is_manageable(actor, user.permissions):
        message = "You can't manage this user: they have permissions that you don't have."
        users = (to_global_id("User", user.id),)
        raise Refused(Problem("OUT_OF_SCOPE_USER", message, "id", users=users))
    require_reached_channels(actor, user)


@building_block
def find_manageable(session: Session, actor: Actor, user_id: int) -> User:
    """Return what ``find_user_by_key`` does; raises and refuses as ``require_manageable`` too."""
    user = find_user_by_key(session, user_id)
    require_manageable(actor, user)
    return user


@building_block
def require_reached_channels(actor: Actor, user: User) -> None:
    """Refuse OUT_OF_SCOPE_USER on ``id`` if the user manages channels that ``actor`` doesn't."""
    if user.is_staff and not reaches_channels(actor, user.channel_ids):
        message = "You can't manage this user: they have access to channels that you don't have."
        users = (to_global_id("User", user.id),)
        raise Refused(Problem("OUT_OF_SCOPE_USER", message, "id", users=users))


@building_block
def add_registered(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Store ``user``, a customer who registered now, with an event and an audit entry.

    Their email isn't confirmed yet.
    """
    user.is_confirmed, user.is_active = False, True
    user.date_joined = user.updated_at = ports.clock.now()
    session.add(user)
    session.flush()
    add_event(ports, actor, session, CustomerCreated(user.id))
    record(ports, actor, session, user_change("account.register", user))


@building_block
def confirm_email(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Mark the email of ``user``, whose row is locked, as confirmed.

    Unverified identities and second factors of the account are dropped, as in ``make_staff``.
    """
    _drop_unverified(ports, actor, session, user)
    user.is_confirmed = True


@building_block
def prove_email(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Confirm the email of ``user``, whose row is locked, by a mail that its owner has read.

    Who registered an unconfirmed account may not own the address: its password, sessions
    and consents go, as do unverified identities and second factors.
    """
    if not user.is_confirmed:
        user.password_hash = None
        for kind in (models.Session, models.OAuthConsent):
            session.execute(delete(kind).where(kind.user_id == user.id))
        user.tokens_valid_after = ports.clock.now()
        before, after = {"is_confirmed": False}, {"is_confirmed": True}
        record(ports, actor, session, user_change("account.confirm", user, before, after))
        add_event(ports, actor, session, AccountConfirmed(user.id))
    confirm_email(ports, actor, session, user)


@building_block
def make_staff(
    ports: Ports, actor: Actor, session: Session, user: models.User, by_identity: int | None = None
) -> None:
    """Make ``user``, whose row is locked, a staff member.

    Every identity whose email its provider hasn't verified is dropped, with its sessions and
    tokens: it may belong to someone who only claimed the address. So may the second factors of an
    unconfirmed account, which go with their sessions. ``by_identity`` is the key of an identity
    that stays, because its provider made the person staff.

    This function and ``confirm_email`` are the only ones that make an existing account trusted
    (``tests/house/test_account_trust.py``).
    """
    user.is_staff = True
    _drop_unverified(ports, actor, session, user, by_identity)


def _drop_unverified(
    ports: Ports, actor: Actor, session: Session, user: models.User, but: int | None = None
) -> None:
    subjects = session.scalars(
        delete(models.ExternalIdentity)
        .where(
            models.ExternalIdentity.user_id == user.id,
            models.ExternalIdentity.is_verified.is_(False),
            models.ExternalIdentity.id != (but or 0),
        )
        .returning(models.ExternalIdentity.subject)
    ).all()
    if subjects:
        before = {"subjects": sorted(subjects)}
        record(ports, actor, session, user_change("user.unlink", user, before))
    if not user.is_confirmed:
        _drop_factors(ports, actor, session, user)


def _drop_factors(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Remove the second factors of an unconfirmed account, and what they opened."""
    passkeys, apps = (
        len(session.scalars(delete(kind).where(kind.user_id == user.id).returning(key)).all())
        for kind, key in (
            (models.Passkey, models.Passkey.id),
            (models.AuthenticatorApp, models.AuthenticatorApp.user_id),
        )
    )
    if not (passkeys or apps):
        return
    opened = models.Session.user_id == user.id, models.Session.amr != ""
    session.execute(delete(models.Session).where(*opened))
    for kind in (models.RecoveryCode, models.SecondFactorChallenge):
        session.execute(delete(kind).where(kind.user_id == user.id))
    before = {"passkeys": passkeys, "authenticator_app": bool(apps)}
    record(ports, actor, session, user_change("second_factor.reset", user, before))
