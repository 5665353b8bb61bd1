"""What the objects of deliveries are called."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import (
    Boolean,
    Select,
    SQLColumnExpression,
    String,
    cast,
    literal,
    select,
    union_all,
)

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS
from app.domain.values.ids import parse_global_id, parse_key
from app.models import AuditRecord
from app.ports import Ports
from app.services.authorization.register import requires_person
from app.services.commerce.checkouts import token_in
from app.services.deliveries.search import DeliveryLine
from app.services.webhooks.event_subjects import SUBJECTS


@dataclass(frozen=True, slots=True)
class ObjectName:
    """A name; a cart's is its customer's email, an order's its number."""

    name: str
    is_deleted: bool = False


@requires_person(Permission.MANAGE_APPS)
def name_objects(
    ports: Ports, actor: Actor, lines: Iterable[DeliveryLine]
) -> Mapping[str, ObjectName]:
    """Return the names of the deliveries' objects by global ID; one statement.

    Names are those of now, or the last ones of deleted objects. Left out are objects of events
    whose permission the caller lacks, and carts without an email.
    """
    ids: dict[str, dict[str, str]] = {}
    for line in lines:
        subject, key = _parsed(line.object_id)
        if key and actor.holds(EVENTS[line.event].permission):
            ids.setdefault(subject, {})[key] = line.object_id
    unnamed = [subject for subject in ids if SUBJECTS[subject].name is None]
    names = {
        object_id: ObjectName(key)
        for subject in unnamed
        for key, object_id in ids.pop(subject).items()
    }
    parts = [part for subject, keys in ids.items() for part in _parts(subject, list(keys))]
    if not parts:
        return names
    with ports.database.reading() as session:
        rows = session.execute(union_all(*parts)).all()
    # A former staff member can still be a customer.
    for row in sorted(rows, key=lambda row: not row.is_deleted):
        if row.name:
            names[ids[row.subject][row.id]] = ObjectName(row.name, bool(row.is_deleted))
    return names


def _parsed(object_id: str) -> tuple[str, str]:
    """Return the type and the stored key of an object; the key is empty if it isn't valid."""
    subject, key = parse_global_id(object_id) or ("", "")
    if subject not in SUBJECTS:
        return subject, ""
    if SUBJECTS[subject].token is not None:
        return subject, token_in(object_id)
    return subject, "" if parse_key(key) is None else str(parse_key(key))


def _parts(subject: str, keys: list[str]) -> Iterator[Select[str, str, str, bool]]:
    stored = SUBJECTS[subject]
    if stored.name is None:
        return
    id_: SQLColumnExpression[str]
    if stored.token is None:
        id_, is_listed = cast(stored.key, String), stored.key.in_([int(key) for key in keys])
    else:
        id_, is_listed = stored.token, stored.token.in_(keys)
    yield select(
        literal(subject).label("subject"),
        id_.label("id"),
        stored.name.label("name"),
        literal(value=False, type_=Boolean).label("is_deleted"),
    ).where(is_listed)
    if stored.deletions:
        yield select(
            literal(subject),
            AuditRecord.subject_id,
            AuditRecord.subject_name,
            literal(value=True, type_=Boolean),
        ).where(
            AuditRecord.subject_type == subject,
            AuditRecord.subject_id.in_(keys),
            AuditRecord.action.in_(stored.deletions),
        )
