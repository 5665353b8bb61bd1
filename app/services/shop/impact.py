"""The impact of changing the login mode or the storefront switch, in current numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import AccessChange, Lockout, SettingsManagers, check_lockout
from app.domain.shop.settings import PasswordLoginMode, Switches, TrafficKind, mode_change_problem
from app.domain.values.errors import Problem
from app.models import AuditRecord, SessionRecord, ShopRecord, UserRecord
from app.ports import Ports
from app.services.authorization.register import requires
from app.services.identity.providers import has_sign_on
from app.services.lists.paging import record_from
from app.services.shop.closing import Closing, closing_columns, read_closing
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns
from app.services.shop.sign_in_counts import (
    BoundedCount,
    SignInCounts,
    open_by_password,
    read_sign_in_counts,
    sign_in_count_columns,
)
from app.services.shop.traffic import count_traffic

SPAN = timedelta(hours=1)
"""How far back requests are looked at that a closed storefront would have refused."""

_REFUSED = (TrafficKind.ANONYMOUS, TrafficKind.INVALID, TrafficKind.CUSTOMER)
_NAMED = 10
_MAX_ENTRIES = 100
_NOTHING = BoundedCount(0)


@dataclass(frozen=True, slots=True)
class PasswordStaff:
    """A staff member who signs in with a password only, and their open sessions."""

    id: int
    email: str
    first_name: str
    last_name: str
    sessions: int


@dataclass(frozen=True, slots=True)
class LoginModeImpact:
    """The impact of setting ``mode``.

    ``staff_losing_rights`` sign in with a password only; ``staff_sessions`` of staff began with a
    password and would lose staff permissions, or stop working. ``customers_losing_access`` have
    only a password, ``sessions_rejected`` began with one. ``sessions_without_refresh`` began at an
    identity provider and can be refreshed neither there nor, in this mode, here. ``refusal`` is
    the rule that forbids it to this caller; ``lockout`` says whether anyone could undo it.
    """

    mode: PasswordLoginMode
    is_current: bool
    staff_losing_rights: int
    staff_sessions: int
    customers_losing_access: BoundedCount
    sessions_rejected: BoundedCount
    sessions_without_refresh: BoundedCount
    refusal: Problem | None
    lockout: Lockout


@dataclass(frozen=True, slots=True)
class StorefrontImpact:
    """The impact of opening or closing the storefront on the last hour's requests, by caller."""

    allow_storefront_traffic: bool
    is_current: bool
    would_refuse: int
    refused_by_kind: Mapping[TrafficKind, int]
    lets_through: int
    lockout: Lockout


@dataclass(frozen=True, slots=True)
class LastChange:
    """A switch's last change; ``user_id`` if a person made it."""

    at: datetime
    actor_kind: str
    actor_name: str
    user_id: int | None


@dataclass(frozen=True, slots=True)
class Impact:
    """The current switches and the impact of every other position.

    ``staff_by_password`` names some of those that ``numbers.staff_without_sign_on`` counts.
    ``closing`` is ``None`` while the storefront is open; ``rejected`` are the requests that it has
    refused since it was closed, without the last minute of each process.
    """

    counted_at: datetime
    switches: Switches
    numbers: SignInCounts
    modes: tuple[LoginModeImpact, ...]
    storefront: tuple[StorefrontImpact, ...]
    staff_by_password: tuple[PasswordStaff, ...]
    mode_changed: LastChange | None
    storefront_changed: LastChange | None
    closing: Closing | None
    rejected: int

    def login_mode(self, mode: PasswordLoginMode) -> LoginModeImpact:
        return next(impact for impact in self.modes if impact.mode is mode)

    def storefront_traffic(self, *, allow: bool) -> StorefrontImpact:
        return next(
            impact for impact in self.storefront if impact.allow_storefront_traffic is allow
        )


