"""Sales: checkouts, which are carts of products, and the orders that they become."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.money import Money, total
from app.domain.commerce.products import Line, Product, sees_unpublished
from app.domain.values.errors import Problem, Refused

MAX_LINES = 100
MAX_QUANTITY = 1000
"""Of one product in one cart."""

CHECKOUT_TOKEN_LENGTH = 32
"""Letters and digits: 190 random bits."""

CHECKOUT_RETENTION = timedelta(days=90)
"""How long a cart is kept after its last change."""


@dataclass(frozen=True, slots=True)
class CheckoutLine(Line):
    """A line with the name and price of the moment it was added."""

    @property
    def is_available(self) -> bool:
        """Whether the product can still be bought."""
        return self.product is not None and self.product.is_available


@dataclass(frozen=True, slots=True)
class Checkout:
    """A cart; ``user_id`` is its owner's, ``None`` for an anonymous one, opened by ``token``."""

    id: int
    token: str
    user_id: int | None
    channel_id: int
    email: str
    lines: tuple[CheckoutLine, ...]
    created_at: datetime
    updated_at: datetime

    @property
    def total(self) -> Money:
        return total(line.total for line in self.lines)

    @property
    def quantity(self) -> int:
        return sum(line.quantity for line in self.lines)


def manages_checkouts(actor: Actor) -> bool:
    """Whether ``actor`` gets to see, and to change, the carts of others."""
    return actor.holds(Permission.MANAGE_CHECKOUTS) or actor.holds(Permission.HANDLE_CHECKOUTS)


def may_open(actor: Actor, owner_id: int | None, channel_id: int) -> bool:
    """Whether ``actor`` with the cart's token can use it: their own, or an anonymous one.

    With permission also other people's, in the channels that ``actor`` has access to.
    """
    if owner_id is None or owner_id == actor.user_id:
        return True
    return manages_checkouts(actor) and actor.reaches_channel(channel_id)


def product_problem(product: Product | None, actor: Actor) -> Problem | None:
    """Return why ``product`` can't be added to a cart, or ``None``.

    Doesn't reveal products that the caller can't see.
    """
    if product is None or not (product.is_published or sees_unpublished(actor)):
        return Problem("NOT_FOUND", "There is no such product.", "productId")
    values = {"name": repr(product.name)}
    if not product.is_published:
        message = "{name} is not published."
        return Problem("PRODUCT_NOT_PUBLISHED", message, "productId", values=values)
    if product.price is None:
        message = "{name} has no price yet."
        return Problem("PRODUCT_UNAVAILABLE_FOR_PURCHASE", message, "productId", values=values)
    return None


def quantity_problem(quantity: int, *, minimum: int = 1) -> Problem | None:
    """Return why a cart cannot hold ``quantity`` of a product, or ``None``."""
    if quantity < minimum:
        message, values = "Ask for at least {minimum}.", {"minimum": minimum}
        return Problem("ZERO_QUANTITY", message, "quantity", values=values)
    if quantity > MAX_QUANTITY:
        message = "A cart can hold at most {max_quantity} of a product."
        values = {"max_quantity": MAX_QUANTITY}
        return Problem("QUANTITY_GREATER_THAN_LIMIT", message, "quantity", values=values)
    return None


def size_problem(lines: int, field: str = "lines") -> Problem | None:
    """Return why a cart cannot have so many ``lines``, or ``None``."""
    if lines <= MAX_LINES:
        return None
    message = "A cart can hold at most {max_lines} products."
    return Problem("INVALID", message, field, values={"max_lines": MAX_LINES})


def lines_problem(lines: int, field: str = "lines") -> Problem | None:
    """Return why so many ``lines`` cannot be changed at once, or ``None``."""
    if not lines:
        return Problem("REQUIRED", "Name at least one.", field)
    return size_problem(lines, field)


def completion_problems(lines: Sequence[CheckoutLine], email: str) -> list[Problem]:
    """Return the problems that prevent ordering a cart with these lines."""
    problems = []
    if not lines:
        problems.append(Problem("NO_LINES", "There is nothing in it.", "lines"))
    problems += [
        Problem(
            "PRODUCT_UNAVAILABLE_FOR_PURCHASE",
            "{product_name} is no longer available. Remove it from the cart.",
            "lines",
            values={"product_name": repr(line.product_name)},
        )
        for line in lines
        if not line.is_available
    ]
    if not email:
        message = "Enter an email first."
        problems.append(Problem("EMAIL_NOT_SET", message, "email"))
    return problems


class OrderStatus(StrEnum):
    """A new order is ``UNCONFIRMED``; ``FULFILLED`` and ``CANCELED`` are its ends."""

    UNCONFIRMED = "UNCONFIRMED"
    UNFULFILLED = "UNFULFILLED"
    FULFILLED = "FULFILLED"
    CANCELED = "CANCELED"


