"""What events are about: how each type of object is read, deleted, named and found.

``SUBJECTS`` is the one place where a type of object says so for events, dry runs and deliveries. A
deletion can wait in the outbox while the server is upgraded: a field that its snapshot doesn't
have gets its default or, without one, the empty value of its type.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from sqlalchemy import ColumnElement, Select, SQLColumnExpression, func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import Address
from app.domain.accounts.users import Group, User
from app.domain.apps.apps import App, AppType
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, known_permissions
from app.domain.commerce.channels import Channel
from app.domain.commerce.money import Money, of_units
from app.domain.commerce.products import Product
from app.domain.commerce.products import snapshot_of as product_snapshot
from app.domain.commerce.sales import Checkout, Order
from app.domain.events import Deletion, Event, NamedObject, Occurrence
from app.domain.shop.settings import PasswordLoginMode, PublicShop
from app.domain.values.errors import PermissionDenied
from app.ports import NamedRow, Ports
from app.services.accounts.stored_addresses import address_snapshot, is_of_staff, to_address
from app.services.authorization.register import building_block, staff_and_apps
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.commerce.channels import CHANNELS, to_channel
from app.services.commerce.checkouts import load_checkout
from app.services.commerce.orders import load_order
from app.services.commerce.products import PRODUCTS, to_product
from app.services.identity.stored_apps import APPS, app_snapshot, stored_app, to_app
from app.services.identity.users import NEEDED, load_user
from app.services.identity.users import snapshot_of as user_snapshot
from app.services.lists.filters import is_reached
from app.services.people.stored_groups import GROUPS, group_snapshot, load_group, to_group

Deleted = TypeVar("Deleted", bound=User | Group | App | Product | Address | Channel)


@building_block
def read_snapshot(
    kind: type[Deleted], snapshot: Mapping[str, Any], deleted_at: datetime
) -> Deleted:
    """Return the object in ``snapshot``; ``deleted_at`` replaces a missing required time."""
    types = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        stored, type_ = snapshot.get(field.name), types[field.name]
        if stored is None:
            if field.default is MISSING:
                values[field.name] = deleted_at if type_ is datetime else _EMPTY[type_]
        elif type_ == tuple[Group, ...]:
            values[field.name] = tuple(read_snapshot(Group, group, deleted_at) for group in stored)
        else:
            values[field.name] = _READ.get(type_, _unchanged)(stored)
    return kind(**values)


@building_block
def read_product_snapshot(snapshot: Mapping[str, Any], deleted_at: datetime) -> Product:
    """Return the product in ``snapshot``, which keeps the price's units and currency apart."""
    units, currency = snapshot.get("price"), snapshot.get("currency")
    price = None if units is None or currency is None else of_units(units, currency)
    return read_snapshot(Product, {**snapshot, "price": price}, deleted_at)


def _unchanged(stored: object) -> object:
    return stored


_EMPTY: Mapping[object, object] = MappingProxyType(
    {
        str: "",
        int: 0,
        bool: False,
        datetime | None: None,
        Money | None: None,
        AppType: AppType.LOCAL,
        frozenset[Permission]: frozenset(),
        tuple[Group, ...]: (),
    }
)
_READ: Mapping[object, Callable[[Any], object]] = MappingProxyType(
    {
        datetime: datetime.fromisoformat,
        datetime | None: datetime.fromisoformat,
        AppType: AppType,
        frozenset[Permission]: known_permissions,
        frozenset[int] | None: frozenset,
    }
)
"""How a stored value becomes one of that type; texts, numbers and switches are stored as such."""

Subject = User | Group | App | Product | Checkout | Order | Address | Channel | PublicShop
"""What an event can be about."""

Snapshot = Mapping[str, object]


def _is_shown_to_all(_actor: Actor, _snapshot: Snapshot) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class StoredDeletion:
    """How deleted objects of a type are told of.

    ``snapshot`` is what the event carries, ``read`` makes an object of that again. ``actions`` are
    those of the audit log, which keeps the names. ``is_hidden`` says whether the caller may not
    see the object in a snapshot.
    """

    snapshot: Callable[[Session, int], Snapshot]
    read: Callable[[Snapshot, datetime], Subject]
    actions: tuple[str, ...]
    is_hidden: Callable[[Actor, Snapshot], bool] = _is_shown_to_all


