"""Orders: what was bought, and the states that an order goes through."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.lines import Line
from app.domain.commerce.money import Money
from app.domain.values.errors import Problem, Refused


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


@dataclass(frozen=True, slots=True)
class OrderSummary:
    """An order without its lines. ``user_email`` stays when the account is gone."""

    id: int
    status: OrderStatus
    is_paid: bool
    user_id: int | None
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
    OrderStep.CANCEL: "cancelled",
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


def sees_order(actor: Actor, owner_id: int | None) -> bool:
    """Whether ``actor`` can see that person's orders: their own, or with permission."""
    if actor.holds(Permission.MANAGE_ORDERS):
        return True
    return owner_id is not None and owner_id == actor.user_id


def sees_buyer(actor: Actor, buyer: User) -> bool:
    """Whether ``actor``, who sees an order, gets to see the person whose it is."""
    if buyer.id == actor.user_id:
        return True
    if buyer.is_staff:
        return actor.holds(Permission.MANAGE_STAFF)
    return actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS)
