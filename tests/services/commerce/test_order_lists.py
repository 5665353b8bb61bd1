"""Carts and orders are seen by those whose they are and by those who manage them."""

from datetime import timedelta
from itertools import product

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.sales import OrderSortField, OrderStatus, PaymentStatus
from app.domain.values.errors import PermissionDenied, Refused, TokenFault, TokenRejected
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest, moment_range, read_cursor
from app.ports import Ports
from app.services.commerce.checkouts import checkouts_of_users, show_checkout
from app.services.commerce.orders import (
    ALL_ORDERS,
    OrderFilter,
    buyers_of_orders,
    complete_checkout,
    lines_of_orders,
    list_orders,
    orders_of_users,
    show_order,
)
from tests.builders.orders import EMAIL, checkout_id, make_cart, make_order, order_id
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.builders.products import make_product
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

EVERYTHING = PageRequest(100)
MANAGER = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_ORDERS}))
CLERK = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_CHECKOUTS}))


@pytest.fixture
def ann(ports: Ports) -> Actor:
    return actor_of(ports, make_user(ports, "ann@example.com"))


@pytest.fixture
def bob(ports: Ports) -> Actor:
    return actor_of(ports, make_user(ports, "bob@example.com"))


def key(actor: Actor) -> int:
    assert actor.user_id is not None
    return actor.user_id


def emails(ports: Ports, filter_: OrderFilter = ALL_ORDERS) -> list[str]:
    return [order.user_email for order in list_orders(ports, MANAGER, EVERYTHING, filter_).items]


def test_carts_are_visible_to_owners_and_checkout_managers(
    ports: Ports, ann: Actor, bob: Actor
) -> None:
    first, second = make_cart(ports, ann), make_cart(ports, ann)
    ordered = make_cart(ports, ann)
    complete_checkout(ports, ann, checkout_id(ordered))
    make_cart(ports, bob)
    make_cart(ports)
    for actor in (ann, CLERK, OPERATOR):
        page = checkouts_of_users(ports, actor, [key(ann)], EVERYTHING)[key(ann)]
        assert [cart.id for cart in page.items] == [second.id, first.id]
        assert [len(cart.lines) for cart in page.items] == [1, 1]
        assert page.count() == 2
    for stranger in (bob, anonymous(), MANAGER):
        with pytest.raises(PermissionDenied):
            checkouts_of_users(ports, stranger, [key(ann)], EVERYTHING)


def test_cart_is_visible_to_its_owner_or_by_its_token(
    ports: Ports, ann: Actor, bob: Actor
) -> None:
    own, free = make_cart(ports, ann), make_cart(ports)
    assert show_checkout(ports, ann, checkout_id(own)) == own
    assert show_checkout(ports, CLERK, checkout_id(own)) == own
    for actor in (ann, bob, NOBODY):
        assert show_checkout(ports, actor, checkout_id(free)) == free
    for actor in (bob, NOBODY):
        assert show_checkout(ports, actor, checkout_id(own)) is None
    for id_ in ("", "nonsense", to_global_id("Checkout", free.id), to_global_id("Checkout", "\0")):
        assert show_checkout(ports, CLERK, id_) is None


def test_orders_are_visible_to_buyers_and_order_managers(
    ports: Ports, ann: Actor, bob: Actor
) -> None:
    first, second, of_bob, of_nobody = (make_order(ports, who) for who in (ann, ann, bob, NOBODY))
    for actor in (ann, MANAGER):
        page = orders_of_users(ports, actor, [key(ann)], EVERYTHING)[key(ann)]
        assert [order.id for order in page.items] == [second.id, first.id]
        lines = lines_of_orders(ports, actor, [first.id, second.id, of_bob.id])
        assert lines[second.id] == second.lines
        assert lines.keys() == {first.id, second.id} | ({of_bob.id} if actor is MANAGER else set())
        assert show_order(ports, actor, order_id(first)) is not None
    everything = list_orders(ports, MANAGER, EVERYTHING)
    assert [order.id for order in everything.items] == [
        of_nobody.id,
        of_bob.id,
        second.id,
        first.id,
    ]
    for hidden in (of_bob, of_nobody):
        assert show_order(ports, ann, order_id(hidden)) is None
    assert show_order(ports, ann, order_id(4711)) is None
    with pytest.raises(PermissionDenied) as denied:
        orders_of_users(ports, bob, [key(ann)], EVERYTHING)
    assert denied.value.required == (Permission.MANAGE_ORDERS,)


def test_anonymous_callers_see_no_order(ports: Ports, ann: Actor) -> None:
    order = make_order(ports, ann)
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS - {Permission.MANAGE_ORDERS})
    for actor in (anonymous(), app):
        with pytest.raises(PermissionDenied) as denied:
            show_order(ports, actor, order_id(order))
        assert denied.value.required == ("AUTHENTICATED_USER", "MANAGE_ORDERS")
        with pytest.raises(PermissionDenied):
            list_orders(ports, actor, EVERYTHING)
    with pytest.raises(PermissionDenied):
        list_orders(ports, ann, EVERYTHING)
    with pytest.raises(TokenRejected):
        show_order(ports, anonymous(fault=TokenFault.INVALID), order_id(order))