class OrderStep(StrEnum):
    """The steps that staff take with an order."""

    CONFIRM = "confirm"
    FULFILL = "fulfill"
    CANCEL = "cancel"
    PAY = "pay"


class PaymentStatus(StrEnum):
    """Whether an order has been paid."""

    NOT_CHARGED = "NOT_CHARGED"
    FULLY_CHARGED = "FULLY_CHARGED"


class OrderSortField(StrEnum):
    """The sort orders of orders."""

    NUMBER = "NUMBER"
    CREATED_AT = "CREATED_AT"
    LAST_MODIFIED_AT = "LAST_MODIFIED_AT"


@dataclass(frozen=True, slots=True)
class OrderLine(Line):
    """A line with the name and price of the moment it was ordered."""

    is_fulfilled: bool

    @property
    def quantity_fulfilled(self) -> int:
        """How many were sent: orders are sent as a whole."""
        return self.quantity if self.is_fulfilled else 0

    @property
    def quantity_to_fulfill(self) -> int:
        return self.quantity - self.quantity_fulfilled


@dataclass(frozen=True, slots=True)
class OrderSummary:
    """An order without its lines. ``user_email`` stays when the account is deleted."""

    id: int
    status: OrderStatus
    is_paid: bool
    user_id: int | None
    channel_id: int
    user_email: str
    total: Money
    created_at: datetime
    updated_at: datetime

    @property
    def number(self) -> str:
        return str(self.id)

    @property
    def payment_status(self) -> PaymentStatus:
        return PaymentStatus.FULLY_CHARGED if self.is_paid else PaymentStatus.NOT_CHARGED


@dataclass(frozen=True, slots=True)
class Order(OrderSummary):
    """An order with its lines; ``user`` is the buyer, ``None`` for whom the caller can't see."""

    lines: tuple[OrderLine, ...]
    user: User | None


_AFTER: Mapping[tuple[OrderStatus, OrderStep], OrderStatus] = MappingProxyType(
    {
        (OrderStatus.UNCONFIRMED, OrderStep.CONFIRM): OrderStatus.UNFULFILLED,
        (OrderStatus.UNCONFIRMED, OrderStep.CANCEL): OrderStatus.CANCELED,
        (OrderStatus.UNFULFILLED, OrderStep.FULFILL): OrderStatus.FULFILLED,
        (OrderStatus.UNFULFILLED, OrderStep.CANCEL): OrderStatus.CANCELED,
        (OrderStatus.UNCONFIRMED, OrderStep.PAY): OrderStatus.UNCONFIRMED,
        (OrderStatus.UNFULFILLED, OrderStep.PAY): OrderStatus.UNFULFILLED,
        (OrderStatus.FULFILLED, OrderStep.PAY): OrderStatus.FULFILLED,
    }
)
"""Every step that there is; stock and refunds are none of an order's business here."""

_CODES = {
    OrderStep.CONFIRM: "INVALID",
    OrderStep.FULFILL: "INVALID",
    OrderStep.CANCEL: "CANNOT_CANCEL_ORDER",
    OrderStep.PAY: "PAYMENT_ERROR",
}
_DONE = {
    OrderStep.CONFIRM: "confirmed",
    OrderStep.FULFILL: "fulfilled",
    OrderStep.CANCEL: "canceled",
    OrderStep.PAY: "marked as paid",
}


def take_step(
    status: OrderStatus, step: OrderStep, *, is_paid: bool = False, field: str = "id"
) -> OrderStatus:
    """Return the order's status after ``step``.

    Refuses on ``field``: PAYMENT_ERROR, CANNOT_CANCEL_ORDER, INVALID.
    """
    after = _AFTER.get((status, step))
    if after is None:
        message = "An order that is {status} can't be {step}."
        raise Refused(
            Problem(_CODES[step], message, field, values={"status": status, "step": _DONE[step]})
        )
    if step is OrderStep.PAY and is_paid:
        raise Refused(Problem(_CODES[step], "This order is already paid.", field))
    return after


def sees_orders_of(actor: Actor, owner_id: int | None) -> bool:
    """Whether ``actor`` can see that person's orders: their own, or with permission.

    Those of other people only in the channels that ``actor`` has access to.
    """
    if actor.holds(Permission.MANAGE_ORDERS):
        return True
    return owner_id is not None and owner_id == actor.user_id


def sees_order(actor: Actor, order: OrderSummary) -> bool:
    """Whether ``actor`` can see that order: their own, or with permission in its channel."""
    if order.user_id is not None and order.user_id == actor.user_id:
        return True
    return actor.holds(Permission.MANAGE_ORDERS) and actor.reaches_channel(order.channel_id)


def sees_buyer(actor: Actor, buyer: User) -> bool:
    """Whether ``actor``, who sees an order, gets to see the person whose it is."""
    if buyer.id == actor.user_id:
        return True
    if buyer.is_staff:
        return actor.holds(Permission.MANAGE_STAFF)
    return actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS)
