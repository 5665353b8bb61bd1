"""How people sign in, what keeps one from it, and the caller's own second factors.

No secret is read.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import Address
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, StaffSecondFactor
from app.domain.sign_in.sign_in_log import SignInEvent
from app.domain.values.errors import Problem, Refused
from app.ports import NamedRow, Ports
from app.ports.throttle import BlockedIp, ThrottleUnavailable
from app.services.accounts.stored_addresses import addresses_text, read_addresses
from app.services.authorization.register import account_owner_only, requires, requires_person
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.identity.providers import provider_names
from app.services.identity.users import require_manage_permission
from app.services.lists.paging import record_from
from app.services.people.user_status import (
    PERSON_COLUMNS,
    Person,
    find_sessions,
    make_person,
    with_origin,
)
from app.services.second_factors.stored_factors import FACTOR_COLUMNS, FactorCounts, factors_in
from app.services.sign_in.reauthentication import own_id
from app.services.sign_in_log.events import to_event


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
    query = _methods(ports).where(models.User.id.in_(user_ids), models.User.is_staff)
    with ports.database.reading() as session:
        return {row.id: _to_methods(row) for row in session.execute(query)}


@account_owner_only
def show_own_sign_in_methods(ports: Ports, actor: Actor) -> SignInMethods:
    """Return the caller's sign-in methods; raises ``PermissionDenied`` for an extension."""
    query = _methods(ports).where(models.User.id == own_id(actor))
    with ports.database.reading() as session:
        return _to_methods(session.execute(query).one())


def _methods(ports: Ports) -> Select[*tuple[Any, ...]]:
    return select(
        models.User.id,
        models.User.password_hash.is_not(None).label("has_password"),
        provider_names().label("providers"),
        _of_sessions(ports, func.count()).label("sessions"),
        _of_sessions(ports, func.max(models.Session.last_used_at)).label("last_used_at"),
        *FACTOR_COLUMNS,
    )


def _of_sessions(ports: Ports, column: ColumnElement[Any]) -> ColumnElement[Any]:
    alive = models.Session.expires_at > ports.clock.now()
    return (
        select(column)
        .select_from(models.Session)
        .where(models.Session.user_id == models.User.id, alive)
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
    select(models.Shop.second_factor_from)
    .where(
        models.Shop.id == models.SHOP_ID,
        models.Shop.staff_second_factor == StaffSecondFactor.REQUIRED.value,
        models.User.is_staff,
    )
    .correlate(models.User)
    .scalar_subquery()
)


@account_owner_only
def show_own_second_factors(ports: Ports, actor: Actor) -> OwnSecondFactors:
    user_id = own_id(actor)
    query = select(*FACTOR_COLUMNS, _REQUIRED_FROM.label("required_from"))
    with ports.database.reading() as session:
        row = session.execute(query.where(models.User.id == user_id)).one()
        return OwnSecondFactors(
            factors_in(row),
            _read_app(session, user_id),
            _read_codes(session, user_id),
            row.required_from,
        )


def _read_app(session: Session, user_id: int) -> AppState:
    app = models.AuthenticatorApp
    is_reported = and_(app.confirmed_at.is_not(None), app.secret == "")
    query = select(app.confirmed_at, app.last_used_at, app.pending_secret != "", is_reported)
    row = session.execute(query.where(app.user_id == user_id)).one_or_none()
    return AppState() if row is None else AppState(row[0], row[1], bool(row[2]), bool(row[3]))


def _read_codes(session: Session, user_id: int) -> CodesState:
    code = models.RecoveryCode
    query = select(func.count(), func.max(code.created_at), func.max(code.used_at))
    return CodesState(*session.execute(query.where(code.user_id == user_id)).one())


ATTEMPTS = 10
"""The last attempts that are shown; blocks are looked for on their IP addresses."""

ADDRESSES = 6
"""The postal addresses that are read."""


@dataclass(frozen=True, slots=True)
class SignInState:
    """What the account and the shop say: how the person signs in, and what would keep them out.

    ``providers`` are the names of active identity providers that know the person.
    ``needs_confirmation``: an account whose email isn't confirmed can't sign in with a password.
    """

    has_password: bool
    providers: tuple[str, ...]
    mode: PasswordLoginMode
    is_storefront_open: bool
    needs_confirmation: bool


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocked IP addresses among those of the last attempts, and the account's own block."""

    addresses: tuple[BlockedIp, ...]
    account_until: datetime | None


