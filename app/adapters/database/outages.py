"""Database errors that an operator can act on, and outages, logged at their begin and end."""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection

from app.domain.values.installation import DatabaseBusy, DatabaseUnavailable, Fault, SchemaBehind

_BEHIND = ("no such table", "no such column")
_UNREADABLE = (
    "unable to open",
    "file is not a database",
    "disk image is malformed",
    "disk I/O error",
    "disk is full",
)
"""What SQLite says of a file that it cannot work with."""

_LOCKED = ("database is locked", "database table is locked")

_UNDEFINED = {"42P01", "42703"}
"""PostgreSQL's states for a table and a column that it does not know."""

_AWAY = ("08", "57P", "53300")
"""Beginnings of its states for a connection that broke, a shutdown, and too many connections."""

_WAITED_TOO_LONG = "55P03"
_TOO_MANY_PARAMETERS = "number of parameters must be between"
"""What PostgreSQL's library reports for a statement with too many parameters."""


TRANSLATED = (DBAPIError, NoConnection, DatabaseUnavailable)
"""What ``fault_of`` knows of SQLAlchemy's errors, beside those of a driver without it."""


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise ``DatabaseUnavailable`` and ``SchemaBehind`` for what drivers call many things."""
    try:
        yield
    except TRANSLATED as error:
        fault = fault_of(error)
        if fault is None or fault is error:
            raise
        raise fault from error


def fault_of(error: Exception) -> Fault | None:
    """Return what an error of SQLAlchemy or of a driver means; ``None`` for a defect."""
    if isinstance(error, DatabaseUnavailable):
        return error
    if isinstance(error, NoConnection):
        return DatabaseBusy("all connections are in use")
    return _fault(error.orig if isinstance(error, DBAPIError) else error)


def _fault(error: BaseException | None) -> Fault | None:
    # The drivers' own words name host, port and file, never the password.
    message = " ".join(str(error).split())
    if isinstance(error, sqlite3.Error):
        return _sqlite_fault(message)
    # Not by the classes of psycopg: loading it would delay a start on SQLite.
    state = getattr(error, "sqlstate", "")
    # What a server answers has a state; without one, there was no answer.
    if state is None:
        gone = type(error).__name__ == "OperationalError" and _TOO_MANY_PARAMETERS not in message
        return DatabaseUnavailable(message) if gone else None
    return _postgresql_fault(state, message)


def _sqlite_fault(message: str) -> Fault | None:
    if message.startswith(_BEHIND) or " has no column named " in message:
        return SchemaBehind()
    if message.startswith(_LOCKED):
        return DatabaseBusy(message)
    unreadable = any(words in message for words in _UNREADABLE)
    return DatabaseUnavailable(message) if unreadable else None


def _postgresql_fault(state: str, message: str) -> Fault | None:
    if state in _UNDEFINED:
        return SchemaBehind()
    if state == _WAITED_TOO_LONG:
        return DatabaseBusy(message)
    return DatabaseUnavailable(message) if state.startswith(_AWAY) else None


_RETRY_SECONDS = 1.0
"""How long after a failed attempt no other one is made: connecting may take seconds to fail."""

# Not structlog: commands, which have no log, wait for no library that they don't use.
_log = logging.getLogger(__name__)


class Outage:
    """One kind of trouble with the database, as this process sees it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._tried = 0.0
        self._fault: DatabaseUnavailable | None = None

    @property
    def is_on(self) -> bool:
        return self._fault is not None

    def check(self) -> None:
        """Raise the fault again when the last attempt has only just failed."""
        with self._lock:
            now = time.monotonic()
            if self._fault is None or now - self._tried >= _RETRY_SECONDS:
                self._tried = now
                return
            reason = self._fault.reason
        raise DatabaseUnavailable(reason)

    def begin(self, fault: DatabaseUnavailable) -> None:
        """Note a failed attempt."""
        with self._lock:
            is_new = self._fault is None
            self._fault, self._tried = fault, time.monotonic()
        if is_new:
            _log.error("database.%s", self._name, extra={"reason": fault.reason})

    def end(self) -> None:
        """Note that an attempt has succeeded."""
        with self._lock:
            was_on, self._fault = self._fault is not None, None
        if was_on:
            _log.warning("database.%s_is_over", self._name)