@requires(Permission.MANAGE_SETTINGS)
def show_impact(ports: Ports, actor: Actor) -> Impact:
    """Return the impact of each position of both switches; four statements."""
    query = select(
        ShopRecord.password_login_mode,
        ShopRecord.storefront_rejections,
        *closing_columns(),
        *settings_manager_columns(ports),
        *sign_in_count_columns(ports),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
        named = _by_password(ports, session)
        changed = _last_changes(session)
    numbers = read_sign_in_counts(row)
    managers = read_settings_managers(row)
    switches = Switches(PasswordLoginMode(row.password_login_mode), row.storefront)
    requests = count_traffic(ports, actor, SPAN)
    return Impact(
        ports.clock.now(),
        switches,
        numbers,
        tuple(
            _login_mode_impact(actor, mode, switches, numbers, managers)
            for mode in PasswordLoginMode
        ),
        tuple(
            _storefront_impact(actor, allow, switches, requests, managers)
            for allow in (True, False)
        ),
        named,
        changed.get("password_login_mode"),
        changed.get("allow_storefront_traffic"),
        read_closing(row),
        row.storefront_rejections,
    )


def _login_mode_impact(
    actor: Actor,
    mode: PasswordLoginMode,
    switches: Switches,
    numbers: SignInCounts,
    managers: SettingsManagers,
) -> LoginModeImpact:
    restricts = mode is not PasswordLoginMode.ENABLED
    closes = mode is PasswordLoginMode.DISABLED
    return LoginModeImpact(
        mode=mode,
        is_current=mode is switches.password_login_mode,
        staff_losing_rights=numbers.staff_without_sign_on if restricts else 0,
        staff_sessions=numbers.staff_sessions if restricts else 0,
        customers_losing_access=numbers.customers_by_password if closes else _NOTHING,
        sessions_rejected=numbers.sessions if closes else _NOTHING,
        sessions_without_refresh=numbers.without_refresh if closes else _NOTHING,
        refusal=mode_change_problem(actor, mode),
        lockout=check_lockout(actor, managers, mode, AccessChange(password_login_mode=mode)),
    )


def _storefront_impact(
    actor: Actor,
    allow: bool,  # noqa: FBT001 - a position of the switch
    switches: Switches,
    requests: Mapping[TrafficKind, int],
    managers: SettingsManagers,
) -> StorefrontImpact:
    refused = {kind: 0 if allow else requests[kind] for kind in _REFUSED}
    total = sum(requests.values())
    would_refuse = sum(refused.values())
    change = AccessChange(allow_storefront_traffic=allow)
    return StorefrontImpact(
        allow_storefront_traffic=allow,
        is_current=allow is switches.allow_storefront_traffic,
        would_refuse=would_refuse,
        refused_by_kind=refused,
        lets_through=total - would_refuse,
        lockout=check_lockout(actor, managers, switches.password_login_mode, change),
    )


def _by_password(ports: Ports, session: Session) -> tuple[PasswordStaff, ...]:
    signed_in = (
        select(func.count())
        .select_from(SessionRecord)
        .where(SessionRecord.user_id == UserRecord.id, open_by_password(ports))
        .correlate(UserRecord)
        .scalar_subquery()
    )
    query = (
        select(
            UserRecord.id,
            UserRecord.email,
            UserRecord.first_name,
            UserRecord.last_name,
            signed_in.label("sessions"),
        )
        .where(UserRecord.is_staff, UserRecord.is_active, ~has_sign_on())
        .order_by(UserRecord.id)
        .limit(_NAMED)
    )
    return tuple(record_from(PasswordStaff, row) for row in session.execute(query))


def _last_changes(session: Session) -> Mapping[str, LastChange]:
    """Return the last changes by setting, as far as the newest audit entries go."""
    query = (
        select(
            AuditRecord.after,
            AuditRecord.at,
            AuditRecord.actor_kind,
            AuditRecord.actor_name,
            AuditRecord.actor_user_id,
        )
        .where(AuditRecord.action == "shop.update")
        .order_by(AuditRecord.at.desc(), AuditRecord.id.desc())
        .limit(_MAX_ENTRIES)
    )
    found: dict[str, LastChange] = {}
    for after, at, kind, who, user_id in session.execute(query):
        for name in after:
            found.setdefault(name, LastChange(at, kind, who, user_id))
    return found
