"""The values of an operation's variables, checked against their types."""

import re
from collections.abc import Callable, Mapping
from typing import Any, cast

from graphql import (
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLInt,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    Undefined,
    VariableDefinitionNode,
    coerce_input_value,
    get_named_type,
    is_leaf_type,
    is_non_null_type,
    type_from_ast,
    value_from_ast,
)
from graphql.pyutils import print_path_list

from app.graphql.server.operations import Operation

_MAX_COERCION_ERRORS = 20
_WRITTEN_INT = re.compile(r"-?[0-9]{1,10}")


class _TooManyErrors(Exception):
    """Enough is wrong with the variables; the rest is not looked at."""


def coerce_variables(
    operation: Operation, inputs: Mapping[str, Any]
) -> dict[str, Any] | list[GraphQLError]:
    """The values of the operation's variables, or what is wrong with those that were given.

    An Int can be written as a text of digits, as in Saleor, whose dashboard filters by such.

    No error quotes a value, which could be a password and as long as a body. None suggests names
    either: the library fails at looking for names like "İ", which is longer in lower case.
    """
    values: dict[str, Any] = {}
    errors: list[GraphQLError] = []
    for definition in operation.node.variable_definitions:
        name = definition.variable.name.value
        kind = cast("GraphQLInputType", type_from_ast(operation.schema, definition.type))
        value = inputs.get(name, Undefined)
        if value is Undefined and definition.default_value is not None:
            values[name] = value_from_ast(definition.default_value, kind)
        elif value is not Undefined or is_non_null_type(kind):
            report = _reporter(definition, kind, errors)
            given = _with_ints(value, kind)
            try:
                values[name] = coerce_input_value(given, kind, report, None, hide_suggestions=True)
            except _TooManyErrors:
                break
    return errors or values


def _with_ints(value: Any, kind: GraphQLInputType) -> Any:
    """Return ``value`` with numbers for the texts of digits where an Int is expected."""
    if isinstance(kind, GraphQLNonNull):
        return _with_ints(value, kind.of_type)
    if isinstance(kind, GraphQLList):
        if isinstance(value, list):
            return [_with_ints(item, kind.of_type) for item in value]
        return _with_ints(value, kind.of_type)
    if isinstance(kind, GraphQLInputObjectType) and isinstance(value, dict):
        fields = kind.fields
        return {
            name: _with_ints(item, fields[name].type) if name in fields else item
            for name, item in value.items()
        }
    if kind is GraphQLInt and isinstance(value, str) and _WRITTEN_INT.fullmatch(value):
        return int(value)
    return value


def _reporter(
    definition: VariableDefinitionNode, kind: GraphQLInputType, errors: list[GraphQLError]
) -> Callable[[list[str | int], Any, GraphQLError], None]:
    """Return a callback that collects the errors in one variable's value."""
    name = definition.variable.name.value

    def report(path: list[str | int], value: Any, error: GraphQLError) -> None:
        if value is Undefined:
            message = f"Variable '${name}' of required type '{kind}' was not provided."
        else:
            place = f" at '{name}{print_path_list(path)}'" if path else ""
            problem = _problem(kind, path, value, error)
            message = f"Variable '${name}' got an invalid value{place}: {problem}"
        errors.append(GraphQLError(message, definition))
        if len(errors) == _MAX_COERCION_ERRORS:
            raise _TooManyErrors

    return report


def _problem(
    kind: GraphQLInputType, path: list[str | int], value: Any, error: GraphQLError
) -> str:
    """Return what is wrong without the value; only the errors of scalars and enums quote it."""
    type_ = _type_at(kind, path)
    if value is None or not is_leaf_type(type_):
        return error.message
    return f"Expected type '{type_}'."


def _type_at(kind: GraphQLInputType, path: list[str | int]) -> GraphQLNamedType:
    """Return the named type of the value at ``path``; a list accepts a single item."""
    named = get_named_type(kind)
    for step in path:
        if isinstance(step, str) and isinstance(named, GraphQLInputObjectType):
            named = get_named_type(named.fields[step].type)
    return named
