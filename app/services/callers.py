"""Who stands behind a token, with the shop's switches: the one statement of the hot path."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from sqlalchemy import Select, String, and_, bindparam, cast, func, select

from app.domain.actor import SessionOrigin
from app.domain.permissions import ALL_PERMISSIONS, Permission, known
from app.domain.shop import PasswordLoginMode, Shop, Switches
from app.domain.users import Group, User
from app.models import (
    AppPermissionRecord,
    AppRecord,
    AppTokenRecord,
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
from app.services.access import part

_BETWEEN = "\x1e"
_WITHIN = "\x1f"
_AMONG = "\x1d"


@dataclass(frozen=True, slots=True)
class Door:
    """The shop's row as a request finds it."""

    switches: Switches
    keys_version: int
    shop: Shop


@dataclass(frozen=True, slots=True)
class SessionFound:
    """A session that is alive, and its user with every right, before any mode takes from it."""

    session_id: int
    origin: SessionOrigin
    user: User


@dataclass(frozen=True, slots=True)
class AppFound:
    """An app token that is good, and its app."""

    app_id: int
    token_id: int
    name: str
    granted: frozenset[Permission]


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
_OF_APP = (
    select(func.aggregate_strings(AppPermissionRecord.permission, _BETWEEN))
    .where(AppPermissionRecord.app_id == AppRecord.id)
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

_DOOR = (
    ShopRecord.password_login_mode,
    ShopRecord.allow_storefront_traffic,
    ShopRecord.keys_version,
    ShopRecord.name,
    ShopRecord.description,
)
_REST = len(_DOOR)
"""Where, in a row, what follows the shop's columns begins."""

_ANYONE: Select[*tuple[object, ...]] = select(*_DOOR).where(ShopRecord.id == SHOP_ID)

_SESSION: Select[*tuple[object, ...]] = (
    select(*_DOOR, SessionRecord.id, SessionRecord.origin, *USER_COLUMNS)
    .select_from(ShopRecord)
    .outerjoin(
        SessionRecord,
        and_(
            SessionRecord.token == bindparam("session"),
            SessionRecord.user_id == bindparam("user_id"),
        ),
    )
    .outerjoin(
        UserRecord, and_(UserRecord.id == SessionRecord.user_id, UserRecord.is_active.is_(True))
    )
    .where(ShopRecord.id == SHOP_ID)
)

_APP: Select[*tuple[object, ...]] = (
    select(
        *_DOOR, AppRecord.id, AppTokenRecord.id, AppTokenRecord.expires_at, AppRecord.name, _OF_APP
    )
    .select_from(ShopRecord)
    .outerjoin(AppTokenRecord, AppTokenRecord.digest == bindparam("digest"))
    .outerjoin(
        AppRecord, and_(AppRecord.id == AppTokenRecord.app_id, AppRecord.is_active.is_(True))
    )
    .where(ShopRecord.id == SHOP_ID)
)


@part
def find_door(ports: Ports) -> Door:
    """The switches alone: all there is to know about a caller without a credential."""
    return _door(ports.database.read(_ANYONE, {})[0])


@part
def find_session(ports: Ports, session: str, user_id: int) -> tuple[Door, SessionFound | None]:
    """The live session with that claim ``token``, if it is that user's and the user is active."""
    row = ports.database.read(_SESSION, {"session": session, "user_id": user_id})[0]
    session_id, origin, *columns = row[_REST:]
    if session_id is None or columns[0] is None:
        return _door(row), None
    found = SessionFound(_number(session_id), SessionOrigin(str(origin)), read_user(columns))
    return _door(row), found


@part
def find_app(ports: Ports, digest: str) -> tuple[Door, AppFound | None]:
    """The active app whose token has that digest, unless the token has expired."""
    row = ports.database.read(_APP, {"digest": digest})[0]
    app_id, token_id, expires_at, name, granted = row[_REST:]
    expires = moment(expires_at)
    if app_id is None or (expires is not None and expires <= ports.clock.now()):
        return _door(row), None
    return _door(row), AppFound(
        _number(app_id), _number(token_id), str(name), _permissions(granted)
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
        date_joined=_always(row[8]),
        updated_at=_always(row[9]),
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


def _always(value: object) -> datetime:
    found = moment(value)
    if found is None:
        raise TypeError(f"{value!r} is no moment")
    return found


def _door(row: Sequence[object]) -> Door:
    mode, traffic, version, name, description = row[:_REST]
    shop = Shop(
        name=str(name),
        description=str(description),
        password_login_mode=PasswordLoginMode(str(mode)),
        allow_storefront_traffic=bool(traffic),
    )
    return Door(shop.switches, _number(version), shop)


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
