"""What a database's error means to an operator, where it means anything to them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from app.domain.faults import Fault, SchemaBehind, Unreachable

_BEHIND = ("no such table", "no such column")
_UNREADABLE = ("unable to open", "file is not a database", "disk image is malformed")
"""What SQLite says of a file that it cannot work with."""

_UNDEFINED = {"42P01", "42703"}
"""PostgreSQL's states for a table and a column that it does not know."""


@contextmanager
def told_faults(driver_error: type[Exception] = DBAPIError) -> Iterator[None]:
    """Raise ``Unreachable`` and ``SchemaBehind`` for what the drivers call many things.

    ``driver_error`` is what a driver raises where SQLAlchemy is not in between.
    """
    try:
        yield
    except (DBAPIError, driver_error) as error:
        fault = _fault(error.orig if isinstance(error, DBAPIError) else error)
        if fault is None:
            raise
        raise fault from error


def _fault(error: BaseException | None) -> Fault | None:
    # The drivers' own words name host, port and file, never the password.
    message = " ".join(str(error).split())
    if isinstance(error, sqlite3.Error):
        if message.startswith(_BEHIND) or " has no column named " in message:
            return SchemaBehind()
        unreadable = any(words in message for words in _UNREADABLE)
        return Unreachable("The database", message) if unreadable else None
    # Not by the classes of psycopg: on SQLite, nobody shall wait for it to load.
    state = getattr(error, "sqlstate", "")
    if state in _UNDEFINED:
        return SchemaBehind()
    # What a server answers has a state; without one, there was no answer.
    gone = state is None and type(error).__name__ == "OperationalError"
    return Unreachable("The database", message) if gone else None
