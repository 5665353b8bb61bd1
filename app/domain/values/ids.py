"""Global object ids: base64 of ``Type:key``, as existing clients store and send them."""

import base64
import binascii
from collections.abc import Collection

from app.domain.values.errors import Problem, Refused

_MAX_ID_LENGTH = 1000
"""Characters; the longest that we make have about a hundred."""

MAX_KEY_LENGTH = 18
"""Digits that fit every database's integer key; a longer one cannot exist."""

MAX_FILTERED_IDS = 1000
"""IDs that a filter of a list can have."""


def to_global_id(type_name: str, key: int | str) -> str:
    return base64.b64encode(f"{type_name}:{key}".encode()).decode()


def parse_global_id(value: str) -> tuple[str, str] | None:
    """Type name and key of ``value``, or ``None`` when it is no global id."""
    if len(value) > _MAX_ID_LENGTH:
        return None
    try:
        text = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):
        return None
    type_name, colon, key = text.partition(":")
    return (type_name, key) if colon and type_name and key else None


def parse_id(value: str, type_name: str) -> int | None:
    """Return the numeric key in a global id of ``type_name``; ``None`` for anything else."""
    parsed = parse_global_id(value)
    return parse_key(parsed[1]) if parsed is not None and parsed[0] == type_name else None


def key_of(value: str, type_name: str, *, field: str = "id", code: str = "NOT_FOUND") -> int:
    """The numeric key in a global id of ``type_name``; refuses anything else on ``field``."""
    key = parse_id(value, type_name)
    if key is None:
        message = "Couldn't resolve to a {type_name}: {value} is not an ID of one."
        values = {"type_name": type_name, "value": repr(value[:80])}
        raise Refused(Problem(code, message, field, values=values))
    return key


def filtered_keys(ids: Collection[str], type_name: str) -> list[int]:
    """Return the numeric keys in a filter's global ids; refuses any other and too many."""
    if len(ids) > MAX_FILTERED_IDS:
        message = "Use at most {max_ids} IDs; this has {count}."
        values = {"max_ids": MAX_FILTERED_IDS, "count": len(ids)}
        raise Refused(Problem("GRAPHQL_ERROR", message, "ids", values=values))
    return [key_of(id_, type_name, field="ids") for id_ in ids]


def given_key(**keys: str | None) -> str:
    """Return the name of the only one of ``keys`` that is given.

    They are the arguments by which a record can be named, the usual one first, which is also
    returned when none is given. An empty text counts only alone. Refuses GRAPHQL_ERROR on the
    first that is given if there are several.
    """
    usual, *_ = keys
    given = [name for name, value in keys.items() if value]
    if len(given) > 1:
        message = "Argument `{name}` cannot be combined with `{other}`."
        values = {"name": given[0], "other": given[1]}
        raise Refused(Problem("GRAPHQL_ERROR", message, given[0], values=values))
    sent = given or [name for name, value in keys.items() if value is not None]
    return sent[0] if sent else usual


def parse_key(text: str) -> int | None:
    """Return the numeric key that ``text`` spells, or ``None``."""
    fits = len(text) <= MAX_KEY_LENGTH and text.isascii() and text.isdigit()
    return int(text) if fits else None
