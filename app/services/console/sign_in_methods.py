"""The sign-in methods of people and the caller's own second factors; no secret is read."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import StaffSecondFactor
from app.models import (
    AuthenticatorAppRecord,
    RecoveryCodeRecord,
    SessionRecord,
    ShopRecord,
    UserRecord,
)
from app.models.shop import SHOP_ID
from app.ports import NamedRow, Ports
from app.services.authorization.register import account_owner_only, requires
from app.services.identity.providers import provider_names
from app.services.lists.paging import record_from
from app.services.second_factors.stored_factors import (
    FACTOR_COLUMNS,
    FactorCounts,
    factors_in,
)
from app.services.sign_in.reauthentication import own_id


@dataclass(frozen=True, slots=True)
class SignInMethods:
    """How a person can sign in, and their open sessions.

    ``providers`` are the names of the providers with an identity of theirs; ``last_used_at`` is
    that of the open sessions.
    """

    has_password: bool
    providers: tuple[str, ...]
    sessions: int
    last_used_at: datetime | None
    factors: FactorCounts = field(default_factory=FactorCounts)


@requires(Permission.MANAGE_STAFF)
def sign_in_methods_of_staff(
    ports: Ports, actor: Actor, user_ids: Collection[int]
) -> Mapping[int, SignInMethods]:
    """Return the sign-in methods of several staff members in one statement."""
    query = _methods(ports).where(UserRecord.id.in_(user_ids), UserRecord.is_staff)
    with ports.database.reading() as session:
        return {row.id: _to_methods(row) for row in session.execute(query)}


@account_owner_only
def show_own_sign_in_methods(ports: Ports, actor: Actor) -> SignInMethods:
    """Return the caller's sign-in methods; raises ``PermissionDenied`` for an extension."""
    query = _methods(ports).where(UserRecord.id == own_id(actor))
    with ports.database.reading() as session:
        return _to_methods(session.execute(query).one())


def _methods(ports: Ports) -> Select[*tuple[Any, ...]]:
    return select(
        UserRecord.id,
        UserRecord.password_hash.is_not(None).label("has_password"),
        provider_names().label("providers"),
        _of_sessions(ports, func.count()).label("sessions"),
        _of_sessions(ports, func.max(SessionRecord.last_used_at)).label("last_used_at"),
        *FACTOR_COLUMNS,
    )


def _of_sessions(ports: Ports, column: ColumnElement[Any]) -> ColumnElement[Any]:
    alive = SessionRecord.expires_at > ports.clock.now()
    return (
        select(column)
        .select_from(SessionRecord)
        .where(SessionRecord.user_id == UserRecord.id, alive)
        .scalar_subquery()
    )


def _to_methods(row: NamedRow) -> SignInMethods:
    providers = tuple(sorted(set(json.loads(row.providers))))
    return record_from(SignInMethods, row, providers=providers, factors=factors_in(row))


@dataclass(frozen=True, slots=True)
class AppState:
    """An authenticator app: on since ``confirmed_at``; ``is_pending`` while one is set up.

    ``is_reported``: its codes don't work since the owner reported a change of the account.
    """

    confirmed_at: datetime | None = None
    last_used_at: datetime | None = None
    is_pending: bool = False
    is_reported: bool = False


@dataclass(frozen=True, slots=True)
class CodesState:
    """The recovery codes of an account: how many there were, and when one was last used."""

    total: int
    created_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class OwnSecondFactors:
    """The caller's second factors, and since when or from when on the shop requires one of them.

    ``required_from`` is ``None`` if it doesn't, or if they aren't staff.
    """

    counts: FactorCounts
    app: AppState
    codes: CodesState
    required_from: datetime | None

    @property
    def is_last_kept(self) -> bool:
        """Whether the only second factor can't be removed, since the shop requires one."""
        number = self.counts.passkeys + self.counts.has_authenticator_app
        return self.required_from is not None and number == 1


_REQUIRED_FROM = (
    select(ShopRecord.second_factor_from)
    .where(
        ShopRecord.id == SHOP_ID,
        ShopRecord.staff_second_factor == StaffSecondFactor.REQUIRED.value,
        UserRecord.is_staff,
    )
    .correlate(UserRecord)
    .scalar_subquery()
)


@account_owner_only
def show_own_second_factors(ports: Ports, actor: Actor) -> OwnSecondFactors:
    """Return the second factors of the caller."""
    user_id = own_id(actor)
    query = select(*FACTOR_COLUMNS, _REQUIRED_FROM.label("required_from"))
    with ports.database.reading() as session:
        row = session.execute(query.where(UserRecord.id == user_id)).one()
        return OwnSecondFactors(
            factors_in(row),
            _read_app(session, user_id),
            _read_codes(session, user_id),
            row.required_from,
        )


def _read_app(session: Session, user_id: int) -> AppState:
    app = AuthenticatorAppRecord
    is_reported = and_(app.confirmed_at.is_not(None), app.secret == "")
    query = select(app.confirmed_at, app.last_used_at, app.pending_secret != "", is_reported)
    row = session.execute(query.where(app.user_id == user_id)).one_or_none()
    return AppState() if row is None else AppState(row[0], row[1], bool(row[2]), bool(row[3]))


def _read_codes(session: Session, user_id: int) -> CodesState:
    code = RecoveryCodeRecord
    query = select(func.count(), func.max(code.created_at), func.max(code.used_at))
    return CodesState(*session.execute(query.where(code.user_id == user_id)).one())
