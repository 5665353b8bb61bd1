"""What an event is about and who caused it, as far as the receiving app can see."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from types import MappingProxyType

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.users import Group, User
from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, known
from app.domain.commerce.checkouts import Checkout
from app.domain.commerce.orders import Order
from app.domain.commerce.products import Product
from app.domain.events import Deletion
from app.domain.events.occurrence import Occurrence
from app.domain.values.errors import PermissionDenied
from app.models import AppRecord, GroupPermissionRecord, GroupRecord, ProductRecord, UserRecord
from app.ports import Ports
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import staff_and_apps
from app.services.commerce.stored_checkouts import load_checkout
from app.services.commerce.stored_orders import load_order
from app.services.commerce.stored_products import PRODUCTS, to_product
from app.services.identity.stored_apps import APPS, to_app
from app.services.outbox.snapshots import read_product_snapshot, read_snapshot

Subject = User | Group | App | Product | Checkout | Order
"""What an event can be about."""


@staff_and_apps
def subject_of(ports: Ports, actor: Actor, occurrence: Occurrence) -> Subject | None:
    """Return the event's object: as it is now, or its snapshot if it was deleted.

    Raises ``PermissionDenied`` naming the event's permission.
    """
    event = occurrence.event
    if not actor.holds(event.permission):
        raise PermissionDenied(event.permission)
    if isinstance(event, Deletion):
        return _SNAPSHOTS[event.subject](event.snapshot, occurrence.issued_at)
    with ports.database.reading() as session:
        return _READ[event.subject](session, actor, event.subject_id)


@staff_and_apps
def principal_of(ports: Ports, actor: Actor, occurrence: Occurrence) -> User | App | None:
    """Return who caused the event; ``None`` if no one did or the caller can't see them."""
    key = occurrence.principal_id
    if key is None:
        return None
    with ports.database.reading() as session:
        if occurrence.principal_type == "App":
            may = key == actor.app_id or actor.holds(Permission.MANAGE_APPS)
            return _app(session, key) if may else None
        user = _user(session, key)
    if user is None:
        return None
    needed = Permission.MANAGE_STAFF if user.is_staff else Permission.MANAGE_USERS
    return user if actor.holds(needed) else None


@staff_and_apps
def recipient_of(ports: Ports, actor: Actor, occurrence: Occurrence) -> App | None:
    """Return the app that receives the event."""
    if occurrence.recipient_id is None:
        return None
    with ports.database.reading() as session:
        return _app(session, occurrence.recipient_id)


def _product(session: Session, _actor: Actor, key: int) -> Product | None:
    row = session.execute(PRODUCTS.where(ProductRecord.id == key)).one_or_none()
    return None if row is None else to_product(row)


def _user(session: Session, key: int) -> User | None:
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == key)).one_or_none()
    return None if row is None else read_user(row)


def _group(session: Session, key: int) -> Group | None:
    name = session.scalar(select(GroupRecord.name).where(GroupRecord.id == key))
    if name is None:
        return None
    granted = select(GroupPermissionRecord.permission).where(GroupPermissionRecord.group_id == key)
    return Group(key, name, known(session.scalars(granted).all()))


def _app(session: Session, key: int) -> App | None:
    row = session.execute(APPS.where(AppRecord.id == key)).one_or_none()
    return None if row is None else to_app(row)


_READ: Mapping[str, Callable[[Session, Actor, int], Subject | None]] = MappingProxyType(
    {
        "User": lambda session, _actor, key: _user(session, key),
        "Group": lambda session, _actor, key: _group(session, key),
        "App": lambda session, _actor, key: _app(session, key),
        "Product": _product,
        "Checkout": load_checkout,
        "Order": load_order,
    }
)
_SNAPSHOTS: Mapping[str, Callable[[Mapping[str, object], datetime], Subject]] = MappingProxyType(
    {
        "User": partial(read_snapshot, User),
        "Group": partial(read_snapshot, Group),
        "App": partial(read_snapshot, App),
        "Product": read_product_snapshot,
    }
)
