"""The states of an order: every step that is allowed, and every one that is not."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.money import of_units
from app.domain.commerce.sales import (
    Order,
    OrderLine,
    OrderStatus,
    OrderStep,
    PaymentStatus,
    sees_buyer,
    sees_order,
    sees_orders_of,
    take_step,
)
from app.domain.values.errors import Refused
from tests.fixtures.cases import cases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ORDER = Order(
    id=7,
    status=OrderStatus.UNCONFIRMED,
    is_paid=False,
    user_id=1,
    channel_id=1,
    user_email="ann@example.com",
    total=of_units(1250),
    created_at=NOON,
    updated_at=NOON,
    lines=(),
    user=None,
)
ALLOWED = """
UNCONFIRMED confirm UNFULFILLED
UNCONFIRMED cancel  CANCELED
UNCONFIRMED pay     UNCONFIRMED
UNFULFILLED fulfill FULFILLED
UNFULFILLED cancel  CANCELED
UNFULFILLED pay     UNFULFILLED
FULFILLED   pay     FULFILLED
"""
TABLE = {
    (OrderStatus(before), OrderStep(step)): OrderStatus(after)
    for before, step, after in map(str.split, ALLOWED.strip().splitlines())
}
CODES = {
    OrderStep.CONFIRM: "INVALID",
    OrderStep.FULFILL: "INVALID",
    OrderStep.CANCEL: "CANNOT_CANCEL_ORDER",
    OrderStep.PAY: "PAYMENT_ERROR",
}
ORDERS = frozenset({Permission.MANAGE_ORDERS})


@cases(("status", "step"), list(product(OrderStatus, OrderStep)))
def test_order_steps_follow_the_table(status: OrderStatus, step: OrderStep) -> None:
    if (status, step) in TABLE:
        assert take_step(status, step) is TABLE[status, step]
        return
    with pytest.raises(Refused) as refused:
        take_step(status, step, field="order")
    (problem,) = refused.value.problems
    assert (problem.code, problem.field) == (CODES[step], "order")
    assert status.value in problem.message


@cases("status", OrderStatus)
def test_an_order_is_paid_once(status: OrderStatus) -> None:
    with pytest.raises(Refused) as refused:
        take_step(status, OrderStep.PAY, is_paid=True)
    (problem,) = refused.value.problems
    assert (problem.code, problem.field) == ("PAYMENT_ERROR", "id")
    assert replace(ORDER, is_paid=True).payment_status is PaymentStatus.FULLY_CHARGED
    assert ORDER.payment_status is PaymentStatus.NOT_CHARGED


@cases(
    ("actor", "own", "of_nobody"),
    [
        (anonymous(), False, False),
        (Actor(ActorKind.USER, user_id=1), True, False),
        (Actor(ActorKind.USER, user_id=2), False, False),
        (
            Actor(ActorKind.USER, user_id=2, is_staff=True, permissions=ALL_PERMISSIONS - ORDERS),
            False,
            False,
        ),
        (Actor(ActorKind.USER, user_id=2, is_staff=True, permissions=ORDERS), True, True),
        (Actor(ActorKind.APP, app_id=1), False, False),
        (Actor(ActorKind.APP, app_id=1, permissions=ORDERS), True, True),
        (OPERATOR, True, True),
    ],
)
def test_order_is_visible_to_its_buyer_and_order_managers(
    actor: Actor, own: bool, of_nobody: bool
) -> None:
    assert sees_order(actor, ORDER) is own
    assert sees_order(actor, replace(ORDER, user_id=None)) is of_nobody
    assert (sees_orders_of(actor, 1), sees_orders_of(actor, None)) == (own, of_nobody)


def test_orders_of_others_are_visible_in_the_managers_channels_alone() -> None:
    manager = Actor(ActorKind.USER, user_id=2, permissions=ORDERS, channel_ids=frozenset({1}))
    assert sees_order(manager, ORDER)
    assert not sees_order(manager, replace(ORDER, channel_id=2))
    assert sees_order(manager, replace(ORDER, channel_id=2, user_id=2))
    preview = Actor(ActorKind.APP, app_id=1, permissions=ORDERS, previewed_by=manager)
    assert not sees_order(preview, replace(ORDER, channel_id=2))


def test_line_total_is_price_times_quantity() -> None:
    line = OrderLine(1, None, "Bowl", 3, of_units(1250), is_fulfilled=False)
    assert line.total == of_units(3750)
    assert (line.quantity_fulfilled, line.quantity_to_fulfill) == (0, 3)
    sent = replace(line, is_fulfilled=True)
    assert (sent.quantity_fulfilled, sent.quantity_to_fulfill) == (3, 0)
    assert ORDER.number == "7"


@cases(
    ("actor", "customer", "staff"),
    [
        (Actor(ActorKind.USER, user_id=2), False, False),
        (Actor(ActorKind.APP, app_id=1, permissions=ORDERS), True, False),
        (
            Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_USERS})),
            True,
            False,
        ),
        (
            Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_STAFF})),
            False,
            True,
        ),
        (Actor(ActorKind.USER, user_id=1), True, True),
        (OPERATOR, True, True),
    ],
)
def test_order_shows_its_buyer_to_people_managers(
    actor: Actor, customer: bool, staff: bool
) -> None:
    buyer = User(
        id=1,
        email="ann@example.com",
        first_name="",
        last_name="",
        is_staff=False,
        is_active=True,
        is_confirmed=True,
        is_superuser=False,
        date_joined=NOON,
        updated_at=NOON,
        last_login=None,
    )
    assert sees_buyer(actor, buyer) is customer
    assert sees_buyer(actor, replace(buyer, is_staff=True)) is staff
