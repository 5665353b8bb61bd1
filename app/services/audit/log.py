"""Write the audit log in the transaction of the change."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy.orm import Session

from app.domain.audit import SHOWN_FIELDS, security_event_of
from app.domain.authorization.actor import Actor, describe_actor
from app.models import AuditRecord
from app.ports import Ports
from app.services.authorization.after_commit import after_commit
from app.services.authorization.register import part


@dataclass(frozen=True, slots=True)
class Change:
    """An action and its subject; ``before`` and ``after`` hold changed fields, no secrets."""

    action: str
    subject_type: str
    subject_id: int | str
    subject_name: str = ""
    before: Mapping[str, object] = field(default_factory=dict)
    after: Mapping[str, object] = field(default_factory=dict)


@part
def record(ports: Ports, actor: Actor, session: Session, change: Change) -> None:
    """Add a row for ``change`` to the transaction of ``session``.

    Once that is committed, a security event is written as well.
    """
    _write_security_event(ports, actor, session, change)
    session.add(
        AuditRecord(
            at=ports.clock.now(),
            actor_kind=actor.kind.value,
            actor_user_id=actor.user_id,
            actor_app_id=actor.app_id,
            actor_name=actor.name or actor.kind.value,
            address=actor.address or "",
            action=change.action,
            subject_type=change.subject_type,
            subject_id=str(change.subject_id),
            subject_name=change.subject_name,
            before=dict(change.before),
            after=dict(change.after),
        )
    )


def _write_security_event(ports: Ports, actor: Actor, session: Session, change: Change) -> None:
    before, after = change.before, change.after
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    event = security_event_of(change.action, changed)
    if event is None:
        return
    fields = {
        **describe_actor(actor),
        "client_ip": actor.address,
        "action": change.action,
        "subject": f"{change.subject_type}:{change.subject_id}",
        "changed": sorted(changed),
        "before": {
            name: before[name] for name in before if name in SHOWN_FIELDS and name in changed
        },
        "after": {name: after[name] for name in after if name in SHOWN_FIELDS and name in changed},
    }
    after_commit(session, partial(ports.security_log.write, event, **fields))
