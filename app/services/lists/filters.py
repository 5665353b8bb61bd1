"""Conditions of lists: ranges, keys, substrings, and hints to the right index.

SQLite and PostgreSQL compile substrings and hints differently. PostgreSQL has counted what columns
hold; SQLite has not, and takes one index for as good as another
(https://www.sqlite.org/optoverview.html, where a unary + disqualifies a term).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    BindParameter,
    Boolean,
    ColumnElement,
    FunctionElement,
    String,
    and_,
    literal,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnOperators, SQLColumnExpression

from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.pages import Range
from app.domain.values.text_rules import is_storable
from app.services.authorization.register import building_block

MAX_VALUES = 1000
MAX_SEARCH_LENGTH = 1000

Bound = TypeVar("Bound", int, datetime)


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
def keys_of(ids: Sequence[str], type_name: str) -> list[int]:
    """Return the keys in global ids of ``type_name``; refuses too many, and other ids."""
    return [key_of(id_, type_name, field="ids") for id_ in limit_values(ids, "ids")]


@building_block
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
