"""What the objects of deliveries are called."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.channels import all_channels, create_channel
from app.services.commerce.products import delete_product
from app.services.deliveries.details import ObjectName, name_objects
from app.services.deliveries.lists import DeliveryLine
from app.services.people.customers import delete_customer
from tests.builders.apps import make_app
from tests.builders.orders import EMAIL, make_cart, make_order
from tests.builders.people import actor_of, make_group, make_user
from tests.builders.products import make_product
from tests.console.test_deliveries_page import WAITING
from tests.fixtures.statements import recorded_statements, selects


def about(event: EventType, kind: str, key: int | str) -> DeliveryLine:
    return replace(WAITING, event=event, object_id=to_global_id(kind, key))


def test_objects_have_their_names(ports: Ports) -> None:
    product = about(EventType.PRODUCT_UPDATED, "Product", make_product(ports, "Bowl"))
    user = about(EventType.CUSTOMER_UPDATED, "User", make_user(ports, "mia@example.com"))
    app = about(EventType.APP_UPDATED, "App", make_app(ports, "Labels")[0])
    group = about(EventType.PERMISSION_GROUP_UPDATED, "Group", make_group(ports, "Support"))
    order = about(EventType.ORDER_PAID, "Order", 1988)
    gone = about(EventType.PRODUCT_DELETED, "Product", 999)
    cart = about(EventType.CHECKOUT_UPDATED, "Checkout", "3f2504e0-4f89-11d3-9a0c-0305e82c3301")
    lines = (product, user, app, group, order, gone, cart, replace(cart, object_id=""))
    assert name_objects(ports, OPERATOR, lines) == {
        product.object_id: ObjectName("Bowl"),
        user.object_id: ObjectName("mia@example.com"),
        app.object_id: ObjectName("Labels"),
        group.object_id: ObjectName("Support"),
        order.object_id: ObjectName("1988"),
    }
    assert name_objects(ports, OPERATOR, ()) == {}


def test_names_need_the_permission_of_the_event(ports: Ports) -> None:
    product = about(EventType.PRODUCT_UPDATED, "Product", make_product(ports, "Bowl"))
    user = about(EventType.CUSTOMER_UPDATED, "User", make_user(ports, "mia@example.com"))
    held = frozenset({Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS})
    person = Actor(ActorKind.USER, user_id=1, is_staff=True, permissions=held)
    assert name_objects(ports, person, (product, user)) == {product.object_id: ObjectName("Bowl")}


@pytest.mark.both_databases
def test_orders_and_carts_of_other_channels_have_no_names(ports: Ports) -> None:
    [default] = all_channels(ports)
    poland = create_channel(ports, OPERATOR, NewChannel("Poland", "poland", "PLN", "PL"))
    order, cart = make_order(ports), make_cart(ports)
    lines = (
        about(EventType.ORDER_PAID, "Order", order.id),
        about(EventType.CHECKOUT_UPDATED, "Checkout", cart.token),
    )
    held = frozenset(
        {Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_CHECKOUTS}
    )
    person = Actor(ActorKind.USER, user_id=1, is_staff=True, permissions=held)
    here = replace(person, channel_ids=frozenset({default.id}))
    there = replace(person, channel_ids=frozenset({poland.id}))
    shown = name_objects(ports, person, lines)
    assert [shown[line.object_id].name for line in lines] == [str(order.number), EMAIL]
    assert name_objects(ports, here, lines) == shown
    assert name_objects(ports, there, lines) == {}


@pytest.mark.both_databases
def test_deleted_objects_keep_their_last_names(ports: Ports) -> None:
    product = make_product(ports, "Bowl")
    customer = make_user(ports, "mia@example.com")
    delete_product(ports, OPERATOR, to_global_id("Product", product))
    delete_customer(ports, OPERATOR, to_global_id("User", customer))
    lines = (
        about(EventType.PRODUCT_UPDATED, "Product", product),
        about(EventType.CUSTOMER_DELETED, "User", customer),
    )
    with recorded_statements() as statements:
        names = name_objects(ports, OPERATOR, lines)
    assert len(selects(statements)) == 1
    assert [names[line.object_id] for line in lines] == [
        ObjectName("Bowl", is_deleted=True),
        ObjectName("mia@example.com", is_deleted=True),
    ]


def test_carts_are_named_by_their_customers(ports: Ports) -> None:
    guest = make_cart(ports)
    owned = make_cart(ports, actor_of(ports, make_user(ports, "mia@example.com")))
    lines = [about(EventType.CHECKOUT_UPDATED, "Checkout", cart.token) for cart in (guest, owned)]
    names = name_objects(ports, OPERATOR, lines)
    assert [names[line.object_id].name for line in lines] == [EMAIL, "mia@example.com"]
