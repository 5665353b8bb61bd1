"""The session and the person behind a token of ours, alive or not: one statement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, literal, select

from app.domain.accounts.users import User
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission, split_names
from app.domain.authorization.scopes import ScopeGrant, read_grant
from app.domain.inspector.token_inspection import AppBehind, Bearer, SessionBehind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.tokens import Claims
from app.models import AppPermissionRecord, AppRecord, SessionRecord, ShopRecord, UserRecord
from app.ports import Ports
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import part

_session = SessionRecord
_SESSION = (
    _session.id,
    _session.origin,
    _session.scope,
    _session.created_at,
    _session.expires_at,
)
_GRANTED = (
    select(func.aggregate_strings(AppPermissionRecord.permission, ","))
    .where(AppPermissionRecord.app_id == AppRecord.id)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class Traced:
    """What stands behind claims that are ours; ``None`` for what is not there any more."""

    mode: PasswordLoginMode
    session: SessionBehind | None
    grant: ScopeGrant | None
    user: User | None
    app: AppBehind | None
    granted: frozenset[Permission]


@part
def trace_claims(ports: Ports, claims: Claims) -> Traced:
    """Session, person and app that ``claims`` name, whatever has become of them."""
    app = AppRecord
    query = (
        select(
            ShopRecord.password_login_mode,
            *_SESSION,
            *(app.id, app.name, app.is_active, _GRANTED),
            *USER_COLUMNS,
        )
        .select_from(ShopRecord)
        .outerjoin(
            _session, and_(_session.token == claims.session, _session.user_id == claims.user_id)
        )
        .outerjoin(UserRecord, UserRecord.id == literal(claims.user_id))
        .outerjoin(app, app.id == (claims.app_id or 0))
    )
    with ports.database.reading() as session:
        row: tuple[Any, ...] = tuple(session.execute(query).one())
    mode, key, origin, scope, created_at, expires_at, app_id, name, is_active, granted = row[:10]
    return Traced(
        PasswordLoginMode(mode),
        None if key is None else _behind(key, origin, created_at, expires_at),
        read_grant(scope),
        None if row[10] is None else read_user(row[10:]),
        None if app_id is None else AppBehind(app_id, name, is_active),
        split_names(granted) if granted else frozenset(),
    )


@part
def bearer_of(user: User) -> Bearer:
    """The person as the inspector tells of them."""
    name = f"{user.first_name} {user.last_name}".strip()
    return Bearer(user.id, user.email, name, user.is_staff, user.is_active)


def _behind(key: int, origin: str, created_at: datetime, expires_at: datetime) -> SessionBehind:
    return SessionBehind(key, SessionOrigin(origin), created_at, expires_at)
