"""A column that no index is to be read for, where the database cannot know that better by itself.

PostgreSQL has counted what columns hold. SQLite has not, and takes one index for as good as
another (https://www.sqlite.org/optoverview.html, where a unary + disqualifies a term).
"""

from typing import Any

from sqlalchemy import ColumnElement, FunctionElement, String
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler

from app.services.authorization.register import part


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


@part
def without_index(column: InstrumentedAttribute[str]) -> ColumnElement[str]:
    """``column``, to be compared in rows that something else has found."""
    return _WithoutIndex(column)
