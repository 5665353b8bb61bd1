"""Amounts of money, and the decimals that they are written in."""

import re
from decimal import Decimal

import graphene
from graphql import (
    FloatValueNode,
    GraphQLError,
    GraphQLResolveInfo,
    IntValueNode,
    StringValueNode,
    ValueNode,
)

from app.domain.commerce import money as domain

_DECIMAL = re.compile(r"[+-]?[0-9]{1,100}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,3})?")


class PositiveDecimal(graphene.Scalar):
    """A decimal number, exact, written as a JSON number or as text: `12.5` and `"12.50"`.

    What is negative is refused where it is used, on the field that it was meant for.
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


class Money(graphene.ObjectType):
    """An amount of money."""

    currency = graphene.NonNull(graphene.String, description="The code of ISO 4217.")
    amount = graphene.NonNull(graphene.Float)


class TaxedMoney(graphene.ObjectType):
    """An amount of money. Taxes are not told apart here: net and gross are the same."""

    currency = graphene.NonNull(graphene.String, description="The code of ISO 4217.")
    gross = graphene.NonNull(Money)
    net = graphene.NonNull(Money)
    tax = graphene.NonNull(Money)

    def resolve_gross(self: domain.Money, _info: GraphQLResolveInfo) -> domain.Money:
        return self

    def resolve_net(self: domain.Money, _info: GraphQLResolveInfo) -> domain.Money:
        return self

    def resolve_tax(self: domain.Money, _info: GraphQLResolveInfo) -> domain.Money:
        return domain.of_units(0, self.currency)


def _decimal(text: str) -> Decimal:
    if not _DECIMAL.fullmatch(text):
        raise _no_decimal(text)
    return Decimal(text)


def _no_decimal(value: object) -> GraphQLError:
    return GraphQLError(f"{str(value)[:80]!r} is no decimal number.")
