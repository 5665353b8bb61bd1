"""The demo shop's orders, in every state that an order can have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.commerce.sales import OrderStatus
from app.domain.values.ids import to_global_id
from app.models import CheckoutRecord, OrderRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.commerce.cart_lines import LineInput
from app.services.commerce.checkout_completion import complete_checkout
from app.services.commerce.checkouts import create_checkout
from app.services.commerce.orders import (
    cancel_order,
    confirm_order,
    fulfill_order,
    mark_order_paid,
)
from app.services.demo.people import CUSTOMERS, MANAGER, SUPPORT, customer
from app.services.demo.products import PUBLISHED, goods_on_sale
from app.services.demo.timeline import Happening, Past

_COUNT = 52
_EVERY_CART_LEFT = 6
_EVERY_CANCELLED = 9
_LAGS = {"order": 0.2, "pay": 0.4, "confirm": 3.0, "cancel": 7.0, "fulfill": 26.0}
"""Hours from the cart to each step, which has not come yet where they are not over."""


@dataclass(frozen=True, slots=True)
class Sale:
    """A cart and the steps taken with it; ``turn`` counts those of one customer from 0."""

    email: str
    turn: int
    hours_ago: float
    goods: Mapping[str, int]
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _State:
    """How far a sale has come; no ``order_id`` while it is a cart."""

    token: str
    order_id: int | None
    status: str | None
    is_paid: bool | None


def _sales() -> Iterator[Sale]:
    turns: dict[str, int] = {}
    for place in reversed(range(_COUNT)):
        # Ten in the last day, fewer a day the longer ago.
        hours_ago = 0.6 + 0.27 * place**2
        joined = [person for person in CUSTOMERS if person.joined > hours_ago + 1]
        email = joined[place * 7 % len(joined)].email
        turns[email] = turns.get(email, -1) + 1
        goods = {
            PUBLISHED[(place * 5 + more * 8) % len(PUBLISHED)].slug: 1 + (place + more) % 4
            for more in range(1 + place % 3)
        }
        yield Sale(email, turns[email], hours_ago, goods, _steps(place))


def _steps(place: int) -> tuple[str, ...]:
    if place % _EVERY_CART_LEFT == _EVERY_CART_LEFT - 1:
        return ()
    if place % _EVERY_CANCELLED == _EVERY_CANCELLED - 1:
        return ("order", "cancel")
    # Some pay later than the shop takes them on, or have not yet.
    return ("order", "confirm") if place % 7 == 2 else ("order", "pay", "confirm", "fulfill")  # noqa: PLR2004


SALES = tuple(_sales())


@part
def sales() -> Iterator[Happening]:
    """People fill carts and order, and the staff does its part."""
    for sale in SALES:
        yield Happening(sale.hours_ago, partial(_fill_cart, sale))
        for step in sale.steps:
            hours_ago = sale.hours_ago - _LAGS[step]
            if hours_ago > 0:
                yield Happening(hours_ago, partial(_take, sale, step))


def _fill_cart(sale: Sale, past: Past) -> None:
    buyer, products = customer(past, sale.email), goods_on_sale(past)
    lines = [
        LineInput(to_global_id("Product", products[slug]), quantity)
        for slug, quantity in sale.goods.items()
        if slug in products
    ]
    if buyer is not None and lines and _state(past, buyer, sale) is None:
        create_checkout(past.at(sale.hours_ago), buyer, lines)


def _take(sale: Sale, step: str, past: Past) -> None:
    """Take one step, if the sale has come to it and not past it."""
    buyer = customer(past, sale.email)
    state = None if buyer is None else _state(past, buyer, sale)
    if buyer is None or state is None:
        return
    ports = past.at(sale.hours_ago - _LAGS[step])
    if step == "order":
        if state.order_id is None:
            complete_checkout(ports, buyer, to_global_id("Checkout", state.token))
    elif state.order_id is not None:
        _work_on(ports, past, step, state.order_id, state)


def _work_on(ports: Ports, past: Past, step: str, key: int, state: _State) -> None:
    """Take the staff's steps, each in the state that it is for."""
    order_id = to_global_id("Order", key)
    if step == "confirm" and state.status == OrderStatus.UNCONFIRMED:
        confirm_order(ports, past.staff(SUPPORT), order_id)
    elif step == "pay" and not state.is_paid:
        mark_order_paid(ports, past.staff(MANAGER), order_id)
    elif step == "fulfill" and state.status == OrderStatus.UNFULFILLED:
        fulfill_order(ports, past.staff(SUPPORT), order_id)
    elif step == "cancel" and state.status == OrderStatus.UNCONFIRMED:
        cancel_order(ports, past.staff(SUPPORT), order_id)


def _state(past: Past, buyer: Actor, sale: Sale) -> _State | None:
    """How far a sale has come; ``None`` before its cart. A person's carts keep their order."""
    query = (
        select(CheckoutRecord.token, OrderRecord.id, OrderRecord.status, OrderRecord.is_paid)
        .outerjoin(OrderRecord, OrderRecord.checkout_id == CheckoutRecord.id)
        .where(CheckoutRecord.user_id == buyer.user_id)
        .order_by(CheckoutRecord.id)
        .offset(sale.turn)
        .limit(1)
    )
    with past.ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    return None if row is None else _State(*row)
