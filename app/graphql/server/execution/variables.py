"""The values of an operation's variables, checked against their types."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from graphql import (
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLNamedType,
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


class _TooManyErrors(Exception):
    """Enough is wrong with the variables; the rest is not looked at."""


def coerce_variables(
    operation: Operation, inputs: Mapping[str, Any]
) -> dict[str, Any] | list[GraphQLError]:
    """The values of the operation's variables, or what is wrong with those that were given.

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
            try:
                values[name] = coerce_input_value(value, kind, report, None, hide_suggestions=True)
            except _TooManyErrors:
                break
    return errors or values


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
