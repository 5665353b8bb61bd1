"""What a database's error means to an operator, where it means anything to them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy.exc import DBAPIError

from app.domain.faults import Fault, SchemaBehind, Unreachable

_UNDEFINED = (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)


@contextmanager
def told_faults() -> Iterator[None]:
    """Raise ``Unreachable`` and ``SchemaBehind`` for what the drivers call many things."""
    try:
        yield
    except (DBAPIError, sqlite3.Error, psycopg.Error) as error:
        fault = _fault(error.orig if isinstance(error, DBAPIError) else error)
        if fault is None:
            raise
        raise fault from error


def _fault(error: BaseException | None) -> Fault | None:
    # The drivers' own words name host, port and file, never the password.
    message = " ".join(str(error).split())
    if isinstance(error, _UNDEFINED):
        return SchemaBehind()
    if isinstance(error, sqlite3.OperationalError):
        if message.startswith(("no such table", "no such column")):
            return SchemaBehind()
        return Unreachable("The database", message) if "unable to open" in message else None
    # What a server answers has a state; without one, there was no answer.
    if isinstance(error, psycopg.OperationalError) and error.sqlstate is None:
        return Unreachable("The database", message)
    return None
