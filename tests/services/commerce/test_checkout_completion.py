"""A cart becomes an order once, with what it shows and for those whose it is."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select, update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.commerce.money import CURRENCY
from app.domain.commerce.sales import OrderStatus
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.channels import create_channel, delete_channel
from app.services.commerce.checkouts import (
    LineInput,
    add_checkout_lines,
    attach_checkout,
    create_checkout,
    show_checkout,
)
from app.services.commerce.orders import complete_checkout
from app.services.commerce.products import delete_product
from tests.builders.orders import EMAIL, checkout_id, make_cart
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_user
from tests.builders.products import make_product, product_id, reprice
from tests.services.error_codes import codes

KEEPER = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_PRODUCTS}))
CLERK = Actor(ActorKind.APP, app_id=2, permissions=frozenset({Permission.MANAGE_CHECKOUTS}))


def orders(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Order)) or 0


def test_order_has_the_carts_contents(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl, cup = make_product(ports, "Bowl", "12.50"), make_product(ports, "Cup", "5")
    cart = make_cart(ports, ann, bowl, cup, quantity=3)
    reprice(ports, bowl, "99")
    order = complete_checkout(ports, ann, checkout_id(cart))
    assert (order.status, order.is_paid) == (OrderStatus.UNCONFIRMED, False)
    assert (order.user_id, order.user_email) == (ann.user_id, "ann@example.com")
    assert order.total.amount == Decimal("52.50")
    assert [(line.product_name, line.quantity, line.total.units) for line in order.lines] == [
        ("Bowl", 3, 3750),
        ("Cup", 3, 1500),
    ]
    assert [(event.type, event.subject_id) for event in events(ports)][-1] == (
        "ORDER_CREATED",
        order.id,
    )


def test_completing_an_ordered_cart_returns_the_same_order(ports: Ports) -> None:
    cart = make_cart(ports)
    order = complete_checkout(ports, NOBODY, checkout_id(cart))
    before = len(events(ports))
    assert complete_checkout(ports, NOBODY, checkout_id(cart)) == order
    assert orders(ports) == 1
    assert len(events(ports)) == before
    assert show_checkout(ports, NOBODY, checkout_id(cart)) is None
    with pytest.raises(Refused) as excinfo:
        add_checkout_lines(ports, NOBODY, checkout_id(cart), [LineInput(product_id(1), 1)])
    assert codes(excinfo) == [("id", "NOT_FOUND")]
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    with pytest.raises(Refused):
        attach_checkout(ports, ann, checkout_id(cart))


@pytest.mark.both_databases
def test_concurrent_completions_create_one_order(ports: Ports, second_process: Ports) -> None:
    cart = make_cart(ports)
    together = Barrier(4, timeout=60)

    def order(place: int) -> int:
        together.wait()
        return complete_checkout((ports, second_process)[place % 2], NOBODY, checkout_id(cart)).id

    with ThreadPoolExecutor(4) as pool:
        made = set(pool.map(order, range(4)))
    assert len(made) == 1
    assert orders(ports) == 1
    assert [event.type for event in events(ports)].count("ORDER_CREATED") == 1


@pytest.mark.both_databases
def test_cart_problems_are_reported_at_once(ports: Ports) -> None:
    empty = create_checkout(ports, NOBODY)
    with pytest.raises(Refused) as excinfo:
        complete_checkout(ports, NOBODY, checkout_id(empty))
    assert codes(excinfo) == [("lines", "NO_LINES"), ("email", "EMAIL_NOT_SET")]
    gone, hidden, priceless = (make_product(ports, name) for name in ("Gone", "Hidden", "Free"))
    cart = make_cart(ports, NOBODY, gone, hidden, priceless)
    with ports.database.transaction() as session:
        session.execute(delete(models.Product).where(models.Product.id == gone))
        for key, values in ((hidden, {"is_published": False}), (priceless, {"price": -1})):
            session.execute(update(models.Product).where(models.Product.id == key).values(values))
    for actor in (NOBODY, KEEPER):
        with pytest.raises(Refused) as excinfo:
            complete_checkout(ports, actor, checkout_id(cart))
        assert codes(excinfo) == [("lines", "PRODUCT_UNAVAILABLE_FOR_PURCHASE")] * 3
        assert "Gone" in excinfo.value.problems[0].message
    assert orders(ports) == 0
    assert show_checkout(ports, NOBODY, checkout_id(cart)) is not None


def test_other_peoples_carts_cannot_be_ordered(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bob = actor_of(ports, make_user(ports, "bob@example.com"))
    cart = make_cart(ports, ann)
    for actor in (NOBODY, bob, KEEPER):
        with pytest.raises(Refused) as excinfo:
            complete_checkout(ports, actor, checkout_id(cart))
        assert codes(excinfo) == [("id", "NOT_FOUND")]
    order = complete_checkout(ports, CLERK, checkout_id(cart))
    assert order.user_id == ann.user_id
    for actor in (NOBODY, bob):
        with pytest.raises(Refused):
            complete_checkout(ports, actor, checkout_id(cart))


def test_order_is_kept_after_its_buyer_and_products_are_deleted(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl = make_product(ports, "Bowl")
    order = complete_checkout(ports, ann, checkout_id(make_cart(ports, ann, bowl)))
    delete_product(ports, KEEPER, product_id(bowl))
    with ports.database.transaction() as session:
        session.execute(delete(models.User))
    with ports.database.reading() as session:
        stored = session.get_one(models.Order, order.id)
        assert (stored.user_id, stored.user_email) == (None, "ann@example.com")
        assert session.scalar(select(func.count()).select_from(models.Checkout)) == 0


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as made:
        yield made


@pytest.mark.both_databases
def test_deleting_a_product_while_ordering_causes_no_error(
    ports: Ports, second_process: Ports, pool: ThreadPoolExecutor
) -> None:
    for number in range(8):
        bowl = make_product(ports, f"Bowl {number}")
        cart = make_cart(ports, NOBODY, bowl)
        ordering = pool.submit(complete_checkout, ports, NOBODY, checkout_id(cart))
        deleting = pool.submit(delete_product, second_process, KEEPER, product_id(bowl))
        assert deleting.result(180).id == bowl
        refusal = ordering.exception(180)
        if refusal is None:
            assert ordering.result(180).user_email == EMAIL
        else:
            assert isinstance(refusal, Refused)
            assert refusal.problems[0].code == "PRODUCT_UNAVAILABLE_FOR_PURCHASE"


@pytest.mark.both_databases
def test_deleting_the_buyer_while_ordering_causes_no_error(
    ports: Ports, second_process: Ports, pool: ThreadPoolExecutor
) -> None:
    bowl = make_product(ports, "Bowl")

    def delete_user(key: int | None) -> None:
        with second_process.database.transaction() as session:
            session.execute(delete(models.User).where(models.User.id == key))

    for number in range(8):
        ann = actor_of(ports, make_user(ports, f"ann{number}@example.com"))
        cart = make_cart(ports, ann, bowl)
        ordering = pool.submit(complete_checkout, ports, ann, checkout_id(cart))
        pool.submit(delete_user, ann.user_id).result(180)
        refusal = ordering.exception(180)
        assert refusal is None or (
            isinstance(refusal, Refused) and refusal.problems[0].field == "id"
        )
    with ports.database.reading() as session:
        owners = session.scalars(select(models.Order.user_id)).all()
    assert set(owners) <= {None}


@pytest.mark.both_databases
def test_no_order_stays_in_a_channel_that_is_deleted_while_ordering(
    ports: Ports, second_process: Ports, pool: ThreadPoolExecutor
) -> None:
    bowl = make_product(ports, "Bowl")
    create_channel(ports, OPERATOR, NewChannel("Rest", "rest", CURRENCY, "DE"))

    def delete(channel: str) -> None:
        with suppress(Refused):  # it has an order already
            delete_channel(second_process, OPERATOR, channel)

    for number in range(12):
        new = NewChannel("Gone", f"gone-{number}", CURRENCY, "DE", is_active=True)
        channel = create_channel(ports, OPERATOR, new)
        lines = [LineInput(product_id(bowl), 1)]
        cart = create_checkout(ports, NOBODY, lines, EMAIL, channel.slug)
        ordering = pool.submit(complete_checkout, ports, NOBODY, checkout_id(cart))
        pool.submit(delete, to_global_id("Channel", channel.id)).result(60)
        refusal = ordering.exception(60)
        assert refusal is None or isinstance(refusal, Refused), refusal
    with ports.database.reading() as session:
        existing = select(models.Channel.id)
        lost = select(models.Order.id).where(models.Order.channel_id.not_in(existing))
        assert session.scalars(lost).all() == []
