"""What decides whether a customer can sign in, with their last attempts and sessions."""

import json
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Select, select

from app.domain.accounts.addresses import Address
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInEvent
from app.domain.values.errors import Problem, Refused
from app.models import IdentityProviderRecord, ShopRecord, SignInEventRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import NamedRow, Ports
from app.ports.throttle import BlockedIp, ThrottleUnavailable
from app.services.accounts.stored_addresses import addresses_text, read_addresses
from app.services.authorization.register import requires_person
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.identity.providers import provider_names
from app.services.identity.users import require_manage_permission
from app.services.lists.paging import record_from
from app.services.people.user_sessions import (
    PERSON_COLUMNS,
    Person,
    find_sessions,
    make_person,
    with_origin,
)
from app.services.sign_in_log.events import to_event

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
    event = SignInEventRecord
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
        .select_from(UserRecord)
        .join(ShopRecord, ShopRecord.id == SHOP_ID)
        .outerjoin(attempt, attempt.c.user_id == UserRecord.id)
        .where(UserRecord.id == user_id)
        .order_by(attempt.c.at.desc(), attempt.c.id.desc())
    )
    return with_origin(query)


_STATE = (
    UserRecord.password_hash.is_not(None).label("has_password"),
    provider_names(IdentityProviderRecord.active).label("providers"),
    ShopRecord.password_login_mode.label("mode"),
    ShopRecord.allow_storefront_traffic.label("is_storefront_open"),
    (
        ShopRecord.enable_account_confirmation_by_email
        & ~ShopRecord.allow_login_without_confirmation
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
