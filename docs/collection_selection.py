"""Which fields the requests of the collection select."""

from collections.abc import Iterator

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

_INDENT = "  "
_NAMES = ("id", "name", "email")
"""What is selected of an object that belongs to the one that was asked for."""

_NAMES_OF_CHANNELS = ("id", "slug")
"""Instead of the name, which takes a session that a sign-in doesn't have yet."""

_LEFT_OUT = frozenset({"privateMetadata", "privateMetafields", "metafields", "note"})


def selection(kind: GraphQLOutputType, level: int = 1, *, is_inner: bool = False) -> str:
    """Return the selection of a field of that type, with its braces; empty for a leaf.

    All fields of the object that was asked for; names alone of objects beside it (``is_inner``);
    of an object of a union its type.
    """
    named = get_named_type(kind)
    if isinstance(named, GraphQLUnionType):
        return f" {{\n{_INDENT * (level + 1)}__typename\n{_INDENT * level}}}"
    if not isinstance(named, GraphQLObjectType | GraphQLInterfaceType):
        return ""
    is_object = "id" in named.fields
    lines = [
        f"{_INDENT * (level + 1)}{name}{inner}"
        for name, inner in _fields(named, level + 1, is_inner=is_inner, is_object=is_object)
    ]
    return " {\n" + "\n".join(lines) + f"\n{_INDENT * level}}}" if lines else ""


def _fields(
    named: GraphQLObjectType | GraphQLInterfaceType, level: int, *, is_inner: bool, is_object: bool
) -> Iterator[tuple[str, str]]:
    for name, field in named.fields.items():
        names = _NAMES_OF_CHANNELS if named.name == "Channel" else _NAMES
        is_hidden = is_inner and is_object and name not in names
        if is_hidden or name in _LEFT_OUT or not _can_be_selected(field):
            continue
        if is_leaf_type(get_named_type(field.type)):
            yield name, ""
        elif not (is_inner or is_object) or "first" not in field.args:
            inner = selection(field.type, level, is_inner=is_inner or is_object)
            if inner:
                yield name, inner


def _can_be_selected(field: GraphQLField) -> bool:
    needs_arguments = any(map(is_required_argument, field.args.values()))
    return field.deprecation_reason is None and not needs_arguments
