"""Searching a column for a piece of text, in whatever case, as each database does it quickest."""

from typing import Any

from sqlalchemy import Boolean, ColumnElement, FunctionElement, literal
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ColumnOperators

from app.domain.values.errors import Problem, Refused
from app.domain.values.text_rules import is_storable
from app.services.authorization.register import part

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
def _compile_default(element: _ContainsText, compiler: SQLCompiler, **named: Any) -> str:
    # Its LIKE knows no case, and is thrice as quick without a call of lower() for every row.
    column, pattern = element.clauses
    return compiler.process(column.like(pattern, escape=_ESCAPE), **named)


@part
def can_match(text: str, max_length: int, field: str, *values: str) -> bool:
    """Return whether a list can have what is searched for: ``text`` and the filter's ``values``.

    Refuses INVALID on ``field`` for a text longer than ``max_length``.
    """
    if len(text) > max_length:
        message = "Use at most {max_text_length} characters."
        raise Refused(Problem("INVALID", message, field, values={"max_text_length": max_length}))
    return is_storable("".join((text, *values)))


@part
def contains_text(column: ColumnOperators, text: str) -> ColumnElement[bool]:
    """Whether ``column`` contains ``text``, ignoring case."""
    for sign in (_ESCAPE, "%", "_"):
        text = text.replace(sign, _ESCAPE + sign)
    return _ContainsText(column, literal(f"%{text}%"))
