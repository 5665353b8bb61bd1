"""No part of an input causes an internal error, however absurd it is."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    get_named_type,
    is_composite_type,
    is_required_argument,
    is_required_input_field,
)

from app.domain.sign_in.rate_limits import RATE_LIMITS, RateLimitPolicy
from app.domain.values.ids import to_global_id
from app.graphql.schema import schema
from app.ports import Ports
from tests.builders.people import make_user, sign_in
from tests.fixtures.one_of_each import InTurn
from tests.graphql.shop_client import ApiClient

LENGTH = 1_100
"""More than SQLite takes of conditions, and less than a body holds."""

TYPES = ("User", "App", "Group", "Product", "Order", "Channel", "Webhook", "EventDelivery")
SCALARS: dict[str, Any] = {
    "Int": 1,
    "Boolean": True,
    "Date": "2026-01-01",
    "DateTime": "2026-01-01T00:00:00Z",
    "JSON": {},
    "JSONString": "{}",
    "PositiveDecimal": "1.50",
    "Upload": None,
    "_Any": {"__typename": "User", "id": to_global_id("User", 1)},
}


def plausible(type_: GraphQLInputType, number: int = 1, of: str = "User") -> Any:
    """Return a value of that type with what is required alone; different ones by ``number``."""
    if isinstance(type_, GraphQLNonNull):
        return plausible(type_.of_type, number, of)
    if isinstance(type_, GraphQLList):
        return [plausible(type_.of_type, number, of)]
    if isinstance(type_, GraphQLEnumType):
        return list(type_.values)[number % len(type_.values)]
    if isinstance(type_, GraphQLInputObjectType):
        return {
            name: plausible(field.type, number, of)
            for name, field in type_.fields.items()
            if is_required_input_field(field)
        }
    assert isinstance(type_, GraphQLScalarType)
    if type_.name == "ID":
        return to_global_id(of, number)
    return f"text{number}" if type_.name == "String" else SCALARS[type_.name]


Absurd = Callable[[GraphQLInputType, str], Iterator[tuple[str, Any]]]
"""Yields what to try in the place of a value of that type, with a name for it."""


def long_lists(type_: GraphQLInputType, of: str) -> Iterator[tuple[str, Any]]:
    if isinstance(type_, GraphQLList) and (of == TYPES[0] or has_id(type_)):
        yield "[]", [plausible(type_.of_type, number, of) for number in range(1, LENGTH)]


@cache
def has_id(type_: GraphQLInputType) -> bool:
    """Whether lists of that type differ by what their IDs are of."""
    return to_global_id(TYPES[0], 2) in str(plausible(type_, 2))


def unstorable_texts(type_: GraphQLInputType, _of: str) -> Iterator[tuple[str, Any]]:
    is_text = isinstance(type_, GraphQLScalarType) and type_.name in ("ID", "String")
    if is_text:
        yield "", "a\0b"


def values(
    type_: GraphQLInputType, of: str, absurd: Absurd, seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield values of that type with one absurd part each, and its place."""
    if isinstance(type_, GraphQLNonNull):
        yield from values(type_.of_type, of, absurd, seen)
        return
    yield from absurd(type_, of)
    if isinstance(type_, GraphQLList):
        for place, value in values(type_.of_type, of, absurd, seen):
            yield f"[0]{place}", [value]
    elif isinstance(type_, GraphQLInputObjectType) and seen.count(type_.name) < 2:
        for name, field in type_.fields.items():
            for place, value in values(field.type, of, absurd, (*seen, type_.name)):
                yield f".{name}{place}", {**plausible(type_, of=of), name: value}


def calls(
    kind: str, name: str, field: GraphQLField, of: str, absurd: Absurd
) -> Iterator[tuple[str, Any]]:
    """Yield requests with one absurd part in the arguments of ``field``."""
    wanted = {
        each: plausible(argument.type, of=of)
        for each, argument in field.args.items()
        if is_required_argument(argument)
    }
    if "first" in field.args:
        wanted["first"] = 1
    selection = " { __typename }" if is_composite_type(get_named_type(field.type)) else ""
    for each, argument in field.args.items():
        for place, value in values(argument.type, of, absurd):
            variables = {**wanted, each: value}
            declared = ", ".join(f"${one}: {field.args[one].type}" for one in variables)
            passed = ", ".join(f"{one}: ${one}" for one in variables)
            query = f"{kind}({declared}) {{ {name}({passed}){selection} }}"
            yield f"{name}({each}{place})", {"query": query, "variables": variables}


def requests(absurd: Absurd, types: Callable[[], Sequence[str]]) -> Iterator[tuple[str, Any]]:
    """Yield requests with an absurd part at each place, IDs of the types chosen for a field."""
    served = schema.graphql_schema
    for kind, type_ in (("query", served.query_type), ("mutation", served.mutation_type)):
        assert type_ is not None
        for name, field in type_.fields.items():
            for of in types():
                yield from calls(kind, name, field, of, absurd)


def places_tried(ports: Ports, absurd: Absurd, types: Callable[[], Sequence[str]]) -> set[str]:
    """Send all requests as a superuser; return what was tried, none of which fails."""
    unlimited = RateLimitPolicy(changed=dict.fromkeys(RATE_LIMITS, ()))
    configuration = replace(ports.configuration, rate_limits=unlimited)
    api = ApiClient(replace(ports, configuration=configuration))
    boss = make_user(ports, "boss@example.com", is_superuser=True)
    tried, faults, tokens = set(), {}, dict[str, str]()
    for place, request in requests(absurd, types):
        tried.add(place)
        name = place.partition("(")[0]
        if name not in tokens:  # an operation before may have ended the session
            tokens = {name: sign_in(ports, boss).access}
        reply = api.post(request, tokens[name])
        assert "TokenError" not in reply.text
        assert "Too many requests" not in reply.text
        if "Internal Server Error" in reply.text:
            faults[place] = reply.text[:200]
    assert faults == {}
    return tried


@pytest.mark.first
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_no_long_list_causes_an_internal_error(ports: Ports, in_turn: InTurn) -> None:
    tried = places_tried(ports, long_lists, lambda: [TYPES[0], *in_turn(TYPES[1:])])
    assert {"customers(filter.metadata[])", "orders(filter.ids[])"} <= tried


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_no_text_that_the_database_cannot_hold_causes_an_internal_error(ports: Ports) -> None:
    tried = places_tried(ports, unstorable_texts, lambda: TYPES[:1])
    assert {"webhookUpdate(identifier)", "customerCreate(input.metadata[0].key)"} <= tried