def test_orders_buyer_is_shown_to_managers_of_such_users(ports: Ports, ann: Actor) -> None:
    staff = actor_of(ports, make_staff(ports, "staff@example.com"))
    orders = [make_order(ports, who) for who in (ann, staff, NOBODY)]
    keys = {key(ann), key(staff)}
    manager, hirer, himself = (
        {user.email for user in buyers_of_orders(ports, actor, keys).values()}
        for actor in (MANAGER, OPERATOR, ann)
    )
    assert manager == himself == {"ann@example.com"}
    assert hirer == {"ann@example.com", "staff@example.com"}
    shown = [show_order(ports, MANAGER, order_id(order)) for order in orders]
    assert [order and order.user and order.user.email for order in shown] == [
        "ann@example.com",
        None,
        None,
    ]
    for stranger in (anonymous(), CLERK):
        with pytest.raises(PermissionDenied):
            buyers_of_orders(ports, stranger, keys)
        with pytest.raises(PermissionDenied):
            lines_of_orders(ports, stranger, [order.id for order in orders])


SEARCHES = (
    (ALL_ORDERS, "nn bob ann"),
    (OrderFilter(customer="AN"), "ann"),
    (OrderFilter(customer="%"), ""),
    (OrderFilter(customer="\0"), ""),
    (OrderFilter(customer="a" * 100_000), ""),
    (OrderFilter(search="bob@"), "bob"),
    (OrderFilter(search="4711"), ""),
    (OrderFilter(search="9" * 30), ""),
    (OrderFilter(statuses=()), ""),
    (OrderFilter(statuses=(OrderStatus.UNCONFIRMED,)), "nn ann"),
    (OrderFilter(statuses=(OrderStatus.UNCONFIRMED, OrderStatus.FULFILLED)), "nn bob ann"),
    (OrderFilter(payments=(PaymentStatus.FULLY_CHARGED,)), "bob"),
    (OrderFilter(payments=(PaymentStatus.NOT_CHARGED,), statuses=(OrderStatus.FULFILLED,)), ""),
    (OrderFilter(payments=tuple(PaymentStatus)), "nn bob ann"),
    (OrderFilter(payments=()), ""),
    (OrderFilter(ids=()), ""),
)
"""What is searched for, and whose orders are found."""


def test_orders_are_searched_by_their_fields(ports: Ports, ann: Actor, bob: Actor) -> None:
    make_order(ports, ann)
    make_order(ports, bob, status=OrderStatus.FULFILLED, is_paid=True)
    make_order(ports)
    short = {EMAIL: "nn", "ann@example.com": "ann", "bob@example.com": "bob"}
    for filter_, found in SEARCHES:
        assert " ".join(short[email] for email in emails(ports, filter_)) == found, filter_


def test_orders_are_found_by_number_by_id_and_by_time(
    ports: Ports, ann: Actor, bob: Actor, clock: FakeClock
) -> None:
    early = clock.now()
    first = make_order(ports, ann)
    clock.pass_(seconds=60)
    make_order(ports, bob)
    since = moment_range(early + timedelta(seconds=1), None)
    assert emails(ports, OrderFilter(search=first.number)) == ["ann@example.com"]
    assert emails(ports, OrderFilter(ids=(order_id(first),))) == ["ann@example.com"]
    assert emails(ports, OrderFilter(created_at=since)) == ["bob@example.com"]
    assert emails(ports, OrderFilter(updated_at=moment_range(None, early))) == ["ann@example.com"]
    with pytest.raises(Refused) as refused:
        emails(ports, OrderFilter(ids=(to_global_id("User", 1),)))
    assert refused.value.problems[0].field == "ids"
    with pytest.raises(Refused):
        show_order(ports, MANAGER, "nonsense")


@pytest.mark.both_databases
def test_pages_go_through_all_orders(ports: Ports, clock: FakeClock) -> None:
    made = []
    for _ in range(3):
        made.append(make_order(ports).id)
        clock.pass_(seconds=1)
    for sort_by, descending in product(OrderSortField, (False, True)):
        found: list[int] = []
        cursor: tuple[str | int, ...] = ()
        while True:
            request = PageRequest(1, cursor=cursor)
            page = list_orders(ports, MANAGER, request, sort_by=sort_by, descending=descending)
            found += [order.id for order in page.items]
            if not page.has_next:
                break
            cursor = read_cursor(page.cursors[-1], "after")
        assert found == (made[::-1] if descending else made), sort_by


def test_page_of_orders_costs_one_statement_and_one_for_lines_or_buyers(
    ports: Ports, ann: Actor, bob: Actor
) -> None:
    products = [make_product(ports, f"Bowl {number}") for number in range(3)]
    for number in range(5):
        make_order(ports, (ann, bob)[number % 2], *products)
    page = PageRequest(4)
    with recorded_statements() as statements:
        orders = list_orders(ports, MANAGER, page)
    assert len(orders.items) == 4
    assert len(selects(statements)) == 1
    ids = [order.id for order in orders.items]
    for actor, count in ((MANAGER, 4), (ann, 2)):
        with recorded_statements() as statements:
            lines = lines_of_orders(ports, actor, ids)
        assert [len(of_one) for of_one in lines.values()] == [3] * count
        assert len(selects(statements)) == 1
    with recorded_statements() as statements:
        assert len(buyers_of_orders(ports, MANAGER, {key(ann), key(bob)})) == 2
        assert buyers_of_orders(ports, MANAGER, ()) == {}
    assert len(selects(statements)) == 1


def test_page_of_carts_costs_two_statements(ports: Ports, ann: Actor) -> None:
    products = [make_product(ports, f"Bowl {number}") for number in range(3)]
    for _ in range(5):
        make_cart(ports, ann, *products)
    page = PageRequest(4)
    with recorded_statements() as statements:
        carts = checkouts_of_users(ports, ann, [key(ann)], page)[key(ann)]
    assert sum(len(cart.lines) for cart in carts.items) == 12
    assert len(selects(statements)) == 2
