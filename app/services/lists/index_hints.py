"""Conditions that say more than they need to, so that a database reads the right index.

PostgreSQL has counted what columns hold. SQLite has not, and takes one index for as good as
another (https://www.sqlite.org/optoverview.html, where a unary + disqualifies a term).
"""

from datetime import datetime
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, FunctionElement, String, and_
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


@part
def is_due(
    moment: InstrumentedAttribute[datetime | None], now: datetime | BindParameter[datetime]
) -> ColumnElement[bool]:
    """Whether there is a ``moment`` and it has come.

    That there is one follows from the comparison. But a plan of PostgreSQL that doesn't have
    ``now`` takes a third of all rows for due otherwise, and reads the table from its beginning.
    """
    return and_(moment.is_not(None), moment <= now)
