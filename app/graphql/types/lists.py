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


def moments_in(range_: Mapping[str, datetime | None] | None) -> Range[datetime] | None:
    """The range that a ``DateTimeRangeInput`` means."""
    return None if range_ is None else moments(range_.get("gte"), range_.get("lte"))


def days_in(range_: Mapping[str, date | None] | None) -> Range[datetime] | None:
    """The range that a ``DateRangeInput`` means."""
    return None if range_ is None else days(range_.get("gte"), range_.get("lte"))


def prices_in(range_: Mapping[str, float | None] | None) -> Range[Decimal] | None:
    """The range that a ``PriceRangeInput`` means."""
    return None if range_ is None else Range(_price(range_.get("gte")), _price(range_.get("lte")))


def _price(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(repr(amount))
