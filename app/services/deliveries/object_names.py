"""What the objects of deliveries are called."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Select, literal, select, union_all

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS
from app.domain.values.ids import parse_global_id, parse_key
from app.models import AppRecord, GroupRecord, ProductRecord, UserRecord
from app.ports import Ports
from app.services.authorization.register import requires_person
from app.services.deliveries.search import DeliveryLine

_NAMES: Mapping[str, Select[int, str]] = {
    "App": select(AppRecord.id, AppRecord.name),
    "Group": select(GroupRecord.id, GroupRecord.name),
    "Product": select(ProductRecord.id, ProductRecord.name),
    "User": select(UserRecord.id, UserRecord.email),
}


@requires_person(Permission.MANAGE_APPS)
def name_objects(ports: Ports, actor: Actor, lines: Iterable[DeliveryLine]) -> Mapping[str, str]:
    """Return the names of the deliveries' objects by global ID; one statement.

    Names are those of now. Left out are deleted objects, and those of events whose permission the
    caller lacks. An order's name is its number.
    """
    ids: dict[str, dict[int, str]] = {}
    for line in lines:
        subject, key = parse_global_id(line.object_id) or ("", "")
        number = parse_key(key)
        if number is not None and actor.holds(EVENTS[line.event].permission):
            ids.setdefault(subject, {})[number] = line.object_id
    names = {object_id: str(key) for key, object_id in ids.pop("Order", {}).items()}
    parts = [_named(subject, keys) for subject, keys in ids.items() if subject in _NAMES]
    if not parts:
        return names
    with ports.database.reading() as session:
        for row in session.execute(union_all(*parts)):
            names[ids[row.subject][row.id]] = row.name
    return names


def _named(subject: str, keys: Iterable[int]) -> Select[str, int, str]:
    names = _NAMES[subject].subquery()
    key, name = names.columns
    return select(literal(subject).label("subject"), key.label("id"), name.label("name")).where(
        key.in_(list(keys))
    )
