"""Amounts of money: exact decimals with the code of their currency (ISO 4217)."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from app.domain.values.errors import Problem
from app.domain.values.pages import Range

CURRENCY = "EUR"
"""What this shop calculates in; nothing is ever converted."""

MAX_PRICE = Decimal("9999999.99")
"""The highest price of one piece: whole carts stay exact in JSON, whose numbers end at 2^53."""

_PLACES = 2
_UNITS = 10**_PLACES


@dataclass(frozen=True, slots=True)
class Money:
    """``amount`` has the two decimal places of the currency, no more and no fewer."""

    amount: Decimal
    currency: str = CURRENCY

    def times(self, quantity: int) -> "Money":
        return Money(self.amount * quantity, self.currency)

    @property
    def units(self) -> int:
        """The amount in the smallest units of the currency: 12.50 euros are 1250."""
        return int(self.amount * _UNITS)


def of_units(units: int, currency: str = CURRENCY) -> Money:
    """Return the money that ``units`` of the smallest kind are."""
    return Money(Decimal(units).scaleb(-_PLACES), currency)


def total(amounts: Iterable[Money]) -> Money:
    """Return all of ``amounts``, which are in the shop's currency, together; nothing is 0.00."""
    return of_units(sum(amount.units for amount in amounts))


def price_problem(
    amount: Decimal, currency: str | None, field: str = "price", code: str = "INVALID"
) -> Problem | None:
    """Return why a price can't be ``amount``, or ``None``; ``currency`` defaults to the shop's.

    Refuses on ``field`` a negative amount, one above ``MAX_PRICE`` or with fractions of a cent,
    and on ``currency`` any but the shop's.
    """
    if currency is not None and currency != CURRENCY:
        message = "Use {currency} instead of {given}."
        values = {"currency": CURRENCY, "given": repr(currency[:10])}
        return Problem("INVALID", message, "currency", values=values)
    if not amount.is_finite() or not 0 <= amount <= MAX_PRICE:
        message = "Enter a price from 0 to {max_price}."
        return Problem(code, message, field, values={"max_price": MAX_PRICE})
    if _rounded(amount) != amount:
        message = "Use at most {places} decimal places."
        return Problem(code, message, field, values={"places": _PLACES})
    return None


def price(amount: Decimal) -> Money:
    """Return the price of ``amount``, in which ``price_problem`` found nothing."""
    return Money(_rounded(amount))


def units_within(amounts: Range[Decimal]) -> Range[int]:
    """The prices within ``amounts`` in the smallest units, never beyond what a price can be."""
    return Range(
        0 if amounts.gte is None else max(_bounded(amounts.gte, ROUND_CEILING), 0),
        None if amounts.lte is None else _bounded(amounts.lte, ROUND_FLOOR),
    )


def _bounded(amount: Decimal, rounding: str) -> int:
    nearest = min(max(amount, Decimal(-1)), MAX_PRICE + 1)
    return int((nearest * _UNITS).to_integral_value(rounding))


def _rounded(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-_PLACES))
