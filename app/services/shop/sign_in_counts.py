"""Count people, sessions and apps by sign-in method, in one statement."""

from dataclasses import dataclass

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Integer,
    Select,
    and_,
    cast,
    func,
    literal_column,
    not_,
    select,
)

from app.domain.authorization.actor import SessionOrigin
from app.domain.single_sign_on.providers import Provider
from app.models import AppRecord, IdentityProviderRecord, SessionRecord, UserRecord
from app.models.sign_in import WITHOUT_REFRESH
from app.ports import NamedRow, Ports
from app.services.authorization.register import part
from app.services.identity.providers import has_sign_on, refreshes
from app.services.lists.paging import record_from

MAX_COUNTED = 10_000
"""Where counting stops of what a large shop has without bound: more is told as "more than"."""


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


@part
def sign_in_count_columns(ports: Ports) -> tuple[ColumnElement[int], ...]:
    """Return the columns that ``read_sign_in_counts`` reads.

    Numbers without a bound are counted up to one more than ``MAX_COUNTED``.
    """
    staff = select(func.count()).select_from(UserRecord).where(UserRecord.is_staff)
    session, user = SessionRecord, UserRecord
    customers = select(user.id).where(user.is_staff.is_(False))
    return (
        staff.scalar_subquery().label("staff"),
        staff.where(UserRecord.is_active).scalar_subquery().label("staff_active"),
        staff_without_sign_on().label("staff_without_sign_on"),
        staff_sessions(ports).label("staff_sessions"),
        _count_bounded(
            # Staff are few: asked the other way round, each session's user would be looked up.
            select(session.id).where(
                open_by_password(ports),
                session.user_id.not_in(select(user.id).where(user.is_staff)),
            )
        ).label("customer_sessions"),
        _count_bounded(customers).label("customers"),
        _count_bounded(
            customers.where(
                user.is_active.is_(True),
                user.password_hash.is_not(None),
                ~has_sign_on(),
            )
        ).label("customers_by_password"),
        _count_bounded(
            select(AppRecord.id).where(AppRecord.is_active, AppRecord.is_installed)
        ).label("apps"),
        (sessions_without_refresh_token(ports) + _provider_refreshes_no_more(ports)).label(
            "without_refresh"
        ),
    )


@part
def staff_without_sign_on() -> ColumnElement[int]:
    """Count active staff who sign in with a password only."""
    return (
        select(func.count())
        .select_from(UserRecord)
        .where(UserRecord.is_staff, UserRecord.is_active, ~has_sign_on())
        .scalar_subquery()
    )


@part
def staff_sessions(ports: Ports) -> ColumnElement[int]:
    """How many open sessions of active staff began with a password."""
    # By person, for staff are few: some planner would read everybody's sessions first.
    of_person = (
        select(func.count())
        .select_from(SessionRecord)
        .where(SessionRecord.user_id == UserRecord.id, open_by_password(ports))
        .scalar_subquery()
    )
    return (
        select(cast(func.coalesce(func.sum(of_person), 0), Integer))
        .where(UserRecord.is_staff, UserRecord.is_active)
        .scalar_subquery()
    )


@part
def open_by_password(ports: Ports) -> ColumnElement[bool]:
    """Whether a session of ``SessionRecord`` is open and began with a password."""
    return and_(
        SessionRecord.origin == SessionOrigin.PASSWORD.value,
        SessionRecord.expires_at > ports.clock.now(),
    )


@part
def sessions_without_refresh_token(
    ports: Ports, provider: Provider | None = None
) -> ColumnElement[int]:
    """Count clients' open sessions of ``provider``, or of any, without a refresh token of its.

    Up to one more than ``MAX_COUNTED``.
    """
    # Spelled out, not as a parameter: or no database could tell that its index holds just these.
    is_without = literal_column(WITHOUT_REFRESH, Boolean)
    query = select(SessionRecord.id).where(is_without, *_is_open_at_client(ports))
    if provider is not None:
        query = query.where(SessionRecord.provider_id == provider.id)
    return _count_bounded(query)


def _provider_refreshes_no_more(ports: Ports) -> ColumnElement[int]:
    others = select(IdentityProviderRecord.id).where(not_(refreshes()))
    return _count_bounded(
        select(SessionRecord.id).where(
            SessionRecord.provider_id.is_not(None),
            SessionRecord.provider_id.in_(others),
            SessionRecord.provider_refresh_token != "",
            *_is_open_at_client(ports),
        )
    )


def _is_open_at_client(ports: Ports) -> tuple[ColumnElement[bool], ...]:
    return SessionRecord.expires_at > ports.clock.now(), SessionRecord.in_console.is_(False)


@part
def read_sign_in_counts(row: NamedRow) -> SignInCounts:
    """The numbers in a row that has the columns of ``sign_in_count_columns``."""
    return record_from(
        SignInCounts,
        row,
        customer_sessions=_bounded_count(row.customer_sessions),
        customers=_bounded_count(row.customers),
        customers_by_password=_bounded_count(row.customers_by_password),
        apps=_bounded_count(row.apps),
        without_refresh=_bounded_count(row.without_refresh),
    )


def _count_bounded(query: Select[int]) -> ColumnElement[int]:
    some = query.limit(MAX_COUNTED + 1).subquery()
    return select(func.count()).select_from(some).scalar_subquery()


def _bounded_count(counted: int) -> BoundedCount:
    return BoundedCount(min(counted, MAX_COUNTED), counted > MAX_COUNTED)
