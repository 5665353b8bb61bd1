"""How lists are sorted, and the ranges they are narrowed to."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

import graphene

from app.domain.values.ranges import Range, days, moments


class Direction(StrEnum):
    ASC = "ASC"
    DESC = "DESC"


OrderDirection = graphene.Enum.from_enum(
    Direction, name="OrderDirection", description="Whether a list goes up or down."
)


class DateTimeRangeInput(graphene.InputObjectType):
    """Moments; both ends belong to the range, and either may be left out."""

    gte = graphene.DateTime()
    lte = graphene.DateTime()


class DateRangeInput(graphene.InputObjectType):
    """Whole days in UTC; both ends belong to the range, and either may be left out."""

    gte = graphene.Date()
    lte = graphene.Date()


class PriceRangeInput(graphene.InputObjectType):
    """Prices; both ends belong to the range, and either may be left out."""

    gte = graphene.Float()
    lte = graphene.Float()


def moments_in(given: Mapping[str, datetime | None] | None) -> Range[datetime] | None:
    """The range that a ``DateTimeRangeInput`` means."""
    return None if given is None else moments(given.get("gte"), given.get("lte"))


def days_in(given: Mapping[str, date | None] | None) -> Range[datetime] | None:
    """The range that a ``DateRangeInput`` means."""
    return None if given is None else days(given.get("gte"), given.get("lte"))


def prices_in(given: Mapping[str, float | None] | None) -> Range[Decimal] | None:
    """The range that a ``PriceRangeInput`` means."""
    return None if given is None else Range(_price(given.get("gte")), _price(given.get("lte")))


def _price(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(repr(amount))
