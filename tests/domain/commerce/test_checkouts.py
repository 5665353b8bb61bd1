"""What a cart may hold, who may use it, and when it can become an order."""

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.money import of_units
from app.domain.commerce.products import Product
from app.domain.commerce.sales import (
    MAX_LINES,
    MAX_QUANTITY,
    Checkout,
    CheckoutLine,
    completion_problems,
    lines_problem,
    may_open,
    product_problem,
    quantity_problem,
    size_problem,
)
from tests.fixtures.cases import cases

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
BOWL = Product(1, "Bowl", "bowl", "", of_units(1250), True, NOON, NOON)  # noqa: FBT003
HIDDEN = replace(BOWL, is_published=False)
PRICELESS = replace(BOWL, price=None)
CUSTOMER = Actor(ActorKind.USER, user_id=1)
CHECKOUTS = frozenset({Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS})
STOREKEEPER = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_PRODUCTS}))


def line(product: Product | None = BOWL, quantity: int = 2, units: int = 1000) -> CheckoutLine:
    return CheckoutLine(1, product, "Bowl", quantity, of_units(units))


@cases(
    ("actor", "own", "anybodys", "of_another"),
    [
        (anonymous(), False, True, False),
        (CUSTOMER, True, True, False),
        (Actor(ActorKind.USER, user_id=9, is_staff=True), False, True, False),
        (
            Actor(ActorKind.USER, user_id=9, permissions=ALL_PERMISSIONS - CHECKOUTS),
            False,
            True,
            False,
        ),
        (Actor(ActorKind.APP, app_id=1), False, True, False),
        *(
            (Actor(ActorKind.APP, app_id=1, permissions=frozenset({checkout})), True, True, True)
            for checkout in CHECKOUTS
        ),
        (OPERATOR, True, True, True),
    ],
)
def test_cart_is_open_to_its_owner_or_by_token_if_anonymous(
    actor: Actor, own: bool, anybodys: bool, of_another: bool
) -> None:
    assert may_open(actor, 1, 1) is own
    assert may_open(actor, None, 1) is anybodys
    assert may_open(actor, 2, 1) is of_another


def test_carts_of_others_are_open_in_the_managers_channels_alone() -> None:
    manager = Actor(
        ActorKind.USER,
        user_id=3,
        permissions=frozenset({Permission.MANAGE_CHECKOUTS}),
        channel_ids=frozenset({1}),
    )
    assert may_open(manager, 2, 1)
    assert not may_open(manager, 2, 2)
    assert may_open(manager, 3, 2)
    preview = Actor(
        ActorKind.APP,
        app_id=1,
        permissions=frozenset({Permission.MANAGE_CHECKOUTS}),
        previewed_by=manager,
    )
    assert may_open(preview, 2, 1)
    assert not may_open(preview, 2, 2)


@cases(
    ("product", "actor", "code"),
    [
        (BOWL, anonymous(), None),
        (None, anonymous(), "NOT_FOUND"),
        (None, STOREKEEPER, "NOT_FOUND"),
        (HIDDEN, CUSTOMER, "NOT_FOUND"),
        (HIDDEN, STOREKEEPER, "PRODUCT_NOT_PUBLISHED"),
        (PRICELESS, CUSTOMER, "PRODUCT_UNAVAILABLE_FOR_PURCHASE"),
        (replace(BOWL, price=of_units(0)), CUSTOMER, None),
    ],
)
def test_only_published_and_priced_products_can_be_bought(
    product: Product | None, actor: Actor, code: str | None
) -> None:
    problem = product_problem(product, actor)
    assert (problem.code if problem else None) == code
    assert problem is None or problem.field == "productId"


@cases(
    ("quantity", "minimum", "code"),
    [
        (1, 1, None),
        (MAX_QUANTITY, 1, None),
        (MAX_QUANTITY + 1, 1, "QUANTITY_GREATER_THAN_LIMIT"),
        (2**31 - 1, 1, "QUANTITY_GREATER_THAN_LIMIT"),
        (0, 1, "ZERO_QUANTITY"),
        (-1, 1, "ZERO_QUANTITY"),
        (-(2**31), 1, "ZERO_QUANTITY"),
        (0, 0, None),
        (-1, 0, "ZERO_QUANTITY"),
    ],
)
def test_quantity_is_limited(quantity: int, minimum: int, code: str | None) -> None:
    problem = quantity_problem(quantity, minimum=minimum)
    assert (problem.code if problem else None) == code


def test_number_of_cart_lines_is_limited() -> None:
    assert size_problem(MAX_LINES) is None
    problem = size_problem(MAX_LINES + 1)
    assert problem is not None
    assert (problem.field, problem.code) == ("lines", "INVALID")
    assert lines_problem(MAX_LINES) is None
    assert lines_problem(MAX_LINES + 1) == problem
    nothing = lines_problem(0, "linesIds")
    assert nothing is not None
    assert (nothing.field, nothing.code) == ("linesIds", "REQUIRED")


@cases(
    ("lines", "email", "codes"),
    [
        ([line()], "a@example.com", []),
        ([], "a@example.com", ["NO_LINES"]),
        ([], "", ["NO_LINES", "EMAIL_NOT_SET"]),
        ([line()], "", ["EMAIL_NOT_SET"]),
        ([line(None)], "a@example.com", ["PRODUCT_UNAVAILABLE_FOR_PURCHASE"]),
        ([line(HIDDEN)], "a@example.com", ["PRODUCT_UNAVAILABLE_FOR_PURCHASE"]),
        ([line(PRICELESS), line()], "a@example.com", ["PRODUCT_UNAVAILABLE_FOR_PURCHASE"]),
        (
            [line(None), line(HIDDEN)],
            "",
            ["PRODUCT_UNAVAILABLE_FOR_PURCHASE"] * 2 + ["EMAIL_NOT_SET"],
        ),
    ],
)
def test_all_problems_of_a_cart_are_reported(
    lines: list[CheckoutLine], email: str, codes: list[str]
) -> None:
    assert [problem.code for problem in completion_problems(lines, email)] == codes


def test_cart_total_uses_the_prices_of_its_lines() -> None:
    cart = Checkout(1, "t", None, 1, "", (line(units=1000), line(None, 3, 5)), NOON, NOON)
    assert cart.total == of_units(2015)
    assert cart.quantity == 5
    assert replace(cart, lines=()).total == of_units(0)
