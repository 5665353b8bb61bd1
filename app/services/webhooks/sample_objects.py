"""Sample objects: existing objects on which events are tried."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.products import snapshot_of as product_snapshot
from app.domain.events import EVENTS, Deletion, Event, EventType
from app.domain.values.ids import key_of, parse_global_id, parse_key
from app.models import (
    AppRecord,
    CheckoutRecord,
    GroupMemberRecord,
    GroupRecord,
    OrderRecord,
    ProductRecord,
    UserRecord,
)
from app.ports import Ports
from app.services.authorization.register import part
from app.services.commerce.stored_checkouts import token_in
from app.services.commerce.stored_products import PRODUCTS, to_product
from app.services.identity.stored_apps import app_snapshot, stored_app
from app.services.identity.users import load_user
from app.services.identity.users import snapshot_of as user_snapshot
from app.services.people.stored_groups import group_snapshot, load_group


@part
def kinds_of(events: Iterable[EventType]) -> tuple[type[Event], ...]:
    """The classes of these events; ``ANY_EVENTS`` is all of them."""
    selected = set(events)
    return tuple(
        kind
        for name, kind in EVENTS.items()
        if EventType.ANY_EVENTS in selected or name in selected
    )


@part
def default_kinds() -> tuple[type[Event], ...]:
    """The event of each type of object that comes first to mind: that it has changed."""
    return tuple(kind for name, kind in EVENTS.items() if name.value.endswith("_UPDATED"))


@part
def kinds_about(kinds: Iterable[type[Event]], object_id: str) -> tuple[type[Event], ...]:
    """Those of ``kinds`` that can be about an object with that global id; none if it is no id."""
    subject, key = parse_global_id(object_id) or ("", "")
    is_id = subject == "Checkout" or parse_key(key) is not None
    return tuple(kind for kind in kinds if is_id and kind.subject == subject)


@part
def sample_event(
    ports: Ports, actor: Actor, kind: type[Event], object_id: str | None
) -> Event | None:
    """Return such an event of that object, or of the newest; ``None`` if there is none.

    A deletion has the snapshot of a deletion now. Only people whom ``actor`` can see are found.
    """
    query = _newest(actor, kind)
    if object_id is not None:
        query = query.where(_is(kind.subject, object_id))
    with ports.database.reading() as session:
        key = session.scalar(query.limit(1))
        if key is None:
            return None
        if issubclass(kind, Deletion):
            return kind(key, snapshot=_SNAPSHOTS[kind.subject](session, key))
    return kind(key)


def _newest(actor: Actor, kind: type[Event]) -> Select[int]:
    key = _KEYS[kind.subject]
    query = select(key).order_by(key.desc())
    if kind.subject == "App":
        return query.where(AppRecord.is_installed.is_(True))
    if kind.subject != "User":
        return query
    if kind.of_staff is not None:
        return query.where(UserRecord.is_staff.is_(kind.of_staff))
    # Whoever manages customers alone must not look at the staff in this way.
    is_anybody = actor.holds(Permission.MANAGE_STAFF)
    return query if is_anybody else query.where(UserRecord.is_staff.is_(False))


def _is(subject: str, object_id: str) -> ColumnElement[bool]:
    if subject == "Checkout":
        return CheckoutRecord.token == token_in(object_id)
    return _KEYS[subject] == key_of(object_id, subject, field="objectId", code="INVALID_ID")


def _user_snapshot(session: Session, key: int) -> Mapping[str, object]:
    reference = session.scalar(select(UserRecord.external_reference).where(UserRecord.id == key))
    return user_snapshot(load_user(session, key), reference)


def _group_snapshot(session: Session, key: int) -> Mapping[str, object]:
    members = select(GroupMemberRecord.user_id).where(GroupMemberRecord.group_id == key)
    return group_snapshot(load_group(session, key), session.scalars(members))


def _product_snapshot(session: Session, key: int) -> Mapping[str, object]:
    row = session.execute(PRODUCTS.where(ProductRecord.id == key)).one()
    return product_snapshot(to_product(row))


_KEYS: Mapping[str, InstrumentedAttribute[int]] = MappingProxyType(
    {
        "User": UserRecord.id,
        "Group": GroupRecord.id,
        "App": AppRecord.id,
        "Product": ProductRecord.id,
        "Checkout": CheckoutRecord.id,
        "Order": OrderRecord.id,
    }
)
_SNAPSHOTS: Mapping[str, Callable[[Session, int], Mapping[str, object]]] = MappingProxyType(
    {
        "User": _user_snapshot,
        "Group": _group_snapshot,
        "App": lambda session, key: app_snapshot(stored_app(session, key, "objectId")),
        "Product": _product_snapshot,
    }
)
