"""The second factors of accounts: counted, listed for users, and stopped when they are reported.

Reported factors stop working but still count. A stranger who reads the mailbox could report them
as well, and would sign in with a new password alone. Without their keys, such factors only keep
everyone out, until an administrator resets them or the person removes them with another factor.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.second_factors import SecondFactorType
from app.domain.values.errors import PermissionDenied
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block, public
from app.services.identity.users import NEEDED


@dataclass(frozen=True, slots=True)
class FactorCounts:
    """How many passkeys and unused recovery codes an account has, and whether it has an app."""

    passkeys: int = 0
    has_authenticator_app: bool = False
    recovery_codes: int = 0

    @property
    def is_active(self) -> bool:
        """Whether a password alone doesn't sign in: recovery codes don't count by themselves."""
        return self.passkeys > 0 or self.has_authenticator_app

    @property
    def types(self) -> tuple[SecondFactorType, ...]:
        """The ways to answer a challenge; none for an account without a second factor."""
        if not self.is_active:
            return ()
        has = {
            SecondFactorType.PASSKEY: self.passkeys > 0,
            SecondFactorType.AUTHENTICATOR_APP: self.has_authenticator_app,
            SecondFactorType.RECOVERY_CODES: self.recovery_codes > 0,
        }
        return tuple(kind for kind in SecondFactorType if has[kind])


_IS_PASSKEY = models.Passkey.user_id == models.User.id
_IS_APP = and_(
    models.AuthenticatorApp.user_id == models.User.id,
    models.AuthenticatorApp.confirmed_at.is_not(None),
)
HAS_SECOND_FACTOR = or_(exists().where(_IS_PASSKEY), exists().where(_IS_APP))
"""The condition of users who have a second factor, for queries of ``models.User``."""


def _number(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return select(func.count()).where(*conditions).correlate(models.User).scalar_subquery()


FACTOR_COLUMNS = (
    _number(_IS_PASSKEY).label("factor_passkeys"),
    _number(_IS_APP).label("factor_apps"),
    _number(
        models.RecoveryCode.user_id == models.User.id, models.RecoveryCode.used_at.is_(None)
    ).label("factor_codes"),
)
"""What ``factors_in`` expects in a row of a query of ``models.User``."""


@building_block
def factors_in(row: NamedRow) -> FactorCounts:
    """Return the second factors in a row that has ``FACTOR_COLUMNS``."""
    return FactorCounts(row.factor_passkeys, bool(row.factor_apps), row.factor_codes)


@building_block
def read_factors(session: Session, user_id: int) -> FactorCounts:
    """Return which second factors an account has; one statement."""
    query = select(*FACTOR_COLUMNS).where(models.User.id == user_id)
    row = session.execute(query).one_or_none()
    return FactorCounts() if row is None else factors_in(row)


@building_block
def drop_codes(session: Session, user_id: int) -> None:
    session.execute(delete(models.RecoveryCode).where(models.RecoveryCode.user_id == user_id))


@dataclass(frozen=True, slots=True)
class ListedFactor:
    """A second factor; ``key`` is unique among those of its type."""

    type: SecondFactorType
    key: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@public
def second_factors_of_users(
    ports: Ports, actor: Actor, users: Collection[User], owners: Collection[int] = ()
) -> Mapping[int, tuple[ListedFactor, ...]]:
    """Return the second factors of each of ``users``, in one statement.

    ``owners`` are keys of users whose password or own token the request has proven. Raises
    ``PermissionDenied`` for other people's: those of staff need MANAGE_STAFF, those of customers
    MANAGE_USERS.
    """
    for user in users:
        needed = NEEDED[user.is_staff]
        manages = actor.holds(needed) and actor.viewer.holds(needed)
        is_self = actor.is_account_owner and actor.user_id == user.id
        if not (is_self or manages or user.id in owners):
            raise PermissionDenied(needed)
    keys = [user.id for user in users]
    parts = (_passkeys(keys), _apps(keys), _recovery_codes(keys))
    found = defaultdict[int, list[ListedFactor]](list)
    with ports.database.reading() as session:
        for row in session.execute(union_all(*parts)):
            kind = SecondFactorType(row.type)
            listed = ListedFactor(kind, row.key, row.name, row.created_at, row.last_used_at)
            found[row.user_id].append(listed)
    order = list(SecondFactorType)
    return {
        key: tuple(sorted(found[key], key=lambda one: (order.index(one.type), one.key)))
        for key in keys
    }


def _passkeys(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    return select(
        models.Passkey.user_id,
        literal(SecondFactorType.PASSKEY.value).label("type"),
        models.Passkey.id.label("key"),
        models.Passkey.name,
        models.Passkey.created_at,
        models.Passkey.last_used_at,
    ).where(models.Passkey.user_id.in_(keys))


def _apps(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    app = models.AuthenticatorApp
    return select(
        app.user_id,
        literal(SecondFactorType.AUTHENTICATOR_APP.value),
        app.user_id,
        literal(""),
        app.created_at,
        app.last_used_at,
    ).where(app.user_id.in_(keys), app.confirmed_at.is_not(None))


def _recovery_codes(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    """Sets of codes of which at least one is unused."""
    code = models.RecoveryCode
    return (
        select(
            code.user_id,
            literal(SecondFactorType.RECOVERY_CODES.value),
            code.user_id,
            literal(""),
            func.min(code.created_at),
            func.max(code.used_at),
        )
        .where(code.user_id.in_(keys))
        .group_by(code.user_id)
        .having(func.count(code.selector) > func.count(code.used_at))
    )


PASSKEY = "passkey"
"""What a notice about a copied passkey has its ID under."""

AUTHENTICATOR_APP = "Authenticator app"
RECOVERY_CODES = "Recovery codes"

SAME_MOMENT = timedelta(minutes=1)
"""How long before its notice a factor is stored at most: both are in one transaction."""


@building_block
def list_reported(
    session: Session, user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[str, ...]:
    """Return the names of what ``stop_reported`` would stop."""
    passkeys = select(models.Passkey.name).where(*_reported_passkeys(user_id, notice, since))
    names = [f'Passkey "{name}"' for name in session.scalars(passkeys.order_by(models.Passkey.id))]
    app, code = models.AuthenticatorApp, models.RecoveryCode
    if session.scalar(select(app.user_id).where(*_app(user_id, since))) is not None:
        names.append(AUTHENTICATOR_APP)
    if session.scalar(select(code.user_id).where(*_codes(user_id, since)).limit(1)) is not None:
        names.append(RECOVERY_CODES)
    return tuple(names)


@building_block
def stop_reported(
    session: Session, user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[str, ...]:
    """Stop the passkey that ``notice`` names, and all factors and codes that came ``since`` then.

    ``since`` is the moment of the reported notice: what came later may be the same stranger's.
    The user's row is locked. Returns the names.
    """
    names = list_reported(session, user_id, notice, since)
    for passkey in session.scalars(
        select(models.Passkey).where(*_reported_passkeys(user_id, notice, since))
    ):
        passkey.public_key = ""
    for app in session.scalars(select(models.AuthenticatorApp).where(*_app(user_id, since))):
        app.secret = app.pending_secret = ""
    session.execute(delete(models.RecoveryCode).where(*_codes(user_id, since)))
    return names


def _reported_passkeys(
    user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[ColumnElement[bool], ...]:
    named = notice.get(PASSKEY)
    is_named = models.Passkey.id == (int(named) if isinstance(named, str) else 0)
    is_new = models.Passkey.created_at >= since - SAME_MOMENT
    return models.Passkey.user_id == user_id, or_(is_named, is_new)


def _app(user_id: int, since: datetime) -> tuple[ColumnElement[bool], ...]:
    app = models.AuthenticatorApp
    return app.user_id == user_id, app.confirmed_at >= since - SAME_MOMENT


def _codes(user_id: int, since: datetime) -> tuple[ColumnElement[bool], ...]:
    code = models.RecoveryCode
    return code.user_id == user_id, code.created_at >= since - SAME_MOMENT
