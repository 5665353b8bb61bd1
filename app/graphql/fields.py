"""Fields read from domain values, with their global IDs; global IDs that clients send."""

from collections.abc import Callable
from functools import partial
from typing import Any

import graphene
from graphene.types.resolver import get_default_resolver

from app.domain.values.ids import parse_global_id, parse_key, to_global_id

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


def own_id(type_name: str) -> graphene.Field:
    """Return the field ``id`` of a type whose values have a key."""
    return graphene.Field(
        graphene.NonNull(graphene.ID),
        resolver=lambda value, _info: to_global_id(type_name, value.id),
    )


def attribute(name: str) -> Callable[..., Any]:
    """Return the resolver of a field that the value has under another name."""
    return partial(get_default_resolver(), name, None)


def text_or_null(name: str, **options: Any) -> graphene.Field:
    """Return a field with the text in this attribute of the value; null for an empty one."""
    return graphene.Field(
        graphene.String, resolver=lambda value, _info: getattr(value, name) or None, **options
    )
