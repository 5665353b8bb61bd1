"""What goes into a cart: how many of what, at which price, and what comes out again."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import delete, func, select, update

from app import models
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.commerce.sales import MAX_LINES, MAX_QUANTITY
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.checkouts import (
    LineInput,
    add_checkout_lines,
    create_checkout,
    delete_checkout_lines,
    update_checkout_email,
    update_checkout_lines,
)
from tests.builders.orders import checkout_id, contents, line_id, make_cart
from tests.builders.outbox import events
from tests.builders.people import NOBODY
from tests.builders.products import make_product, product_id, reprice
from tests.fakes.clock import FakeClock
from tests.services.error_codes import codes

STOREKEEPER = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)


def test_excessive_quantity_is_refused(ports: Ports) -> None:
    cart, product = checkout_id(make_cart(ports)), product_id(make_product(ports))
    for quantity, code in (
        (0, "ZERO_QUANTITY"),
        (-1, "ZERO_QUANTITY"),
        (MAX_QUANTITY + 1, "QUANTITY_GREATER_THAN_LIMIT"),
        (2**31 - 1, "QUANTITY_GREATER_THAN_LIMIT"),
    ):
        lines = [LineInput(product, quantity)]
        attempts: list[Callable[[], object]] = [
            partial(create_checkout, ports, NOBODY, lines),
            partial(add_checkout_lines, ports, NOBODY, cart, lines),
        ]
        if quantity:
            attempts.append(partial(update_checkout_lines, ports, NOBODY, cart, lines))
        for attempt in attempts:
            with pytest.raises(Refused) as excinfo:
                attempt()
            assert codes(excinfo) == [("quantity", code)], quantity


def test_unavailable_product_cannot_be_added(ports: Ports) -> None:
    hidden = product_id(make_product(ports, "Hidden", is_published=False))
    priceless = product_id(make_product(ports, "Priceless", None))
    cart = make_cart(ports)
    before = len(events(ports))
    for id_, actor, code in (
        (hidden, NOBODY, "NOT_FOUND"),
        (hidden, STOREKEEPER, "PRODUCT_NOT_PUBLISHED"),
        (priceless, NOBODY, "PRODUCT_UNAVAILABLE_FOR_PURCHASE"),
        (product_id(4711), NOBODY, "NOT_FOUND"),
        (to_global_id("User", 1), NOBODY, "NOT_FOUND"),
        ("nonsense", NOBODY, "NOT_FOUND"),
    ):
        with pytest.raises(Refused) as excinfo:
            create_checkout(ports, actor, [LineInput(id_, 1)])
        assert codes(excinfo) == [("productId", code)]
        with pytest.raises(Refused) as excinfo:
            add_checkout_lines(ports, actor, checkout_id(cart), [LineInput(id_, 1)])
        assert codes(excinfo) == [("productId", code)]
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Checkout)) == 1
    assert len(events(ports)) == before


def test_product_added_twice_is_merged_at_the_current_price(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl", "12.50"), make_product(ports, "Cup", "5")
    cart = make_cart(ports, NOBODY, bowl, quantity=2)
    reprice(ports, bowl, "10")
    reprice(ports, cup, "4")
    lines = [
        LineInput(product_id(bowl), 1),
        LineInput(product_id(cup), 1),
        LineInput(product_id(cup), 2),
    ]
    after = add_checkout_lines(ports, NOBODY, checkout_id(cart), lines)
    assert contents(after) == [("Bowl", 3, Decimal("10.00")), ("Cup", 3, Decimal("4.00"))]
    full = [LineInput(product_id(bowl), MAX_QUANTITY - 2)]
    with pytest.raises(Refused) as excinfo:
        add_checkout_lines(ports, NOBODY, checkout_id(cart), full)
    assert codes(excinfo) == [("quantity", "QUANTITY_GREATER_THAN_LIMIT")]


def test_price_stays_until_the_line_changes(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl", "12.50"), make_product(ports, "Cup", "5")
    cart = make_cart(ports, NOBODY, bowl)
    reprice(ports, bowl, "99")
    after = add_checkout_lines(ports, NOBODY, checkout_id(cart), [LineInput(product_id(cup), 1)])
    assert contents(after)[0] == ("Bowl", 1, Decimal("12.50"))
    after = update_checkout_lines(
        ports, NOBODY, checkout_id(cart), [LineInput(product_id(bowl), 1)]
    )
    assert contents(after)[0] == ("Bowl", 1, Decimal("99.00"))


def test_update_sets_the_quantity(ports: Ports, clock: FakeClock) -> None:
    bowl, cup, jug = (make_product(ports, name) for name in ("Bowl", "Cup", "Jug"))
    cart = make_cart(ports, NOBODY, bowl, cup, quantity=5)
    clock.pass_(seconds=9)
    lines = [LineInput(product_id(key), n) for key, n in ((bowl, 2), (cup, 0), (jug, 1))]
    after = update_checkout_lines(ports, NOBODY, checkout_id(cart), lines)
    assert [(name, quantity) for name, quantity, _ in contents(after)] == [("Bowl", 2), ("Jug", 1)]
    assert after.updated_at == clock.now()
    twice = [LineInput(product_id(bowl), 1), LineInput(product_id(bowl), 2)]
    with pytest.raises(Refused) as excinfo:
        update_checkout_lines(ports, NOBODY, checkout_id(cart), twice)
    assert codes(excinfo) == [("lines", "DUPLICATED_INPUT_ITEM")]
    absent = [LineInput(product_id(cup), 0)]
    assert update_checkout_lines(ports, NOBODY, checkout_id(cart), absent).quantity == 3


def test_number_of_cart_lines_is_limited(ports: Ports) -> None:
    keys = [make_product(ports, f"Bowl {number}") for number in range(MAX_LINES + 1)]
    with pytest.raises(Refused) as excinfo:
        create_checkout(ports, NOBODY, [LineInput(product_id(key), 1) for key in keys])
    assert codes(excinfo) == [("lines", "INVALID")]
    cart = create_checkout(ports, NOBODY, [LineInput(product_id(key), 1) for key in keys[1:]])
    assert len(cart.lines) == MAX_LINES
    with pytest.raises(Refused) as excinfo:
        add_checkout_lines(ports, NOBODY, checkout_id(cart), [LineInput(product_id(keys[0]), 1)])
    assert codes(excinfo) == [("lines", "INVALID")]
    swap = [LineInput(product_id(keys[1]), 0), LineInput(product_id(keys[0]), 1)]
    assert len(update_checkout_lines(ports, NOBODY, checkout_id(cart), swap).lines) == MAX_LINES


def test_lines_are_removed_by_id(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl"), make_product(ports, "Cup")
    cart, other = make_cart(ports, NOBODY, bowl, cup), make_cart(ports, NOBODY, bowl)
    for ids in ([line_id(cart), line_id(other)], ["nonsense"], [to_global_id("CheckoutLine", 99)]):
        with pytest.raises(Refused) as excinfo:
            delete_checkout_lines(ports, NOBODY, checkout_id(cart), ids)
        assert codes(excinfo) == [("linesIds", "NOT_FOUND")]
    for ids, code in (([], "REQUIRED"), ([line_id(cart)] * 101, "INVALID")):
        with pytest.raises(Refused) as excinfo:
            delete_checkout_lines(ports, NOBODY, checkout_id(cart), ids)
        assert codes(excinfo) == [("linesIds", code)]
    twice = [line_id(cart), line_id(cart)]
    after = delete_checkout_lines(ports, NOBODY, checkout_id(cart), twice)
    assert [name for name, *_ in contents(after)] == ["Cup"]
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.CheckoutLine)) == 2


def test_cart_line_is_kept_after_its_product_is_deleted(ports: Ports) -> None:
    bowl, cup = make_product(ports, "Bowl"), make_product(ports, "Cup")
    cart = make_cart(ports, NOBODY, bowl, cup)
    with ports.database.transaction() as session:
        session.execute(delete(models.Product).where(models.Product.id == bowl))
        session.execute(
            update(models.Product).where(models.Product.id == cup).values(is_published=False)
        )
    after = update_checkout_email(ports, NOBODY, checkout_id(cart), "x@example.com")
    assert [(line.product_name, line.product) for line in after.lines] == [
        ("Bowl", None),
        ("Cup", None),
    ]
    after = update_checkout_email(ports, STOREKEEPER, checkout_id(cart), "y@example.com")
    shown = [line.product for line in after.lines]
    assert shown[0] is None
    assert shown[1] is not None
    left = delete_checkout_lines(ports, NOBODY, checkout_id(cart), [line_id(after)])
    assert [name for name, *_ in contents(left)] == ["Cup"]