@dataclass(frozen=True, slots=True)
class StoredSubject:
    """How objects of a type are stored, for events about them.

    ``read`` returns one as the caller can see it. ``deletion`` is there if events tell of its
    deletion. ``name`` is what deliveries call it, its key if ``None``. ``token`` is in its global
    ID instead of the key. ``sampled`` says which of them samples are made of.
    """

    key: SQLColumnExpression[int]
    read: Callable[[Session, Actor, int], Subject | None]
    name: SQLColumnExpression[str] | None = None
    deletion: StoredDeletion | None = None
    token: SQLColumnExpression[str] | None = None
    sampled: tuple[ColumnElement[bool], ...] = ()


@staff_and_apps
def subject_of(ports: Ports, actor: Actor, occurrence: Occurrence) -> Subject | None:
    """Return the event's object: as it is now, or its snapshot if it was deleted.

    Raises ``PermissionDenied`` naming the event's permission.
    """
    event = occurrence.event
    if not actor.holds(event.permission):
        raise PermissionDenied(event.permission)
    if isinstance(event, Deletion):
        deletion = _deletion_of(event.subject.type)
        if deletion.is_hidden(actor, event.snapshot):
            return None
        return deletion.read(event.snapshot, occurrence.issued_at)
    with ports.database.reading() as session:
        return SUBJECTS[event.subject.type].read(session, actor, event.subject_id)


def _deletion_of(type_name: str) -> StoredDeletion:
    deletion = SUBJECTS[type_name].deletion
    assert deletion is not None  # noqa: S101 - a test compares this table with the events
    return deletion


@staff_and_apps
def principal_of(ports: Ports, actor: Actor, occurrence: Occurrence) -> User | App | None:
    """Return who caused the event; ``None`` if no one did or the caller can't see them."""
    key = occurrence.principal_id
    if key is None:
        return None
    with ports.database.reading() as session:
        if occurrence.principal_type == "App":
            may = key == actor.app_id or actor.holds(Permission.MANAGE_APPS)
            return _app(session, actor, key) if may else None
        user = _user(session, actor, key)
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
        return _app(session, actor, occurrence.recipient_id)


@building_block
def sample_event(
    ports: Ports, actor: Actor, kind: type[Event], named: NamedObject | None
) -> Event | None:
    """Return such an event of that object, or of the newest; ``None`` if there is none.

    ``named`` is of a type that ``kind`` can be about. A deletion has the snapshot of a deletion
    now. Only people whom ``actor`` can see are found.
    """
    query = _newest(actor, kind)
    if named is not None:
        query = query.where(_is(kind, named))
    with ports.database.reading() as session:
        key = session.scalar(query.limit(1))
        if key is None:
            return None
        if issubclass(kind, Deletion):
            return kind(key, snapshot=_deletion_of(kind.subject.type).snapshot(session, key))
    return kind(key)


def _newest(actor: Actor, kind: type[Event]) -> Select[int]:
    stored = SUBJECTS[kind.subject.type]
    query = select(stored.key).where(*stored.sampled).order_by(stored.key.desc())
    if kind.subject.type in CHANNEL_OF:
        return query.where(is_reached(actor, CHANNEL_OF[kind.subject.type]))
    # People who manage customers alone must not look at the staff in this way.
    sees_all = actor.holds(Permission.MANAGE_STAFF)
    if kind.subject.type == "Address" and not sees_all:
        customers = select(models.User.id).where(models.User.is_staff.is_(False))
        return query.where(models.Address.user_id.in_(customers))
    if kind.subject.type != "User":
        return query
    if kind.subject.of_staff is not None:
        return query.where(models.User.is_staff.is_(kind.subject.of_staff))
    return query if sees_all else query.where(models.User.is_staff.is_(False))


def _is(kind: type[Event], named: NamedObject) -> ColumnElement[bool]:
    stored = SUBJECTS[kind.subject.type]
    if stored.token is not None:
        return stored.token == named.token
    return stored.key == named.key


Read = TypeVar("Read", bound=Subject)


def _reader(
    query: Select[*tuple[Any, ...]],
    column: SQLColumnExpression[int],
    to_subject: Callable[[NamedRow], Read],
) -> Callable[[Session, Actor, int], Read | None]:
    """Return what reads the row of ``query`` with a key, for every caller."""

    def read(session: Session, _actor: Actor, key: int) -> Read | None:
        row = session.execute(query.where(column == key)).one_or_none()
        return None if row is None else to_subject(row)

    return read


_user = _reader(select(*USER_COLUMNS), models.User.id, read_user)
_app = _reader(APPS, models.App.id, to_app)


def _to_group(row: NamedRow) -> Group:
    group = to_group(row)
    return Group(group.id, group.name, group.permissions, group.channel_ids)


