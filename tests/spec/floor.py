"""How a schema stands to the public interface's floor, ``recordings/schema.graphql``."""

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
    """Names and types that existing clients already speak."""
    return build_schema(_FILE.read_text())


def missing(printed: str) -> frozenset[str]:
    """The types (``App``), fields and values (``Shop.name``) that a printed schema has not got."""
    return frozenset(_missing(build_schema(printed)))


def incompatible(printed: str) -> list[str]:
    """Where it has what the floor names, but not so that a client could go on using it."""
    schema = build_schema(printed)
    return [
        problem
        for wanted in _types()
        if (ours := schema.type_map.get(wanted.name)) is not None
        for problem in _incompatible(wanted, ours)
    ]


def _types() -> Iterator[GraphQLNamedType]:
    for wanted in floor().type_map.values():
        if not (is_introspection_type(wanted) or is_specified_scalar_type(wanted)):
            yield wanted


def _members(named: GraphQLNamedType) -> frozenset[str]:
    if isinstance(named, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
        return frozenset(named.fields)
    if isinstance(named, GraphQLEnumType):
        return frozenset(named.values)
    if isinstance(named, GraphQLUnionType):
        return frozenset(member.name for member in named.types)
    return frozenset()


def _missing(schema: GraphQLSchema) -> Iterator[str]:
    for wanted in _types():
        ours = schema.type_map.get(wanted.name)
        if ours is None:
            yield wanted.name
        else:
            for member in _members(wanted) - _members(ours):
                yield f"{wanted.name}.{member}"


def _incompatible(wanted: GraphQLNamedType, ours: GraphQLNamedType) -> Iterator[str]:
    if type(wanted) is not type(ours):
        yield f"{wanted.name} is of another kind"
    elif isinstance(wanted, GraphQLInputObjectType) and isinstance(ours, GraphQLInputObjectType):
        yield from _incompatible_inputs(wanted.name, wanted.fields, ours.fields)
    elif isinstance(wanted, GraphQLObjectType | GraphQLInterfaceType) and isinstance(
        ours, GraphQLObjectType | GraphQLInterfaceType
    ):
        for name in wanted.fields.keys() & ours.fields.keys():
            yield from _incompatible_fields(
                f"{wanted.name}.{name}", wanted.fields[name], ours.fields[name]
            )


def _incompatible_fields(name: str, wanted: GraphQLField, ours: GraphQLField) -> Iterator[str]:
    if not _gives(ours.type, wanted.type):
        yield f"{name}: {ours.type} where clients read {wanted.type}"
    for argument in wanted.args.keys() - ours.args.keys():
        yield f"{name}({argument}) is missing"
    yield from _incompatible_inputs(name, wanted.args, ours.args)


def _incompatible_inputs(name: str, wanted: _Inputs, ours: _Inputs) -> Iterator[str]:
    for given in wanted.keys() & ours.keys():
        if not _gives(wanted[given].type, ours[given].type):
            yield f"{name}({given}): {ours[given].type} where clients send {wanted[given].type}"
    for more in ours.keys() - wanted.keys():
        if _is_required(ours[more]):
            yield f"{name}({more}) is required, and no client sends it"


def _is_required(value: GraphQLArgument | GraphQLInputField) -> bool:
    if isinstance(value, GraphQLArgument):
        return is_required_argument(value)
    return is_required_input_field(value)


def _gives(given: GraphQLType, wanted: GraphQLType) -> bool:
    """Whether every value of ``given`` is one of ``wanted``; types are known by their names."""
    if isinstance(given, GraphQLNonNull):
        inner = wanted.of_type if isinstance(wanted, GraphQLNonNull) else wanted
        return _gives(given.of_type, inner)
    if isinstance(given, GraphQLList) and isinstance(wanted, GraphQLList):
        return _gives(given.of_type, wanted.of_type)
    return str(given) == str(wanted)
