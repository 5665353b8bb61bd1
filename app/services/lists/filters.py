"""Conditions of lists: ranges, keys, substrings, and hints to the right index.

SQLite and PostgreSQL compile substrings and hints differently. PostgreSQL has counted what columns
hold; SQLite has not, and takes one index for as good as another
(https://www.sqlite.org/optoverview.html, where a unary + disqualifies a term).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Generic, TypeVar

from sqlalchemy import (
    BindParameter,
    Boolean,
    ColumnElement,
    FunctionElement,
    String,
    and_,
    literal,
    or_,
    true,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnOperators, SQLColumnExpression

from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import Range
from app.domain.values.text_rules import is_storable
from app.services.authorization.register import building_block

MAX_VALUES = 1000
MAX_SEARCH_LENGTH = 1000

MAX_CONDITIONS = 100
MAX_DEPTH = 5

Bound = TypeVar("Bound", int, datetime)
Filter = TypeVar("Filter")


@dataclass(frozen=True, slots=True)
class Where(Generic[Filter]):
    """Conditions of a list: those of ``filter``, all of ``every``, and one of ``some`` if any.

    A filter is a dataclass whose tuples are values to compare with.
    """

    filter: Filter
    every: tuple["Where[Filter]", ...] = ()
    some: tuple["Where[Filter]", ...] = ()


@building_block
def is_reached(actor: Actor, channel_id: SQLColumnExpression[int]) -> ColumnElement[bool]:
    """Return the condition that ``actor``, and the viewer of a preview, reach that channel."""
    conditions = [
        channel_id.in_(one.channel_ids)
        for one in (actor, actor.viewer)
        if one.channel_ids is not None
    ]
    return and_(true(), *conditions)


@building_block
def nested_condition(
    where: Where[Filter], conditions_of: Callable[[Filter], Iterable[ColumnElement[bool]]]
) -> ColumnElement[bool]:
    """Return the condition that ``where`` means; ``conditions_of`` returns those of a filter.

    Refuses GRAPHQL_ERROR on ``where`` for more conditions and values than one statement can have.
    """
    filters = list(_filters_in(where))
    values = sum(map(_count_values, filters))
    if len(filters) > MAX_CONDITIONS or values > MAX_VALUES:
        raise _too_much()
    return _nested(where, conditions_of)


def _filters_in(where: Where[Filter], depth: int = 0) -> Iterator[Filter]:
    if depth > MAX_DEPTH:
        raise _too_much()
    yield where.filter
    for part in (*where.every, *where.some):
        yield from _filters_in(part, depth + 1)


def _count_values(filter_: Any) -> int:
    return sum(_size(getattr(filter_, field.name)) for field in fields(filter_))


def _size(value: object) -> int:
    """Return how many values tuples hold, at any depth."""
    if isinstance(value, tuple):
        return len(value) + sum(map(_size, value))
    return 0


def _nested(
    where: Where[Filter], conditions_of: Callable[[Filter], Iterable[ColumnElement[bool]]]
) -> ColumnElement[bool]:
    conditions = [*conditions_of(where.filter)]
    conditions += (_nested(part, conditions_of) for part in where.every)
    if where.some:
        conditions.append(or_(*(_nested(part, conditions_of) for part in where.some)))
    return and_(true(), *conditions)


def _too_much() -> Refused:
    message = (
        "Use at most {max_conditions} conditions, nested at most {max_depth} deep, with at most "
        "{max_values} values."
    )
    values = {"max_conditions": MAX_CONDITIONS, "max_depth": MAX_DEPTH, "max_values": MAX_VALUES}
    return Refused(Problem("GRAPHQL_ERROR", message, "where", values=values))


@building_block
def in_range(
    column: SQLColumnExpression[Bound], bounds: Range[Bound]
) -> Iterator[ColumnElement[bool]]:
    """Return the conditions for values of ``column`` within ``bounds``."""
    if bounds.gte is not None:
        yield column >= bounds.gte
    if bounds.lte is not None:
        yield column <= bounds.lte


@building_block
def limit_values(values: Sequence[str], field: str) -> Sequence[str]:
    """``values``, unless they are more than one statement can look for; refused on ``field``."""
    if len(values) > MAX_VALUES:
        message = "Use at most {max_values} {field}; this has {count}."
        counts = {"max_values": MAX_VALUES, "field": field, "count": len(values)}
        raise Refused(Problem("GRAPHQL_ERROR", message, field, values=counts))
    return values


@building_block
def is_searchable(search: str) -> bool:
    """Whether anything stored can hold ``search``: not what no database takes, nor a giant."""
    return len(search) <= MAX_SEARCH_LENGTH and is_storable(search)


_ESCAPE = "/"


class _ContainsText(FunctionElement[bool]):
    """``column`` and the pattern that it has to match."""

    inherit_cache = True
    type = Boolean()


@compiles(_ContainsText)
def _ignoring_case(element: _ContainsText, compiler: SQLCompiler, **named: Any) -> str:
    column, pattern = element.clauses
    return compiler.process(column.ilike(pattern, escape=_ESCAPE), **named)


@compiles(_ContainsText, "sqlite")
def _compile_for_sqlite(element: _ContainsText, compiler: SQLCompiler, **named: Any) -> str:
    # Its LIKE knows no case, and is thrice as quick without a call of lower() for every row.
    column, pattern = element.clauses
    return compiler.process(column.like(pattern, escape=_ESCAPE), **named)


@building_block
def can_match(text: str, max_length: int, field: str, *values: str) -> bool:
    """Return whether a list can have what is searched for: ``text`` and the filter's ``values``.

    Refuses INVALID on ``field`` for a text longer than ``max_length``.
    """
    if len(text) > max_length:
        message = "Use at most {max_text_length} characters."
        raise Refused(Problem("INVALID", message, field, values={"max_text_length": max_length}))
    return is_storable("".join((text, *values)))


@building_block
def contains_text(column: ColumnOperators, text: str) -> ColumnElement[bool]:
    """Whether ``column`` contains ``text``, ignoring case."""
    for sign in (_ESCAPE, "%", "_"):
        text = text.replace(sign, _ESCAPE + sign)
    return _ContainsText(column, literal(f"%{text}%"))


class _WithoutIndex(FunctionElement[str]):
    """A column of texts."""

    inherit_cache = True
    type = String()


@compiles(_WithoutIndex)
def _compile_default(element: _WithoutIndex, compiler: SQLCompiler, **named: Any) -> str:
    (column,) = element.clauses
    return compiler.process(column, **named)


@compiles(_WithoutIndex, "sqlite")
def _with_a_plus(element: _WithoutIndex, compiler: SQLCompiler, **named: Any) -> str:
    (column,) = element.clauses
    return f"+{compiler.process(column, **named)}"


@building_block
def without_index(column: InstrumentedAttribute[str]) -> ColumnElement[str]:
    """``column``, to be compared in rows that something else has found."""
    return _WithoutIndex(column)


@building_block
def is_due(
    moment: InstrumentedAttribute[datetime | None], now: datetime | BindParameter[datetime]
) -> ColumnElement[bool]:
    """Whether there is a ``moment`` and it has come.

    That there is one follows from the comparison. But a plan of PostgreSQL that doesn't have
    ``now`` takes a third of all rows for due otherwise, and reads the table from its beginning.
    """
    return and_(moment.is_not(None), moment <= now)
