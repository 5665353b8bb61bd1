"""One object of each type that events are about, and its deletion."""

from collections.abc import Callable
from dataclasses import dataclass

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.events import Event, EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.account_details import delete_account
from app.services.accounts.addresses import delete_user_address
from app.services.apps.app_changes import delete_app
from app.services.commerce.channels import create_channel, delete_channel
from app.services.commerce.products import delete_product
from app.services.people.customers import delete_customer
from app.services.people.groups import delete_group
from app.services.people.staff import delete_staff
from tests.builders.addresses import make_address
from tests.builders.apps import make_app
from tests.builders.links import link_for
from tests.builders.orders import checkout_id, make_cart, make_order, order_id
from tests.builders.people import actor_of, make_group, make_user
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import make_webhook


@dataclass(frozen=True, slots=True)
class SampleObject:
    """An object's key and global ID."""

    key: int
    id: str


def make_sample_object(ports: Ports, kind: type[Event]) -> SampleObject:
    """Create an object for events of ``kind``, with all nested objects."""
    return _MAKERS[kind.subject.type](ports, kind)


def delete_sample_object(
    ports: Ports, actor: Actor, kind: EventType, sample: SampleObject
) -> None:
    """Delete the object as ``actor``, which publishes the event."""
    if kind is EventType.ACCOUNT_DELETED:
        link = link_for(ports, sample.key, LinkPurpose.DELETE_ACCOUNT)
        delete_account(ports, actor_of(ports, sample.key), token=link)
    elif kind is EventType.APP_DELETED:
        delete_app(ports, actor, sample.key)
    else:
        _DELETIONS[kind](ports, actor, sample.id)


def _email(kind: type[Event]) -> str:
    return f"{kind.__name__.lower()}@example.com"


def _person(ports: Ports, kind: type[Event]) -> SampleObject:
    group = make_group(ports, kind.__name__.lower(), Permission.MANAGE_ORDERS)
    key = make_user(
        ports, _email(kind), first_name="Ann", groups=[group], is_staff=bool(kind.subject.of_staff)
    )
    make_order(ports, actor_of(ports, key))
    make_cart(ports, actor_of(ports, key))
    return SampleObject(key, to_global_id("User", key))


def _group(ports: Ports, kind: type[Event]) -> SampleObject:
    permissions = (Permission.MANAGE_ORDERS, Permission.MANAGE_APPS)
    key = make_group(ports, kind.__name__.lower(), *permissions)
    member = make_user(ports, _email(kind), is_staff=True)
    with ports.database.transaction() as session:
        session.add(models.GroupMember(user_id=member, group_id=key))
    return SampleObject(key, to_global_id("Group", key))


def _app(ports: Ports, _kind: type[Event]) -> SampleObject:
    key, _ = make_app(ports, "Ships", Permission.MANAGE_ORDERS)
    make_webhook(ports, key)
    return SampleObject(key, to_global_id("App", key))


def _product(ports: Ports, _kind: type[Event]) -> SampleObject:
    key = make_product(ports, "Crème bowl", "12.50", is_published=False)
    return SampleObject(key, product_id(key))


def _cart(ports: Ports, _kind: type[Event]) -> SampleObject:
    cart = make_cart(ports)
    return SampleObject(cart.id, checkout_id(cart))


def _order(ports: Ports, _kind: type[Event]) -> SampleObject:
    order = make_order(ports)
    return SampleObject(order.id, order_id(order))


def _address(ports: Ports, kind: type[Event]) -> SampleObject:
    key = make_address(ports, make_user(ports, _email(kind)))
    return SampleObject(key, to_global_id("Address", key))


def _channel(ports: Ports, _kind: type[Event]) -> SampleObject:
    key = create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL")).id
    return SampleObject(key, to_global_id("Channel", key))


def _shop(_ports: Ports, _kind: type[Event]) -> SampleObject:
    return SampleObject(1, to_global_id("Shop", 1))


_MAKERS: dict[str, Callable[[Ports, type[Event]], SampleObject]] = {
    "User": _person,
    "Group": _group,
    "App": _app,
    "Product": _product,
    "Checkout": _cart,
    "Order": _order,
    "Address": _address,
    "Channel": _channel,
    "Shop": _shop,
}
_DELETIONS: dict[EventType, Callable[[Ports, Actor, str], object]] = {
    EventType.CUSTOMER_DELETED: delete_customer,
    EventType.STAFF_DELETED: delete_staff,
    EventType.PERMISSION_GROUP_DELETED: delete_group,
    EventType.PRODUCT_DELETED: delete_product,
    EventType.ADDRESS_DELETED: delete_user_address,
    EventType.CHANNEL_DELETED: delete_channel,
}