@dataclass(frozen=True, slots=True)
class SignInDiagnosis:
    """A person and all that decides whether they can sign in.

    ``blocks`` is ``None`` while the login throttle's store doesn't respond. ``addresses`` are up
    to ``ADDRESSES``, defaults first: read here because a page has few statements.
    """

    person: Person
    state: SignInState
    attempts: tuple[SignInEvent, ...]
    blocks: Blocks | None
    addresses: tuple[Address, ...] = ()


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def diagnose_sign_in(ports: Ports, actor: Actor, user_id: int) -> SignInDiagnosis:
    """Return why a person can or can't sign in; three statements.

    Staff need MANAGE_STAFF, customers MANAGE_USERS. Refuses NOT_FOUND on ``id``.
    """
    with ports.database.reading() as session:
        rows = session.execute(_account(user_id)).all()
        if not rows:
            raise Refused(Problem("NOT_FOUND", "This user doesn't exist.", "id"))
        user = read_user(rows[0])
        require_manage_permission(actor, is_staff=user.is_staff)
        sessions, count = find_sessions(ports, actor, session, user_id)
    attempts = tuple(_attempt(row) for row in rows if row.attempt_id is not None)
    return SignInDiagnosis(
        make_person(rows[0], user, sessions, count),
        _state(rows[0]),
        attempts,
        _blocks(ports, user_id, attempts),
        read_addresses(rows[0].addresses),
    )


def _account(user_id: int) -> Select[*tuple[Any, ...]]:
    """Return the query for the account, a row for each of its last attempts, at least one."""
    event = models.SignInEvent
    newest = event.at.desc(), event.id.desc()
    attempt = (
        select(event)
        .where(event.user_id == user_id)
        .order_by(*newest)
        .limit(ATTEMPTS)
        .subquery("attempt")
    )
    query = (
        select(
            *USER_COLUMNS,
            *_STATE,
            *PERSON_COLUMNS,
            addresses_text(ADDRESSES).label("addresses"),
            *(attempt.c[name].label(f"attempt_{name}") for name in _ATTEMPT_FIELDS),
        )
        .select_from(models.User)
        .join(models.Shop, models.Shop.id == models.SHOP_ID)
        .outerjoin(attempt, attempt.c.user_id == models.User.id)
        .where(models.User.id == user_id)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
    )
    return with_origin(query)


_STATE = (
    models.User.password_hash.is_not(None).label("has_password"),
    provider_names(models.IdentityProvider.active).label("providers"),
    models.Shop.password_login_mode.label("mode"),
    models.Shop.allow_storefront_traffic.label("is_storefront_open"),
    (
        models.Shop.enable_account_confirmation_by_email
        & ~models.Shop.allow_login_without_confirmation
    ).label("needs_confirmation"),
)
"""The fields of ``SignInState``."""

_NAMES = {"first_name": "user_first_name", "last_name": "user_last_name"}
"""The fields of an attempt that are the account's."""

_ATTEMPT_FIELDS = tuple(one.name for one in fields(SignInEvent) if one.name not in _NAMES)


def _state(row: NamedRow) -> SignInState:
    return record_from(
        SignInState,
        row,
        providers=tuple(sorted(set(json.loads(row.providers)))),
        mode=PasswordLoginMode(row.mode),
    )


def _attempt(row: NamedRow) -> SignInEvent:
    return to_event(_AttemptRow(row))


class _AttemptRow:
    """The columns of an attempt in a row of ``_account``, by the names of its fields."""

    def __init__(self, row: NamedRow) -> None:
        self._row = row

    def __getattr__(self, label: str) -> Any:
        return getattr(self._row, _NAMES.get(label, f"attempt_{label}"))


def _blocks(ports: Ports, user_id: int, attempts: tuple[SignInEvent, ...]) -> Blocks | None:
    addresses = sorted({attempt.address for attempt in attempts if attempt.address})
    try:
        now = ports.throttle.timestamp(ports.shared_clock)
        found = ports.throttle.blocks_of(user_id, addresses, now)
    except ThrottleUnavailable:
        return None
    until = found.account_until
    return Blocks(
        tuple(found.addresses), None if until is None else datetime.fromtimestamp(until, UTC)
    )
