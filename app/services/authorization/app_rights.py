"""Which app stands behind a token, or beside somebody: again one statement, with the switches."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, Select, and_, bindparam, func, or_, select

from app.domain.apps.apps import token_permissions
from app.domain.apps.extensions import extension_permissions, is_older_than_app
from app.domain.authorization.permissions import Permission, split_names
from app.domain.sign_in.tokens import Claims
from app.models import AppPermissionRecord, AppRecord, AppTokenRecord, SessionRecord, ShopRecord
from app.models.shop import SHOP_ID
from app.models.users import UserRecord
from app.ports import Ports
from app.services.authorization.declarations import part
from app.services.authorization.live_sessions import (
    IN_SESSION,
    IS_USER,
    OF_KEY,
    SESSION_COLUMNS,
    ExtensionApp,
    LiveSession,
    moment,
    read_session,
)
from app.services.authorization.shop_state import SHOP_STATE_COLUMNS, ShopState, read_shop_state


@dataclass(frozen=True, slots=True)
class FoundApp:
    """An app token that is good, and its app; ``granted`` is what this token may be used for.

    ``limit`` is what the token was limited to when it was made, ``None`` for no limit.
    """

    app_id: int
    token_id: int
    name: str
    granted: frozenset[Permission]
    limit: frozenset[Permission] | None


_GRANTED = (
    select(func.aggregate_strings(AppPermissionRecord.permission, ","))
    .where(AppPermissionRecord.app_id == AppRecord.id)
    .scalar_subquery()
)


def _app_where(condition: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    return (
        select(
            *SHOP_STATE_COLUMNS,
            AppRecord.id,
            AppRecord.name,
            _GRANTED,
            AppTokenRecord.id,
            AppTokenRecord.expires_at,
            AppTokenRecord.permissions,
        )
        .select_from(ShopRecord)
        .outerjoin(AppTokenRecord, condition)
        .outerjoin(
            AppRecord,
            and_(
                AppRecord.id == AppTokenRecord.app_id,
                # While an app is being installed it calls back, before it has become active.
                or_(AppRecord.is_active.is_(True), AppRecord.is_installed.is_(False)),
            ),
        )
        .where(ShopRecord.id == SHOP_ID)
    )


def _extension_where(condition: ColumnElement[bool]) -> Select[*tuple[object, ...]]:
    return (
        select(*SHOP_STATE_COLUMNS, AppRecord.id, AppRecord.created_at, _GRANTED, *SESSION_COLUMNS)
        .select_from(ShopRecord)
        .outerjoin(SessionRecord, condition)
        .outerjoin(UserRecord, IS_USER)
        .outerjoin(
            AppRecord,
            and_(
                AppRecord.id == bindparam("app_id"),
                AppRecord.is_active.is_(True),
                AppRecord.is_installed.is_(True),
            ),
        )
        .where(ShopRecord.id == SHOP_ID)
    )


_APP = _app_where(AppTokenRecord.digest == bindparam("digest"))
_APP_OF_TOKEN = _app_where(AppTokenRecord.id == bindparam("token_id"))
_EXTENSION = _extension_where(IN_SESSION)
_EXTENSION_OF_KEY = _extension_where(OF_KEY)


@part
def find_app(ports: Ports, digest: str) -> tuple[ShopState, FoundApp | None]:
    """The app whose token has that digest: active or being installed, the token not expired."""
    return _read_app(ports, ports.database.read(_APP, {"digest": digest})[0])


@part
def find_app_again(ports: Ports, token_id: int) -> tuple[ShopState, FoundApp | None]:
    """What ``find_app`` finds, by the token's key."""
    return _read_app(ports, ports.database.read(_APP_OF_TOKEN, {"token_id": token_id})[0])


def _read_app(ports: Ports, row: Sequence[object]) -> tuple[ShopState, FoundApp | None]:
    app_id, name, granted, token_id, expires_at, narrowed = row[len(SHOP_STATE_COLUMNS) :]
    expires = moment(expires_at)
    if app_id is None or (expires is not None and expires <= ports.clock.now()):
        return read_shop_state(row), None
    limit = None if narrowed is None else split_names(str(narrowed))
    usable = token_permissions(_permissions(granted), limit)
    return read_shop_state(row), FoundApp(
        int(str(app_id)), int(str(token_id)), str(name), usable, limit
    )


@part
def find_extension(
    ports: Ports, claims: Claims, app_id: int
) -> tuple[ShopState, LiveSession | None]:
    """What ``find_session`` finds, with the active app whose extension acts for that user.

    A token older than the app is not the app's: a restored backup can give its key again.
    """
    values = {"session": claims.session, "user_id": claims.user_id, "app_id": app_id}
    row = ports.database.read(_EXTENSION, values)[0]
    created = moment(row[len(SHOP_STATE_COLUMNS) + 1])
    if created is None or is_older_than_app(claims, created.timestamp()):
        return read_shop_state(row), None
    return _read_extension(row)


@part
def find_extension_again(
    ports: Ports, session_id: int, user_id: int, app_id: int
) -> tuple[ShopState, LiveSession | None]:
    """What ``find_extension`` finds, by the session's key."""
    values = {"session_id": session_id, "user_id": user_id, "app_id": app_id}
    return _read_extension(ports.database.read(_EXTENSION_OF_KEY, values)[0])


def _read_extension(row: Sequence[object]) -> tuple[ShopState, LiveSession | None]:
    found_id, _created_at, granted, *columns = row[len(SHOP_STATE_COLUMNS) :]
    found = read_session(columns)
    if found is None or found_id is None:
        return read_shop_state(row), None
    side = ExtensionApp(int(str(found_id)), extension_permissions(_permissions(granted)))
    return read_shop_state(row), replace(found, app=side)


def _permissions(joined: object) -> frozenset[Permission]:
    return split_names(str(joined)) if joined else frozenset()
