"""Narrowing a list to ranges of its columns."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.pages import Range
from app.domain.values.text_rules import is_storable
from app.services.authorization.register import part

MAX_VALUES = 1000
MAX_SEARCH_LENGTH = 1000

Bound = TypeVar("Bound", int, datetime)


@part
def in_range(
    column: InstrumentedAttribute[Bound], bounds: Range[Bound]
) -> Iterator[ColumnElement[bool]]:
    """Return the conditions for values of ``column`` within ``bounds``."""
    if bounds.gte is not None:
        yield column >= bounds.gte
    if bounds.lte is not None:
        yield column <= bounds.lte


@part
def keys_of(ids: Sequence[str], type_name: str) -> list[int]:
    """Return the keys in global ids of ``type_name``; refuses too many, and other ids."""
    return [key_of(id_, type_name, field="ids") for id_ in limit_values(ids, "ids")]


@part
def limit_values(values: Sequence[str], field: str) -> Sequence[str]:
    """``values``, unless they are more than one statement can look for; refused on ``field``."""
    if len(values) > MAX_VALUES:
        message = "Use at most {max_values} {field}; this has {count}."
        raise Refused(
            Problem(
                "GRAPHQL_ERROR",
                message,
                field,
                values={"max_values": MAX_VALUES, "field": field, "count": len(values)},
            )
        )
    return values


@part
def can_match(search: str) -> bool:
    """Whether anything stored can hold ``search``: not what no database takes, nor a giant."""
    return len(search) <= MAX_SEARCH_LENGTH and is_storable(search)
