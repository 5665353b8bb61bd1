"""What the objects of deliveries are called."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import Boolean, Select, String, cast, func, literal, select, union_all

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS
from app.domain.values.ids import parse_global_id, parse_key
from app.models import (
    AppRecord,
    AuditRecord,
    CheckoutRecord,
    GroupRecord,
    ProductRecord,
    UserRecord,
)
from app.ports import Ports
from app.services.authorization.register import requires_person
from app.services.commerce.stored_checkouts import token_in
from app.services.deliveries.search import DeliveryLine

_CUSTOMER = (
    select(UserRecord.email).where(UserRecord.id == CheckoutRecord.user_id).scalar_subquery()
)
_NAMES: Mapping[str, Select[str, str]] = {
    "App": select(cast(AppRecord.id, String), AppRecord.name),
    "Group": select(cast(GroupRecord.id, String), GroupRecord.name),
    "Product": select(cast(ProductRecord.id, String), ProductRecord.name),
    "User": select(cast(UserRecord.id, String), UserRecord.email),
    "Checkout": select(
        CheckoutRecord.token,
        func.coalesce(func.nullif(CheckoutRecord.email, ""), _CUSTOMER, ""),
    ),
}
_KEYS = {
    "App": AppRecord.id,
    "Group": GroupRecord.id,
    "Product": ProductRecord.id,
    "User": UserRecord.id,
}
_DELETIONS = {
    "App": ("app.delete",),
    "Group": ("group.delete",),
    "Product": ("product.delete",),
    "User": ("account.delete", "customer.delete", "staff.delete"),
}
"""The actions of the audit log, which keeps the names of what is deleted."""


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
    orders = ids.pop("Order", {})
    names = {object_id: ObjectName(key) for key, object_id in orders.items()}
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
    if subject == "Checkout":
        return subject, token_in(object_id)
    return subject, "" if parse_key(key) is None else str(parse_key(key))


def _parts(subject: str, keys: list[str]) -> Iterator[Select[str, str, str, bool]]:
    if subject not in _NAMES:
        return
    key, name = _NAMES[subject].selected_columns
    own = [int(one) for one in keys] if subject in _KEYS else keys
    yield select(
        literal(subject).label("subject"),
        key.label("id"),
        name.label("name"),
        literal(value=False, type_=Boolean).label("is_deleted"),
    ).where(_KEYS.get(subject, CheckoutRecord.token).in_(own))
    if subject in _DELETIONS:
        yield select(
            literal(subject),
            AuditRecord.subject_id,
            AuditRecord.subject_name,
            literal(value=True, type_=Boolean),
        ).where(
            AuditRecord.subject_type == subject,
            AuditRecord.subject_id.in_(keys),
            AuditRecord.action.in_(_DELETIONS[subject]),
        )
