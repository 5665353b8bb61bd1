"""Invalid values for every argument of every type."""

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLScalarType,
    parse,
    value_from_ast_untyped,
)
from graphql.language import FieldNode, OperationDefinitionNode

from app.domain.values.ids import to_global_id

TEXTS: Mapping[str, str] = {
    "nothing": "",
    "blanks": " \t ",
    "NUL": "a\0b",
    "half a pair": "\ud800",
    "a header": "x\r\nBcc: all@example.com",
    "without end": "a" * 20_000,
    "every script": "😀 \u202e用户\ufeff é" * 20,
    "a statement": "'; DROP TABLE users; --",
    "a path": "../../../etc/passwd",
    "a template": "{{ 7 * 7 }} %s %n {0}",
    "an address": "jörg@exämple.example",
}
IDS = (
    to_global_id("User", 2**63),
    to_global_id("User", -1),
    to_global_id("Product", 0),
    "VXNlcjo=",
    "VXNlcjo1e400",
    "=",
)
NUMBERS = (0, -1, 2**31 - 1, -(2**31), 1_000_000)
MOMENTS = (
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-02-30T00:00:00Z",
    "2026-03-01T00:00:00",
)
AMOUNTS = (-1, 0, 1e308, 1e-300, "1e400", "NaN", "12.345")
JSON = ("{", "[]", "null", '"x"', "1e400", "[" * 500 + "]" * 500, '{"redirectUri": "\\u0000"}')


def value_of(kind: GraphQLInputType, text: str, turn: int, within: tuple[str, ...] = ()) -> Any:
    """Return an absurd value of that type; ``turn`` selects one of several.

    ``within`` are the input types that it is in: one that has itself as a part is empty there.
    """
    if isinstance(kind, GraphQLNonNull):
        return value_of(kind.of_type, text, turn, within)
    if isinstance(kind, GraphQLList):
        return [value_of(kind.of_type, text, turn + place, within) for place in range(turn % 3)]
    if isinstance(kind, GraphQLInputObjectType):
        fields = {} if kind.name in within else kind.fields
        return {
            name: value_of(field.type, text, turn, (*within, kind.name))
            for place, (name, field) in enumerate(fields.items())
            # Sometimes omitted: one invalid value can hide another.
            if isinstance(field.type, GraphQLNonNull) or (place + turn) % 4
        }
    if isinstance(kind, GraphQLEnumType):
        names = list(kind.values)
        return names[turn % len(names)]
    assert isinstance(kind, GraphQLScalarType)
    return _scalar(kind.name, text, turn)


def _scalar(name: str, text: str, turn: int) -> Any:
    choices: Mapping[str, tuple[Any, ...]] = {
        "ID": (text, *IDS),
        "Int": NUMBERS,
        "Float": AMOUNTS[:4],
        "PositiveDecimal": AMOUNTS,
        "Boolean": (True, False),
        "DateTime": MOMENTS,
        "Date": ("0001-01-01", "9999-12-31"),
        "JSONString": (text, *JSON),
    }
    among = choices.get(name, (text,))
    return among[turn % len(among)]


def arguments_in(call: str) -> dict[str, Any]:
    """Return the arguments of a written call as JSON values."""
    [definition] = parse(f"{{ field({call}) }}").definitions if call else [None]
    if not isinstance(definition, OperationDefinitionNode):
        return {}
    [field] = definition.selection_set.selections
    assert isinstance(field, FieldNode)
    return {
        argument.name.value: value_from_ast_untyped(argument.value) for argument in field.arguments
    }


def absurd_calls(
    arguments: Mapping[str, GraphQLArgument], good: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield arguments that are all invalid, that have one invalid value, or too many members."""
    for turn, text in enumerate(TEXTS.values()):
        absurd = {
            name: value_of(argument.type, text, turn) for name, argument in arguments.items()
        }
        yield absurd
        yield _over(absurd, good)
        yield from _one_by_one(good, text)
    for name, argument in arguments.items():
        if not isinstance(argument.type, GraphQLNonNull):
            yield {**good, name: None}


def _over(absurd: Any, good: Any) -> Any:
    """Return ``good`` with the missing members from ``absurd``."""
    if isinstance(absurd, dict) and isinstance(good, Mapping):
        both = {name: _over(absurd[name], good[name]) for name in good if name in absurd}
        return {**absurd, **good, **both}
    return good


def _one_by_one(good: Any, text: str) -> Iterator[Any]:
    """Yield ``good`` with ``text`` in place of each of its strings in turn."""
    if isinstance(good, str):
        yield text
    elif isinstance(good, dict):
        for name, value in good.items():
            for changed in _one_by_one(value, text):
                yield {**good, name: changed}
    elif isinstance(good, list):
        for place, value in enumerate(good):
            for changed in _one_by_one(value, text):
                yield [*good[:place], changed, *good[place + 1 :]]
