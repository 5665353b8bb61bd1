"""Write the audit log in the transaction of the change, and store who requested deferred work."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.audit import PROFILE_ACTIONS, SHOWN_FIELDS, security_event_of
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin, describe_actor
from app.domain.authorization.permissions import (
    Permission,
    held_everywhere,
    known_permissions,
    read_grant,
    write_grant,
)
from app.domain.second_factors import read_methods, write_methods
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks import Saver, saver_of
from app.ports import Ports
from app.services.authorization.register import after_commit, building_block
from app.services.authorization.session_rights import (
    USER_COLUMNS,
    read_user,
    stored_switches,
    with_effective_rights,
)

Values = Mapping[str, object]
_NOTHING: Values = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Change:
    """An action and its subject; ``before`` and ``after`` hold changed fields, no secrets."""

    action: str
    subject_type: str
    subject_id: int | str
    subject_name: str = ""
    before: Values = field(default_factory=dict)
    after: Values = field(default_factory=dict)


@building_block
def user_change(
    action: str, user: User | models.User, before: Values = _NOTHING, after: Values = _NOTHING
) -> Change:
    return Change(action, "User", user.id, user.email, before, after)


@building_block
def differing(before: Values, after: Values) -> tuple[Values, Values]:
    """Return of both sides the fields that differ, as a ``Change`` has them."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    old, new = ({name: side[name] for name in names if name in side} for side in (before, after))
    return old, new


@building_block
def record(ports: Ports, actor: Actor, session: Session, change: Change) -> None:
    """Add a row for ``change`` to the transaction of ``session``.

    Once that is committed, a security event is written as well.
    """
    _write_security_event(ports, actor, session, change)
    subject = change.subject_type, str(change.subject_id)
    session.add(
        models.AuditEntry(
            at=ports.clock.now(),
            actor_kind=actor.kind.value,
            actor_user_id=actor.user_id,
            actor_app_id=actor.app_id,
            actor_name=actor.name or actor.kind.value,
            address=actor.address or "",
            action=change.action,
            subject_type=subject[0],
            subject_id=subject[1],
            subject_name=change.subject_name,
            before=dict(change.before),
            after=dict(change.after),
            own_profile=_is_own_profile(actor, change.action, subject),
        )
    )


def _is_own_profile(actor: Actor, action: str, subject: tuple[str, str]) -> bool:
    """Whether a customer changes their own names, addresses, language, picture or metadata."""
    is_own = actor.is_account_owner and subject == ("User", str(actor.user_id))
    return is_own and not actor.is_staff and action in PROFILE_ACTIONS


def _write_security_event(ports: Ports, actor: Actor, session: Session, change: Change) -> None:
    before, after = differing(change.before, change.after)
    changed = {**before, **after}
    event = security_event_of(change.action, changed)
    if event is None:
        return
    fields = {
        **describe_actor(actor),
        "client_ip": actor.address,
        "action": change.action,
        "subject": f"{change.subject_type}:{change.subject_id}",
        "changed": sorted(changed),
        "before": {name: before[name] for name in before if name in SHOWN_FIELDS},
        "after": {name: after[name] for name in after if name in SHOWN_FIELDS},
    }
    after_commit(session, partial(ports.security_log.write, event, **fields))


_LOST = Problem(
    "OUT_OF_SCOPE_PERMISSION",
    "The person who asked for this app doesn't have the permissions to install it anymore.",
)


@building_block
def store_requester(actor: Actor) -> dict[str, object]:
    return {
        "kind": actor.kind.value,
        "user_id": actor.user_id,
        "app_id": actor.app_id,
        "name": actor.name,
        "address": actor.address,
        "issuer": actor.issuer,
        "permissions": sorted(permission.value for permission in actor.held_everywhere),
        "origin": actor.origin.value,
        "amr": write_methods(actor.amr),
        "grant": write_grant(actor.grant),
    }


@building_block
def requester(stored: Mapping[str, object]) -> Actor:
    """Return the stored requester as an actor for audit and events, without permissions.

    An earlier version may have stored less.
    """
    user_id, app_id, address = stored.get("user_id"), stored.get("app_id"), stored.get("address")
    return Actor(
        ActorKind(str(stored.get("kind", ActorKind.ANONYMOUS.value))),
        user_id=user_id if isinstance(user_id, int) else None,
        app_id=app_id if isinstance(app_id, int) else None,
        name=str(stored.get("name", "")),
        address=None if address is None else str(address),
        issuer=str(stored.get("issuer", "")),
    )


@building_block
def requesting_saver(stored: Mapping[str, object], *, granted: frozenset[Permission]) -> Saver:
    """Return the stored requester as the saver of the webhooks that are created.

    If their permissions weren't stored, ``granted`` counts: no one can grant more than they hold.
    """
    permissions = known_permissions(stored["permissions"]) if "permissions" in stored else granted
    return saver_of(replace(requester(stored), permissions=permissions))


@building_block
def require_requester(
    ports: Ports, session: Session, stored: Mapping[str, object], granted: frozenset[Permission]
) -> None:
    """Refuse OUT_OF_SCOPE_PERMISSION unless the person who asked could still grant ``granted``.

    They are active and hold it, and MANAGE_APPS, in the current login mode. Whether the session in
    which they asked goes on doesn't matter: people sign out while an app is being installed.
    """
    if stored.get("kind", ActorKind.USER.value) != ActorKind.USER.value:
        return
    is_asker = models.User.id == stored.get("user_id"), models.User.is_active
    row = session.execute(select(*USER_COLUMNS).where(*is_asker)).one_or_none()
    if row is None:
        raise Refused(_LOST)
    switches = stored_switches(ports, session)
    origin = SessionOrigin(str(stored.get("origin", SessionOrigin.NONE.value)))
    amr = read_methods(str(stored.get("amr", "")))
    grant = read_grant(stored.get("grant"))
    user = with_effective_rights(read_user(row), origin, amr, switches, grant)
    held = held_everywhere(user.permissions, user.channel_ids)
    if not granted | {Permission.MANAGE_APPS} <= held:
        raise Refused(_LOST)