def _address(session: Session, actor: Actor, key: int) -> Address | None:
    stored = session.get(models.Address, key)
    if stored is None:
        return None
    needed = NEEDED[is_of_staff(session, stored)]
    return to_address(stored) if actor.holds(needed) else None


def _address_snapshot(session: Session, key: int) -> Mapping[str, object]:
    stored = session.get_one(models.Address, key)
    return address_snapshot(to_address(stored), of_staff=is_of_staff(session, stored))


def _is_of_hidden_staff(actor: Actor, snapshot: Snapshot) -> bool:
    return bool(snapshot.get("of_staff")) and not actor.holds(Permission.MANAGE_STAFF)


def _shop(session: Session, _actor: Actor, _key: int) -> PublicShop:
    shop = session.get_one(models.Shop, models.SHOP_ID)
    return PublicShop(
        name=shop.name,
        description=shop.description,
        password_login_mode=PasswordLoginMode(shop.password_login_mode),
        allow_storefront_traffic=shop.allow_storefront_traffic,
    )


def _channel_snapshot(session: Session, key: int) -> Mapping[str, object]:
    return asdict(to_channel(session.execute(CHANNELS.where(models.Channel.id == key)).one()))


def _user_snapshot(session: Session, key: int) -> Mapping[str, object]:
    reference = session.scalar(select(models.User.external_reference).where(models.User.id == key))
    return user_snapshot(load_user(session, key), reference)


def _group_snapshot(session: Session, key: int) -> Mapping[str, object]:
    members = select(models.GroupMember.user_id).where(models.GroupMember.group_id == key)
    return group_snapshot(load_group(session, key), session.scalars(members))


def _product_snapshot(session: Session, key: int) -> Mapping[str, object]:
    row = session.execute(PRODUCTS.where(models.Product.id == key)).one()
    return product_snapshot(to_product(row))


CHANNEL_OF: Mapping[str, SQLColumnExpression[int]] = MappingProxyType(
    {"Order": models.ORDER_CHANNEL, "Checkout": models.CHECKOUT_CHANNEL}
)
"""The channel of each type of object that has one."""

_CUSTOMER_EMAIL = (
    select(models.User.email).where(models.User.id == models.Checkout.user_id).scalar_subquery()
)
SUBJECTS: Mapping[str, StoredSubject] = MappingProxyType(
    {
        "User": StoredSubject(
            key=models.User.id,
            read=_user,
            name=models.User.email,
            deletion=StoredDeletion(
                _user_snapshot,
                partial(read_snapshot, User),
                ("account.delete", "customer.delete", "staff.delete"),
            ),
        ),
        "Group": StoredSubject(
            key=models.Group.id,
            read=_reader(GROUPS, models.Group.id, _to_group),
            name=models.Group.name,
            deletion=StoredDeletion(
                _group_snapshot, partial(read_snapshot, Group), ("group.delete",)
            ),
        ),
        "App": StoredSubject(
            key=models.App.id,
            read=_app,
            name=models.App.name,
            deletion=StoredDeletion(
                lambda session, key: app_snapshot(stored_app(session, key, "objectId")),
                partial(read_snapshot, App),
                ("app.delete",),
            ),
            sampled=(models.App.is_installed.is_(True),),
        ),
        "Product": StoredSubject(
            key=models.Product.id,
            read=_reader(PRODUCTS, models.Product.id, to_product),
            name=models.Product.name,
            deletion=StoredDeletion(_product_snapshot, read_product_snapshot, ("product.delete",)),
        ),
        "Checkout": StoredSubject(
            key=models.Checkout.id,
            read=load_checkout,
            name=func.coalesce(func.nullif(models.Checkout.email, ""), _CUSTOMER_EMAIL, ""),
            token=models.Checkout.token,
        ),
        "Order": StoredSubject(key=models.Order.id, read=load_order),
        "Address": StoredSubject(
            key=models.Address.id,
            read=_address,
            deletion=StoredDeletion(
                _address_snapshot,
                partial(read_snapshot, Address),
                ("address.delete",),
                _is_of_hidden_staff,
            ),
        ),
        "Channel": StoredSubject(
            key=models.Channel.id,
            read=_reader(CHANNELS, models.Channel.id, to_channel),
            name=models.Channel.name,
            deletion=StoredDeletion(
                _channel_snapshot, partial(read_snapshot, Channel), ("channel.delete",)
            ),
        ),
        "Shop": StoredSubject(key=models.Shop.id, read=_shop, name=models.Shop.name),
    }
)
"""By the type of ``domain.events.Subject``."""
