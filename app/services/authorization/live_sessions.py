"""Who stands behind a token, with the shop's switches: the one statement of the hot path."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache

from sqlalchemy import ColumnElement, Select, String, and_, bindparam, cast, func, select

from app.domain.accounts.users import Group, User
from app.domain.authorization.actor import ProviderToken, SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission, known
from app.domain.authorization.scopes import ScopeGrant, read_grant
from app.domain.shop.settings import (
    PasswordLoginMode,
    Switches,
    effective_permissions,
    removes_staff_rights,
)
from app.models import (
    GroupMemberRecord,
    GroupPermissionRecord,
    GroupRecord,
    SessionRecord,
    ShopRecord,
    UserPermissionRecord,
    UserRecord,
)
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.declarations import part
from app.services.authorization.shop_state import SHOP_STATE_COLUMNS, ShopState, read_shop_state

_BETWEEN = "\x1e"
_WITHIN = "\x1f"
_AMONG = "\x1d"


@dataclass(frozen=True, slots=True)
class ExtensionApp:
    """An active app whose extension acts for somebody, and what it may be used for."""

    id: int
    granted: frozenset[Permission]


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that is alive, and its user with every right, before any mode takes from it.

    There is no ``session_id`` behind a provider's own token, but ``provider_token``. ``grant``
    holds the rights that a provider gave where it rules, ``provider_id`` the provider at which the
    session began. ``app`` is the other side of a dashboard extension that acts for the user.
    """

    session_id: int | None
    origin: SessionOrigin
    user: User
    grant: ScopeGrant | None = None
    provider_id: int | None = None
    app: ExtensionApp | None = None
    provider_token: ProviderToken | None = None


_DIRECT = (
    select(func.aggregate_strings(UserPermissionRecord.permission, _BETWEEN))
    .where(UserPermissionRecord.user_id == UserRecord.id)
    .scalar_subquery()
)
_OF_GROUP = (
    select(func.aggregate_strings(GroupPermissionRecord.permission, _AMONG))
    .where(GroupPermissionRecord.group_id == GroupRecord.id)
    .scalar_subquery()
)
_GROUPS = (
    select(
        func.aggregate_strings(
            cast(GroupRecord.id, String)
            + _WITHIN
            + GroupRecord.name
            + _WITHIN
            + func.coalesce(_OF_GROUP, ""),
            _BETWEEN,
        )
    )
    .join(GroupMemberRecord, GroupMemberRecord.group_id == GroupRecord.id)
    .where(GroupMemberRecord.user_id == UserRecord.id)
    .scalar_subquery()
)

USER_COLUMNS = (
    UserRecord.id,
    UserRecord.email,
    UserRecord.first_name,
    UserRecord.last_name,
    UserRecord.is_staff,
    UserRecord.is_active,
    UserRecord.is_confirmed,
    UserRecord.is_superuser,
    UserRecord.date_joined,
    UserRecord.updated_at,
    UserRecord.last_login,
    _DIRECT,
    _GROUPS,
    UserRecord.avatar,
)
"""What ``read_user`` expects, in this order."""

SESSION_COLUMNS = (
    SessionRecord.id,
    SessionRecord.origin,
    SessionRecord.scope,
    SessionRecord.provider_id,
    *USER_COLUMNS,
)
"""What ``read_session`` expects."""

IN_SESSION = and_(
    SessionRecord.token == bindparam("session"), SessionRecord.user_id == bindparam("user_id")
)
IS_USER = and_(UserRecord.id == SessionRecord.user_id, UserRecord.is_active.is_(True))

OF_KEY = and_(
    SessionRecord.id == bindparam("session_id"), SessionRecord.user_id == bindparam("user_id")
)
"""The session that an actor names."""


