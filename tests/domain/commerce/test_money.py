"""Money is exact, in one currency, and within what JSON can tell."""

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from app.domain.commerce.money import (
    CURRENCY,
    MAX_PRICE,
    Money,
    of_units,
    price,
    price_problem,
    total,
    units_within,
)
from app.domain.values.pages import Range
from tests.fixtures.cases import cases

PIECES = 100_000
"""What fits in the largest cart, and more than anybody orders."""


@cases(
    ("amount", "currency", "field"),
    [
        ("0", None, None),
        ("0.01", None, None),
        ("-0", None, None),
        ("12.5", None, None),
        ("12.50000", None, None),
        ("1E+2", None, None),
        ("9999999.99", None, None),
        ("12.50", CURRENCY, None),
        ("12.50", "USD", "currency"),
        ("12.50", "eur", "currency"),
        ("12.50", "", "currency"),
        ("12.50", "x" * 100_000, "currency"),
        ("-0.01", None, "price"),
        ("-1E+999999", None, "price"),
        ("10000000", None, "price"),
        ("1E+999999", None, "price"),
        ("1E-999999", None, "price"),
        ("0.001", None, "price"),
        ("12.505", None, "price"),
        ("NaN", None, "price"),
        ("sNaN", None, "price"),
        ("Infinity", None, "price"),
        ("-Infinity", None, "price"),
    ],
)
def test_price_is_an_amount_of_cents_of_the_shops_currency(
    amount: str, currency: str | None, field: str | None
) -> None:
    problem = price_problem(Decimal(amount), currency)
    assert (problem.field if problem else None) == field
    assert problem is None or len(problem.message) < 200


def test_price_is_stored_to_the_cent() -> None:
    assert str(price(Decimal("1E+2")).amount) == "100.00"
    assert str(price(Decimal("12.5")).amount) == "12.50"
    assert price(Decimal("12.5")).units == 1250


@given(st.integers(min_value=0, max_value=int(MAX_PRICE * 100) * PIECES))
def test_every_amount_survives_the_database_and_json(units: int) -> None:
    money = of_units(units)
    assert money.units == units
    assert Decimal(repr(json.loads(json.dumps(float(money.amount))))) == money.amount


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 1000)), max_size=20))
def test_sum_is_exact(lines: list[tuple[int, int]]) -> None:
    summed = total(of_units(units).times(quantity) for units, quantity in lines)
    assert summed.units == sum(units * quantity for units, quantity in lines)


def test_empty_sum_is_zero() -> None:
    assert total(()) == Money(Decimal("0.00"))


@cases(
    ("lowest", "highest", "units"),
    [
        ("1", "2.5", (100, 250)),
        ("1.001", "2.509", (101, 250)),
        ("-5", "-0.01", (0, -1)),
        ("-1E+999999", "1E+999999", (0, 1_000_000_099)),
        (None, "1E-999999", (0, 0)),
        ("1E-999999", None, (1, None)),
        (None, None, (0, None)),
    ],
)
def test_range_of_prices_holds_whole_cents(
    lowest: str | None, highest: str | None, units: tuple[int, int | None]
) -> None:
    given_range = Range(
        None if lowest is None else Decimal(lowest), None if highest is None else Decimal(highest)
    )
    assert units_within(given_range) == Range(*units)
