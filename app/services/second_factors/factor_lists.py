"""The second factors of users, for themselves and for those who manage them."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, literal, select, union_all

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.second_factors import SecondFactorType
from app.domain.values.errors import PermissionDenied
from app.models import AuthenticatorAppRecord, PasskeyRecord, RecoveryCodeRecord
from app.ports import Ports
from app.services.authorization.register import public
from app.services.identity.manageable_users import NEEDED


@dataclass(frozen=True, slots=True)
class ListedFactor:
    """A second factor; ``key`` is unique among those of its type."""

    type: SecondFactorType
    key: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@public
def second_factors_of_users(
    ports: Ports, actor: Actor, users: Collection[User], owners: Collection[int] = ()
) -> Mapping[int, tuple[ListedFactor, ...]]:
    """Return the second factors of each of ``users``, in one statement.

    ``owners`` are keys of users whose password or own token the request has proven. Raises
    ``PermissionDenied`` for other people's: those of staff need MANAGE_STAFF, those of customers
    MANAGE_USERS.
    """
    for user in users:
        needed = NEEDED[user.is_staff]
        manages = actor.holds(needed) and actor.viewer.holds(needed)
        is_self = actor.is_account_owner and actor.user_id == user.id
        if not (is_self or manages or user.id in owners):
            raise PermissionDenied(needed)
    keys = [user.id for user in users]
    parts = (_passkeys(keys), _apps(keys), _recovery_codes(keys))
    found = defaultdict[int, list[ListedFactor]](list)
    with ports.database.reading() as session:
        for row in session.execute(union_all(*parts)):
            kind = SecondFactorType(row.type)
            listed = ListedFactor(kind, row.key, row.name, row.created_at, row.last_used_at)
            found[row.user_id].append(listed)
    order = list(SecondFactorType)
    return {
        key: tuple(sorted(found[key], key=lambda one: (order.index(one.type), one.key)))
        for key in keys
    }


def _passkeys(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    return select(
        PasskeyRecord.user_id,
        literal(SecondFactorType.PASSKEY.value).label("type"),
        PasskeyRecord.id.label("key"),
        PasskeyRecord.name,
        PasskeyRecord.created_at,
        PasskeyRecord.last_used_at,
    ).where(PasskeyRecord.user_id.in_(keys))


def _apps(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    app = AuthenticatorAppRecord
    return select(
        app.user_id,
        literal(SecondFactorType.AUTHENTICATOR_APP.value),
        app.user_id,
        literal(""),
        app.created_at,
        app.last_used_at,
    ).where(app.user_id.in_(keys), app.confirmed_at.is_not(None))


def _recovery_codes(keys: Collection[int]) -> Select[*tuple[object, ...]]:
    """Sets of codes of which at least one is unused."""
    code = RecoveryCodeRecord
    return (
        select(
            code.user_id,
            literal(SecondFactorType.RECOVERY_CODES.value),
            code.user_id,
            literal(""),
            func.min(code.created_at),
            func.max(code.used_at),
        )
        .where(code.user_id.in_(keys))
        .group_by(code.user_id)
        .having(func.count(code.selector) > func.count(code.used_at))
    )