def _session_where(condition: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    return (
        select(*SHOP_STATE_COLUMNS, *SESSION_COLUMNS)
        .select_from(ShopRecord)
        .outerjoin(SessionRecord, condition)
        .outerjoin(UserRecord, IS_USER)
        .where(ShopRecord.id == SHOP_ID)
    )


_SESSION = _session_where(IN_SESSION)
_SESSION_OF_KEY = _session_where(OF_KEY)


@part
def find_session(ports: Ports, session: str, user_id: int) -> tuple[ShopState, LiveSession | None]:
    """The live session with that claim ``token``, if it is that user's and the user is active."""
    row = ports.database.read(_SESSION, {"session": session, "user_id": user_id})[0]
    return read_shop_state(row), read_session(row[len(SHOP_STATE_COLUMNS) :])


@part
def find_session_again(
    ports: Ports, session_id: int, user_id: int
) -> tuple[ShopState, LiveSession | None]:
    """What ``find_session`` finds, by the session's key."""
    row = ports.database.read(_SESSION_OF_KEY, {"session_id": session_id, "user_id": user_id})[0]
    return read_shop_state(row), read_session(row[len(SHOP_STATE_COLUMNS) :])


_LIVING: Select[*tuple[object, ...]] = (
    select(*SHOP_STATE_COLUMNS, SessionRecord.id, UserRecord.id)
    .select_from(ShopRecord)
    .outerjoin(SessionRecord, IN_SESSION)
    .outerjoin(UserRecord, IS_USER)
    .where(ShopRecord.id == SHOP_ID)
)


@part
def session_exists(ports: Ports, session: str, user_id: int) -> tuple[ShopState, bool]:
    """Whether there is that session, for whoever has no need to know what its user may do."""
    row = ports.database.read(_LIVING, {"session": session, "user_id": user_id})[0]
    return read_shop_state(row), None not in row[len(SHOP_STATE_COLUMNS) :]


@part
def effective_user(found: LiveSession, switches: Switches) -> User:
    """The user of a session with the rights, and the role, that count in it right now.

    An extension of an app has those that both hold (contract, "Apps and extensions").
    """
    user = with_effective_rights(found.user, found.origin, switches, found.grant)
    if found.app is None:
        return user
    return replace(user, permissions=user.permissions & found.app.granted)


@part
def with_effective_rights(
    user: User, origin: SessionOrigin, switches: Switches, grant: ScopeGrant | None = None
) -> User:
    """``user`` with the rights, and the role, that count in a session of ``origin``.

    ``grant`` holds those that a provider gave, where it rules: they count instead of ours.
    """
    mode = switches.password_login_mode
    stripped = removes_staff_rights(mode, origin)
    if grant is None and not stripped:
        return user
    is_staff = not stripped and (user.is_staff if grant is None else grant.is_staff)
    scopes = None if grant is None else grant.permissions
    held = effective_permissions(user.permissions, mode=mode, origin=origin, scopes=scopes)
    return replace(user, is_staff=is_staff, permissions=held)


@part
def read_session(row: Sequence[object]) -> LiveSession | None:
    """The session in the columns of ``SESSION_COLUMNS``; ``None`` for one without its user."""
    session_id, origin, scope, provider_id, *columns = row
    if session_id is None or columns[0] is None:
        return None
    return LiveSession(
        _number(session_id),
        SessionOrigin(str(origin)),
        read_user(columns),
        read_grant(scope),
        None if provider_id is None else _number(provider_id),
    )


@part
def read_user(row: Sequence[object]) -> User:
    """A person from the columns of ``USER_COLUMNS``, raw or typed, with every right they hold."""
    superuser = bool(row[7])
    groups = _groups(row[12])
    return User(
        id=_number(row[0]),
        email=str(row[1]),
        first_name=str(row[2]),
        last_name=str(row[3]),
        is_staff=bool(row[4]),
        is_active=bool(row[5]),
        is_confirmed=bool(row[6]),
        is_superuser=superuser,
        date_joined=_required_moment(row[8]),
        updated_at=_required_moment(row[9]),
        last_login=moment(row[10]),
        permissions=ALL_PERMISSIONS if superuser else _held(row[11], groups),
        groups=groups,
        avatar=str(row[13]),
    )


@part
def switches_of(shop: ShopRecord) -> Switches:
    """The two switches, as the shop's record has them."""
    return Switches(PasswordLoginMode(shop.password_login_mode), shop.allow_storefront_traffic)


@part
def moment(value: object) -> datetime | None:
    """A moment in UTC as a driver gives it: aware, or SQLite's text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _required_moment(value: object) -> datetime:
    found = moment(value)
    if found is None:
        raise TypeError(f"{value!r} is no moment")
    return found


def _permissions(joined: object, between: str = _BETWEEN) -> frozenset[Permission]:
    return _read(str(joined), between) if joined else frozenset()


# Few combinations exist, and every request reads one or more of them.
@lru_cache(maxsize=1024)
def _read(joined: str, between: str) -> frozenset[Permission]:
    return known(joined.split(between))


def _held(direct: object, groups: tuple[Group, ...]) -> frozenset[Permission]:
    return _permissions(direct).union(*(group.permissions for group in groups))


def _groups(joined: object) -> tuple[Group, ...]:
    if not joined:
        return ()
    parts = (text.split(_WITHIN) for text in str(joined).split(_BETWEEN))
    groups = (Group(int(key), name, _permissions(held, _AMONG)) for key, name, held in parts)
    return tuple(sorted(groups, key=_by_name))


def _by_name(group: Group) -> tuple[str, int]:
    return group.name, group.id


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value
