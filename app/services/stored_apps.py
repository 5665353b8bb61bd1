"""Apps and their tokens as they are stored: read, and written inside a transaction."""

from datetime import datetime

from sqlalchemy import Row, Select, func, select
from sqlalchemy.orm import Session

from app.domain.app_tokens import RANDOM_LENGTH, digest_of, last_four, make_app_token
from app.domain.apps import App, AppToken, AppType, NewAppToken
from app.domain.errors import Problem, Refused
from app.domain.permissions import known
from app.models import AppPermissionRecord, AppRecord, AppTokenRecord
from app.ports import Ports
from app.services.access import part

_BETWEEN = ","
_PERMISSIONS = (
    select(func.aggregate_strings(AppPermissionRecord.permission, _BETWEEN))
    .where(AppPermissionRecord.app_id == AppRecord.id)
    .scalar_subquery()
)

APPS: Select[*tuple[object, ...]] = select(
    AppRecord.id,
    AppRecord.name,
    AppRecord.identifier,
    AppRecord.type,
    AppRecord.is_active,
    AppRecord.created_at,
    _PERMISSIONS,
)
"""What ``to_app`` expects."""


@part
def to_app(row: Row[*tuple[object, ...]]) -> App:
    """The app in a row of ``APPS``."""
    key, name, identifier, kind, active, created_at, permissions = row[:7]
    if not isinstance(created_at, datetime):
        raise TypeError(f"{created_at!r} is no moment")
    return App(
        id=int(str(key)),
        name=str(name),
        identifier=str(identifier),
        type=AppType(str(kind)),
        is_active=bool(active),
        created_at=created_at,
        permissions=known(str(permissions).split(_BETWEEN) if permissions else ()),
    )


@part
def stored_app(session: Session, app_id: int, field: str) -> App:
    """The app of that key; refuses NOT_FOUND on ``field``."""
    row = session.execute(APPS.where(AppRecord.id == app_id)).one_or_none()
    if row is None:
        raise Refused(Problem("NOT_FOUND", "There is no such app.", field))
    return to_app(row)


@part
def to_token(stored: AppTokenRecord) -> AppToken:
    """What may be told of a stored token."""
    return AppToken(
        id=stored.id,
        app_id=stored.app_id,
        name=stored.name,
        last_four=stored.last_four,
        created_at=stored.created_at,
        expires_at=stored.expires_at,
        last_used_at=stored.last_used_at,
    )


@part
def store_token(
    ports: Ports, session: Session, app_id: int, name: str, expires_at: datetime | None = None
) -> NewAppToken:
    """A new token of that app; only its digest and its last four characters are kept."""
    secret = make_app_token(ports.randomness.token(RANDOM_LENGTH))
    stored = AppTokenRecord(
        app_id=app_id,
        name=name,
        digest=digest_of(secret),
        last_four=last_four(secret),
        created_at=ports.clock.now(),
        expires_at=expires_at,
    )
    session.add(stored)
    session.flush()
    return NewAppToken(to_token(stored), secret)
