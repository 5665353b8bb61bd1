"""The session and the person behind a token of ours, alive or not: one statement."""

from dataclasses import dataclass

from sqlalchemy import and_, literal, select

from app.domain.accounts.users import User
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission, ScopeGrant, read_grant
from app.domain.inspector import Bearer, TokenApp, TokenSession
from app.domain.second_factors import read_methods
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.tokens import Claims
from app.models import AppRecord, SessionRecord, ShopRecord, UserRecord
from app.ports import NamedRow, Ports
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import part
from app.services.authorization.shop_state import is_second_factor_required
from app.services.authorization.stored_permissions import APP_PERMISSIONS, read_permissions

_session = SessionRecord
_SESSION = (
    _session.id.label("session_id"),
    _session.origin.label("session_origin"),
    _session.scope.label("session_scope"),
    _session.amr.label("session_amr"),
    _session.created_at.label("session_created_at"),
    _session.expires_at.label("session_expires_at"),
)
_APP = (
    AppRecord.id.label("app_id"),
    AppRecord.name.label("app_name"),
    AppRecord.is_active.label("app_is_active"),
    APP_PERMISSIONS.label("app_permissions"),
)


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """The records behind a token's claims; ``None`` for those that no longer exist."""

    mode: PasswordLoginMode
    second_factor_required: bool
    session: TokenSession | None
    grant: ScopeGrant | None
    user: User | None
    app: TokenApp | None
    granted: frozenset[Permission]
    amr: tuple[str, ...] = ()


@part
def load_token_trace(ports: Ports, claims: Claims) -> TokenTrace:
    """Session, person and app that ``claims`` name, whatever has become of them."""
    app = AppRecord
    query = (
        select(
            ShopRecord.password_login_mode,
            ShopRecord.second_factor_from,
            *_SESSION,
            *_APP,
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
        row = session.execute(query).one()
    return TokenTrace(
        mode=PasswordLoginMode(row.password_login_mode),
        second_factor_required=is_second_factor_required(
            row.second_factor_from, ports.clock.now()
        ),
        session=None if row.session_id is None else _session_in(row),
        grant=read_grant(row.session_scope),
        user=None if row.user_id is None else read_user(row),
        app=None if row.app_id is None else _app_in(row),
        granted=read_permissions(row.app_permissions),
        amr=read_methods(row.session_amr or ""),
    )


@part
def bearer_of(user: User) -> Bearer:
    """Return the person as the inspector shows them."""
    name = f"{user.first_name} {user.last_name}".strip()
    return Bearer(user.id, user.email, name, user.is_staff, user.is_active)


def _session_in(row: NamedRow) -> TokenSession:
    return TokenSession(
        id=row.session_id,
        origin=SessionOrigin(row.session_origin),
        created_at=row.session_created_at,
        expires_at=row.session_expires_at,
    )


def _app_in(row: NamedRow) -> TokenApp:
    return TokenApp(id=row.app_id, name=row.app_name, is_active=row.app_is_active)
