"""How lists are sorted, the ranges they are narrowed to, and where a page is in its list."""

from enum import StrEnum

import graphene

from app.domain.values.pages import Page, make_cursor
from app.graphql.context import Info
from app.graphql.fields import attribute


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


class IntRangeInput(graphene.InputObjectType):
    """A range of numbers. Both ends are included and optional."""

    gte = graphene.Int()
    lte = graphene.Int()


class IntFilterInput(graphene.InputObjectType):
    """A number."""

    eq = graphene.Int(description="This number.")
    one_of = graphene.List(graphene.NonNull(graphene.Int), description="One of these.")
    range = IntRangeInput(description="A number in this range.")


_DECIMAL = "app.graphql.types.money.PositiveDecimal"


class DecimalRangeInput(graphene.InputObjectType):
    """A range of decimal numbers. Both ends are included and optional."""

    gte = graphene.InputField(_DECIMAL)
    lte = graphene.InputField(_DECIMAL)


class DecimalFilterInput(graphene.InputObjectType):
    """A decimal number."""

    eq = graphene.InputField(_DECIMAL, description="This number.")
    one_of = graphene.List(graphene.NonNull(_DECIMAL), description="One of these.")
    range = DecimalRangeInput(description="A number in this range.")


class StringFilterInput(graphene.InputObjectType):
    """A text, compared exactly."""

    eq = graphene.String(description="This text.")
    one_of = graphene.List(graphene.NonNull(graphene.String), description="One of these.")


class PageInfo(graphene.ObjectType):
    """Pagination info (Relay cursor connections)."""

    has_next_page = graphene.NonNull(graphene.Boolean, resolver=attribute("has_next"))
    has_previous_page = graphene.NonNull(graphene.Boolean, resolver=attribute("has_previous"))
    start_cursor = graphene.String()
    end_cursor = graphene.String()

    def resolve_start_cursor(self: Page[object], _info: Info) -> str | None:
        return make_cursor(self.positions[0]) if self.positions else None

    def resolve_end_cursor(self: Page[object], _info: Info) -> str | None:
        return make_cursor(self.positions[-1]) if self.positions else None
