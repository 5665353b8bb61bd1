"""The sign-in methods of people: password, identities at providers, and open sessions."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import (
    ExternalIdentityRecord,
    IdentityProviderRecord,
    SessionRecord,
    UserRecord,
)
from app.models.json_arrays import json_array_text
from app.ports import NamedRow, Ports
from app.services.authorization.register import account_owner_only, requires
from app.services.identity.sso_coverage import KNOWN_BY
from app.services.lists.records import record_from
from app.services.second_factors.stored_factors import (
    FACTOR_COLUMNS,
    FactorCounts,
    factors_in,
)
from app.services.sign_in.reauthentication import own_id


@dataclass(frozen=True, slots=True)
class SignInMethods:
    """How a person can sign in, and their open sessions.

    ``providers`` are the names of the providers with an identity of theirs; ``last_used_at`` is
    that of the open sessions.
    """

    has_password: bool
    providers: tuple[str, ...]
    sessions: int
    last_used_at: datetime | None
    factors: FactorCounts = field(default_factory=FactorCounts)


@requires(Permission.MANAGE_STAFF)
def sign_in_methods_of_staff(
    ports: Ports, actor: Actor, user_ids: Collection[int]
) -> Mapping[int, SignInMethods]:
    """Return the sign-in methods of several staff members in one statement."""
    query = _methods(ports).where(UserRecord.id.in_(user_ids), UserRecord.is_staff)
    with ports.database.reading() as session:
        return {row.id: _to_methods(row) for row in session.execute(query)}


@account_owner_only
def show_own_sign_in_methods(ports: Ports, actor: Actor) -> SignInMethods:
    """Return the caller's sign-in methods; raises ``PermissionDenied`` for an extension."""
    query = _methods(ports).where(UserRecord.id == own_id(actor))
    with ports.database.reading() as session:
        return _to_methods(session.execute(query).one())


def _methods(ports: Ports) -> Select[*tuple[Any, ...]]:
    identity, provider = ExternalIdentityRecord, IdentityProviderRecord
    providers = (
        select(json_array_text(provider.name))
        .select_from(identity)
        .join(provider, KNOWN_BY)
        .where(identity.user_id == UserRecord.id)
        .scalar_subquery()
    )
    return select(
        UserRecord.id,
        UserRecord.password_hash.is_not(None).label("has_password"),
        providers.label("providers"),
        _of_sessions(ports, func.count()).label("sessions"),
        _of_sessions(ports, func.max(SessionRecord.last_used_at)).label("last_used_at"),
        *FACTOR_COLUMNS,
    )


def _of_sessions(ports: Ports, column: ColumnElement[Any]) -> ColumnElement[Any]:
    alive = SessionRecord.expires_at > ports.clock.now()
    return (
        select(column)
        .select_from(SessionRecord)
        .where(SessionRecord.user_id == UserRecord.id, alive)
        .scalar_subquery()
    )


def _to_methods(row: NamedRow) -> SignInMethods:
    providers = tuple(sorted(set(json.loads(row.providers))))
    return record_from(SignInMethods, row, providers=providers, factors=factors_in(row))
