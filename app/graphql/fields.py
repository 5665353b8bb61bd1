"""Fields read from domain values, with their global IDs; global IDs that clients send."""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from operator import attrgetter
from typing import Any, TypeVar

import graphene
from graphene.types.resolver import get_default_resolver
from graphql import ValueNode, value_from_ast_untyped
from typing_extensions import override

from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.ids import parse_global_id, parse_key, to_global_id
from app.graphql.context import Info

Value = TypeVar("Value")

NO_KEY = 0
"""A key that no record has."""


def key_in(global_id: str, type_name: str) -> int:
    """Return the key in a global ID of that type, or ``NO_KEY``.

    A caller without the permission gets that error, whether the ID is valid or not.
    """
    parsed = parse_global_id(global_id)
    if parsed is None or parsed[0] != type_name:
        return NO_KEY
    return parse_key(parsed[1]) or NO_KEY


def own_id(type_name: str, key: str = "id", **options: Any) -> graphene.Field:
    """Return the field ``id`` of a type whose values have that ``key``."""
    return graphene.Field(
        graphene.NonNull(graphene.ID),
        resolver=lambda value, _info: to_global_id(type_name, getattr(value, key)),
        **options,
    )


def id_or_null(type_name: str, attribute: str, **options: Any) -> graphene.Field:
    """Return a field with the global ID of the record whose key is in ``attribute``, if any."""

    def resolve(value: object, _info: Info) -> str | None:
        key = getattr(value, attribute)
        return None if key is None else to_global_id(type_name, key)

    return graphene.ID(resolver=resolve, **options)


def attribute(name: str) -> Callable[..., Any]:
    """Return the resolver of a field that the value has under another name."""
    return partial(get_default_resolver(), name, None)


def part(path: str) -> Callable[..., Any]:
    """Return the resolver of a field that a part of the value has, such as ``setting.label``."""
    read = attrgetter(path)
    return lambda value, _info: read(value)


def part_or_null(path: str) -> Callable[..., Any]:
    """As ``part``; null for an empty value."""
    read = attrgetter(path)
    return lambda value, _info: read(value) or None


def itself(value: Value, _info: Info) -> Value:
    """Resolve a field to the value that it is a field of."""
    return value


def sorted_permissions(value: Any, _info: Info) -> tuple[Permission, ...]:
    """Resolve the field ``permissions``, in the order of their declaration."""
    return in_order(value.permissions)


def text_or_null(path: str, **options: Any) -> graphene.Field:
    """Return a field with the text in this part of the value; null for an empty one."""
    return graphene.String(resolver=part_or_null(path), **options)


def described_enum(
    kind: type[Enum], name: str, description: str, members: Mapping[str, str]
) -> Any:
    """Return the enum ``name`` of ``kind``; ``members`` are the descriptions by member's name."""
    return graphene.Enum.from_enum(
        kind,
        name=name,
        description=lambda member: description if member is None else members[member.name],
    )


class ObjectType(graphene.ObjectType):
    """Base of types with options, such as their interfaces, which the class statement names."""

    class Meta:
        abstract = True

    @override
    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)


class UncheckedScalar(graphene.Scalar):
    """Base of scalars that take any value."""

    class Meta:
        abstract = True

    @staticmethod
    def serialize(value: object) -> object:
        return value

    parse_value = serialize

    @staticmethod
    def parse_literal(node: ValueNode, variables: dict[str, Any] | None = None) -> object:
        return value_from_ast_untyped(node, variables)


class MutationError:
    """The fields of most mutations' errors."""

    field = graphene.String(description="The invalid input, if a single one caused the error.")
    message = graphene.String()


def error_type(name: str, description: str, field: str = "") -> Any:
    """Return the type ``name`` of a family's errors, whose codes are the enum ``<name>Code``.

    ``field`` describes what the error is about, where it isn't an input.
    """
    fields: dict[str, object] = {"field": graphene.String(description=field)} if field else {}
    fields["code"] = graphene.NonNull(f"app.graphql.types.error_codes.{name}Code")
    return type(name, (MutationError, graphene.ObjectType), {"__doc__": description, **fields})
