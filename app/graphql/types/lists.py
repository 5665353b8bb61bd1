"""How lists are sorted, and the ranges they are narrowed to."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

import graphene

from app.domain.values.pages import Range, day_range, moment_range


class Direction(StrEnum):
    ASC = "ASC"
    DESC = "DESC"


OrderDirection = graphene.Enum.from_enum(
    Direction, name="OrderDirection", description="The direction of a sort."
)


class DateTimeRangeInput(graphene.InputObjectType):
    """A range of times. Both ends are included and optional."""

    gte = graphene.DateTime()
    lte = graphene.DateTime()


class DateRangeInput(graphene.InputObjectType):
    """A range of days in UTC. Both ends are included and optional."""

    gte = graphene.Date()
    lte = graphene.Date()


class PriceRangeInput(graphene.InputObjectType):
    """A range of prices. Both ends are included and optional."""

    gte = graphene.Float()
    lte = graphene.Float()


def moments_in(range_: Mapping[str, datetime | None] | None) -> Range[datetime] | None:
    """The range that a ``DateTimeRangeInput`` means."""
    return None if range_ is None else moment_range(range_.get("gte"), range_.get("lte"))


def days_in(range_: Mapping[str, date | None] | None) -> Range[datetime] | None:
    """The range that a ``DateRangeInput`` means."""
    return None if range_ is None else day_range(range_.get("gte"), range_.get("lte"))


def prices_in(range_: Mapping[str, float | None] | None) -> Range[Decimal] | None:
    """The range that a ``PriceRangeInput`` means."""
    return None if range_ is None else Range(_price(range_.get("gte")), _price(range_.get("lte")))


def _price(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(repr(amount))
