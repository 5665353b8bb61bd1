"""The impact of changing the login mode, the storefront switch or the second factor rule."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Integer,
    Select,
    and_,
    cast,
    func,
    literal,
    literal_column,
    not_,
    select,
)
from sqlalchemy.orm import Session

from app import models
from app.domain.audit import AuditEntry
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import AccessChange, Lockout, SettingsManagers, check_lockout
from app.domain.shop.settings import PasswordLoginMode, Switches, TrafficKind, mode_change_problem
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem
from app.domain.values.pages import MAX_COUNTED
from app.ports import NamedRow, Ports
from app.services.audit.entries import last_entries
from app.services.authorization.register import building_block, requires
from app.services.identity.providers import has_sign_on, refreshes
from app.services.lists.paging import columns_for, count_up_to, record_from
from app.services.second_factors.stored_factors import HAS_SECOND_FACTOR
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns
from app.services.shop.settings import Closing, closing_columns, read_closing
from app.services.shop.traffic import count_traffic


@dataclass(frozen=True, slots=True)
class BoundedCount:
    """A number, counted up to ``MAX_COUNTED``: ``is_more`` when there are more than that."""

    number: int
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class SignInCounts:
    """Counts that matter for a change of the login mode.

    ``staff_without_sign_on`` are active and have no identity at a working provider;
    ``staff_with_sign_on`` are the other active ones. Sessions are open and began with a password.
    ``customers_by_password`` are active and can sign in with a password only.
    ``without_refresh`` are open sessions of clients, not of the console, that began at an identity
    provider and that it can't refresh.
    """

    staff: int
    staff_active: int
    staff_without_sign_on: int
    staff_sessions: int
    customer_sessions: BoundedCount
    customers: BoundedCount
    customers_by_password: BoundedCount
    apps: BoundedCount
    without_refresh: BoundedCount

    @property
    def staff_with_sign_on(self) -> int:
        return self.staff_active - self.staff_without_sign_on

    @property
    def sessions(self) -> BoundedCount:
        """All that began with a password."""
        of_customers = self.customer_sessions
        return BoundedCount(self.staff_sessions + of_customers.number, of_customers.is_more)


@building_block
def sign_in_count_columns(ports: Ports) -> tuple[ColumnElement[int], ...]:
    """Return the columns that ``read_sign_in_counts`` reads.

    Numbers without a bound are counted up to one more than ``MAX_COUNTED``.
    """
    staff = select(func.count()).select_from(models.User).where(models.User.is_staff)
    session, user = models.Session, models.User
    customers = select(user.id).where(user.is_staff.is_(False))
    return (
        staff.scalar_subquery().label("staff"),
        staff.where(models.User.is_active).scalar_subquery().label("staff_active"),
        staff_without_sign_on().label("staff_without_sign_on"),
        staff_sessions(ports).label("staff_sessions"),
        count_bounded(
            # Staff are few: asked the other way round, each session's user would be looked up.
            select(session.id).where(
                _open_by_password(ports),
                session.user_id.not_in(select(user.id).where(user.is_staff)),
            )
        ).label("customer_sessions"),
        count_bounded(customers).label("customers"),
        count_bounded(
            customers.where(
                user.is_active.is_(True), user.password_hash.is_not(None), ~has_sign_on()
            )
        ).label("customers_by_password"),
        count_bounded(
            select(models.App.id).where(models.App.is_active, models.App.is_installed)
        ).label("apps"),
        (sessions_without_refresh_token(ports) + _provider_refreshes_no_more(ports)).label(
            "without_refresh"
        ),
    )


@building_block
def staff_without_sign_on() -> ColumnElement[int]:
    """Count active staff who sign in with a password only."""
    return _count(~has_sign_on())


@building_block
def staff_sessions(ports: Ports) -> ColumnElement[int]:
    """Return how many open sessions of active staff began with a password."""
    # By person, for staff are few: some planner would read everybody's sessions first.
    return (
        select(cast(func.coalesce(func.sum(_sessions_of_person(ports)), 0), Integer))
        .where(models.User.is_staff, models.User.is_active)
        .scalar_subquery()
    )


def _sessions_of_person(ports: Ports) -> ColumnElement[int]:
    """Return how many open sessions of ``models.User`` began with a password."""
    return (
        select(func.count())
        .select_from(models.Session)
        .where(models.Session.user_id == models.User.id, _open_by_password(ports))
        .correlate(models.User)
        .scalar_subquery()
    )


def _open_by_password(ports: Ports) -> ColumnElement[bool]:
    """Whether a session of ``models.Session`` is open and began with a password."""
    return and_(
        models.Session.origin == SessionOrigin.PASSWORD.value,
        models.Session.expires_at > ports.clock.now(),
    )


@building_block
def sessions_without_refresh_token(
    ports: Ports, provider: Provider | None = None
) -> ColumnElement[int]:
    """Count clients' open sessions of ``provider``, or of any, without a refresh token of its.

    Up to one more than ``MAX_COUNTED``.
    """
    # Spelled out, not as a parameter: or no database could tell that its index holds just these.
    is_without = literal_column(models.WITHOUT_REFRESH, Boolean)
    query = select(models.Session.id).where(is_without, *_is_open_at_client(ports))
    if provider is not None:
        query = query.where(models.Session.provider_id == provider.id)
    return count_bounded(query)


def _provider_refreshes_no_more(ports: Ports) -> ColumnElement[int]:
    others = select(models.IdentityProvider.id).where(not_(refreshes()))
    return count_bounded(
        select(models.Session.id).where(
            models.Session.provider_id.is_not(None),
            models.Session.provider_id.in_(others),
            models.Session.provider_refresh_token != "",
            *_is_open_at_client(ports),
        )
    )


def _is_open_at_client(ports: Ports) -> tuple[ColumnElement[bool], ...]:
    return (
        models.Session.expires_at > ports.clock.now(),
        models.Session.in_console.is_(False),
        models.Session.is_hosted.is_(False),
    )


@building_block
def read_sign_in_counts(row: NamedRow) -> SignInCounts:
    """Return the numbers in a row that has the columns of ``sign_in_count_columns``."""
    return record_from(
        SignInCounts,
        row,
        customer_sessions=bounded_count(row.customer_sessions),
        customers=bounded_count(row.customers),
        customers_by_password=bounded_count(row.customers_by_password),
        apps=bounded_count(row.apps),
        without_refresh=bounded_count(row.without_refresh),
    )


@building_block
def count_bounded(query: Select[int]) -> ColumnElement[int]:
    """Return how many rows ``query`` has, as ``bounded_count`` reads it."""
    return count_up_to(query, MAX_COUNTED + 1)


@building_block
def bounded_count(counted: int) -> BoundedCount:
    """Return a number that ``count_bounded`` counted."""
    return BoundedCount(min(counted, MAX_COUNTED), counted > MAX_COUNTED)


@dataclass(frozen=True, slots=True)
class SecondFactorCounts:
    """Counts of active staff.

    ``without`` have no second factor, ``without_by_password`` of them no SSO identity either.
    ``caller_without``: the caller is one of them.
    """

    staff: int
    without: int
    without_by_password: int
    caller_without: bool = False


@requires(Permission.MANAGE_SETTINGS)
def count_second_factors(ports: Ports, actor: Actor) -> SecondFactorCounts:
    """Return how many staff have no second factor; one statement."""
    without = ~HAS_SECOND_FACTOR
    is_caller = models.User.id == actor.user_id if actor.is_user else literal(value=False)
    query = select(
        _count().label("staff"),
        _count(without).label("without"),
        _count(without, ~has_sign_on()).label("without_by_password"),
        _count(without, is_caller).label("caller_without"),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    return record_from(SecondFactorCounts, row, caller_without=row.caller_without > 0)


@building_block
def staff_without_second_factor() -> ColumnElement[int]:
    """Count active staff without a second factor, for a statement that counts other things too."""
    return _count(~HAS_SECOND_FACTOR)


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return (
        select(func.count())
        .select_from(models.User)
        .where(and_(models.User.is_staff, models.User.is_active, *conditions))
        .scalar_subquery()
    )


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
    lets_through: int
    lockout: Lockout


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
    mode_changed: AuditEntry | None
    storefront_changed: AuditEntry | None
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
        models.Shop.password_login_mode,
        models.Shop.storefront_rejections,
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
    would_refuse = 0 if allow else sum(requests[kind] for kind in _REFUSED)
    change = AccessChange(allow_storefront_traffic=allow)
    return StorefrontImpact(
        allow_storefront_traffic=allow,
        is_current=allow is switches.allow_storefront_traffic,
        would_refuse=would_refuse,
        lets_through=sum(requests.values()) - would_refuse,
        lockout=check_lockout(actor, managers, switches.password_login_mode, change),
    )


def _by_password(ports: Ports, session: Session) -> tuple[PasswordStaff, ...]:
    sessions = _sessions_of_person(ports).label("sessions")
    query = (
        select(*columns_for(PasswordStaff, models.User), sessions)
        .where(models.User.is_staff, models.User.is_active, ~has_sign_on())
        .order_by(models.User.id)
        .limit(_NAMED)
    )
    return tuple(record_from(PasswordStaff, row) for row in session.execute(query))


def _last_changes(session: Session) -> Mapping[str, AuditEntry]:
    """Return the last changes by setting, as far as the newest audit entries go."""
    entries = last_entries(session, _MAX_ENTRIES, models.AuditEntry.action == "shop.update")
    return {name: entry for entry in reversed(entries) for name in entry.after}
