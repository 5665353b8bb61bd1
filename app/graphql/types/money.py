"""Amounts of money, and the decimals that they are written in."""

import re
from decimal import Decimal

import graphene
from graphql import FloatValueNode, GraphQLError, IntValueNode, StringValueNode, ValueNode

from app.domain.commerce import money as domain
from app.graphql.context import Info
from app.graphql.fields import itself
from app.graphql.unavailable import with_unavailable

_DECIMAL = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?")


class PositiveDecimal(graphene.Scalar):
    """An exact decimal number, as a JSON number or a string: `12.5` or `"12.50"`.

    Negative numbers are an error at their field.
    """

    @staticmethod
    def serialize(value: Decimal) -> float:
        return float(value)

    @staticmethod
    def parse_value(value: object) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise _no_decimal(value)
        return _decimal(value if isinstance(value, str) else repr(value))

    @staticmethod
    def parse_literal(node: ValueNode, _variables: object = None) -> Decimal:
        if not isinstance(node, (IntValueNode, FloatValueNode, StringValueNode)):
            raise _no_decimal("this")
        return _decimal(node.value)


@with_unavailable
class Money(graphene.ObjectType):
    """An amount of money."""

    currency = graphene.NonNull(graphene.String, description="ISO 4217 code.")
    amount = graphene.NonNull(graphene.Float)


class TaxedMoney(graphene.ObjectType):
    """An amount of money. Taxes aren't calculated: net and gross are the same."""

    currency = graphene.NonNull(graphene.String, description="ISO 4217 code.")
    gross = graphene.NonNull(Money, resolver=itself)
    net = graphene.NonNull(Money, resolver=itself)
    tax = graphene.NonNull(Money)

    def resolve_tax(self: domain.Money, _info: Info) -> domain.Money:
        return domain.of_units(0, self.currency)


def _decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise _no_decimal(text)
    return Decimal(text)


def _no_decimal(value: object) -> GraphQLError:
    return GraphQLError(f"{str(value)[:80]!r} is not a decimal number.")
