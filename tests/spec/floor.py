"""Compares a schema with the required one, ``recordings/schema.graphql``."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLType,
    GraphQLUnionType,
    build_schema,
    is_introspection_type,
    is_required_argument,
    is_required_input_field,
    is_specified_scalar_type,
)

_FILE = Path(__file__).parent / "recordings" / "schema.graphql"
_Inputs = Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField]


@cache
def floor() -> GraphQLSchema:
    """Return the schema that existing clients use."""
    return build_schema(_FILE.read_text())


@cache
def _built(printed: str) -> GraphQLSchema:
    return build_schema(printed)


def missing(printed: str) -> frozenset[str]:
    """Return types (``App``), fields and values (``Shop.name``) that a printed schema lacks."""
    return frozenset(_missing(_built(printed)))


def incompatible(printed: str) -> list[str]:
    """Return incompatible changes of types and fields that a printed schema has."""
    return [
        problem
        for expected in _types()
        if (ours := _built(printed).type_map.get(expected.name)) is not None
        for problem in _incompatible(expected, ours)
    ]


def _types() -> Iterator[GraphQLNamedType]:
    for type_ in floor().type_map.values():
        if not (is_introspection_type(type_) or is_specified_scalar_type(type_)):
            yield type_


def _members(named: GraphQLNamedType) -> frozenset[str]:
    if isinstance(named, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
        return frozenset(named.fields)
    if isinstance(named, GraphQLEnumType):
        return frozenset(named.values)
    if isinstance(named, GraphQLUnionType):
        return frozenset(member.name for member in named.types)
    return frozenset()


def _missing(schema: GraphQLSchema) -> Iterator[str]:
    for type_ in _types():
        ours = schema.type_map.get(type_.name)
        if ours is None:
            yield type_.name
        else:
            for member in _members(type_) - _members(ours):
                yield f"{type_.name}.{member}"


def _incompatible(required: GraphQLNamedType, ours: GraphQLNamedType) -> Iterator[str]:
    if type(required) is not type(ours):
        yield f"{required.name} is of another kind"
    elif isinstance(required, GraphQLInputObjectType) and isinstance(ours, GraphQLInputObjectType):
        yield from _incompatible_inputs(required.name, required.fields, ours.fields)
    elif isinstance(required, GraphQLObjectType | GraphQLInterfaceType) and isinstance(
        ours, GraphQLObjectType | GraphQLInterfaceType
    ):
        for name in required.fields.keys() & ours.fields.keys():
            yield from _incompatible_fields(
                f"{required.name}.{name}", required.fields[name], ours.fields[name]
            )


def _incompatible_fields(name: str, required: GraphQLField, ours: GraphQLField) -> Iterator[str]:
    if not _gives(ours.type, required.type):
        yield f"{name}: {ours.type} where clients read {required.type}"
    for argument in required.args.keys() - ours.args.keys():
        yield f"{name}({argument}) is missing"
    yield from _incompatible_inputs(name, required.args, ours.args)


def _incompatible_inputs(name: str, required: _Inputs, ours: _Inputs) -> Iterator[str]:
    for field_name in required.keys() & ours.keys():
        if not _gives(required[field_name].type, ours[field_name].type):
            sent = required[field_name].type
            yield f"{name}({field_name}): {ours[field_name].type} where clients send {sent}"
    for more in ours.keys() - required.keys():
        if _is_required(ours[more]):
            yield f"{name}({more}) is required, and no client sends it"


def _is_required(value: GraphQLArgument | GraphQLInputField) -> bool:
    if isinstance(value, GraphQLArgument):
        return is_required_argument(value)
    return is_required_input_field(value)


def _gives(ours: GraphQLType, required: GraphQLType) -> bool:
    """Whether every value of ``ours`` is one of ``required``; types are known by their names."""
    if isinstance(ours, GraphQLNonNull):
        inner = required.of_type if isinstance(required, GraphQLNonNull) else required
        return _gives(ours.of_type, inner)
    if isinstance(ours, GraphQLList) and isinstance(required, GraphQLList):
        return _gives(ours.of_type, required.of_type)
    return str(ours) == str(required)
