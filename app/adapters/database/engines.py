"""Engines on PostgreSQL and SQLite, spans of their statements, and the schema's revision.

A statement's parameters, which can be personal, stay out of its span. Every start needs the
database's revision and the one this code needs, and loading Alembic takes longer than the answer.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine import URL, ExceptionContext, ExecutionContext
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, PoolProxiedConnection

from app.adapters.database.outages import translate_errors
from app.adapters.system import make_private_database, make_private_folder
from app.domain.values.installation import DatabaseUnavailable, SchemaAhead, SchemaBehind
from app.ports.monitoring import Attributes, EndSpan, SpanKind, Traces

_IDLE_SINCE = "idle since"
_CONNECT_SECONDS = 5
_PING_REPLICA_AFTER = 1.0
_WRITE_LOCK_SECONDS = 15
_READ_LOCK_SECONDS = 2
"""Only changes of the tables themselves make a read wait."""

_READING: dict[str, Any] = {"pool_reset_on_return": None}
"""Statements that commit by themselves leave nothing that a returned connection must roll back."""

_DEADLINES = {
    "connect_timeout": 2,
    "tcp_user_timeout": 3000,
    "keepalives_idle": 2,
    "keepalives_interval": 1,
    "keepalives_count": 3,
}
"""When the connection to a replica counts as broken: soon, because the primary answers, too."""


def postgresql_engines(
    url: URL, *, connections: int, transaction_pooling: bool, ping_after: float
) -> tuple[Engine, Engine]:
    """One engine for transactions, and one whose statements commit by themselves.

    Each opens at most half of ``connections`` and keeps them: a new one takes PostgreSQL longer
    than most requests. With ``transaction_pooling`` a connection isn't one session of the server
    (PgBouncer).
    """
    url = url.set(drivername="postgresql+psycopg")
    size = max(connections // 4, 1) * 2
    # What a statement was run with, a password's hash say, stays out of errors and so of logs.
    pool = {"pool_size": size, "max_overflow": 0, "hide_parameters": True}
    arguments = _pooled_arguments if transaction_pooling else _session_arguments
    writing = create_engine(url, connect_args=arguments(url, _WRITE_LOCK_SECONDS), **pool)
    reading = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        connect_args=arguments(url, _READ_LOCK_SECONDS),
        **pool,
        **_READING,
    )
    for engine in (writing, reading):
        _ping_after(engine, ping_after)
    return writing, reading


def replica_engine(url: URL, *, connections: int, transaction_pooling: bool) -> Engine:
    """Return an engine for single statements on a replica, with half of ``connections``.

    A statement waits for a connection for a second at most.
    """
    url = url.set(drivername="postgresql+psycopg")
    size = max(connections // 4, 1) * 2
    arguments = _pooled_arguments if transaction_pooling else _session_arguments
    given = arguments(url, _READ_LOCK_SECONDS)
    deadlines = {name: value for name, value in _DEADLINES.items() if name not in url.query}
    engine = create_engine(
        url,
        isolation_level="AUTOCOMMIT",
        connect_args={**given, **deadlines},
        pool_size=size,
        max_overflow=0,
        pool_timeout=1,
        hide_parameters=True,
        **_READING,
    )
    _ping_after(engine, _PING_REPLICA_AFTER)
    return engine


def _pooled_arguments(url: URL, _lock_seconds: int) -> dict[str, object]:
    """A deadline for connecting; what is set or prepared on one server isn't there on another."""
    deadline = {} if "connect_timeout" in url.query else {"connect_timeout": _CONNECT_SECONDS}
    return {"prepare_threshold": None, **deadline}


def _session_arguments(url: URL, lock_seconds: int) -> dict[str, object]:
    """Deadlines for connecting and for waiting for locks, unless the URL sets its own.

    In UTC: the driver can't read the last moment of the calendar in a time zone ahead of it.
    """
    options = {
        "connect_timeout": _CONNECT_SECONDS,
        "options": f"-c lock_timeout={lock_seconds * 1000} -c TimeZone=UTC",
    }
    return {name: value for name, value in options.items() if name not in url.query}


def _ping_after(engine: Engine, seconds: float) -> None:
    """Replace a connection that broke while it was idle for ``seconds``.

    Asking before every use would cost the hot path a round trip; under load, none is asked.
    """

    def record_idle(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
        entry.info[_IDLE_SINCE] = time.monotonic()

    def ask(
        connection: DBAPIConnection, entry: ConnectionPoolEntry, _proxy: PoolProxiedConnection
    ) -> None:
        since = entry.info.get(_IDLE_SINCE)
        if since is None or time.monotonic() - since < seconds:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError from error

    event.listen(engine, "checkin", record_idle)
    event.listen(engine, "checkout", ask)


_BUSY_SECONDS = 15
"""How long a writer waits for another before it gives up."""


def sqlite_engines(url: URL) -> tuple[Engine, Engine]:
    """One engine for transactions, and one whose statements commit by themselves.

    Only this account can open the file, which the first connection creates with its folder;
    connecting raises ``DatabaseUnavailable`` when the folder can't be created.
    """
    is_file = sqlite_file(url) is not None
    arguments = {"check_same_thread": False, "timeout": _BUSY_SECONDS}
    # What a statement was run with, a password's hash say, stays out of errors and so of logs.
    writing, reading = (
        create_engine(url, connect_args=arguments, hide_parameters=True, **options)
        for options in ({}, _READING)
    )
    for engine in (writing, reading):
        event.listen(engine, "connect", _prepare)
        if is_file:
            event.listen(engine, "do_connect", _keep_private)
    event.listen(writing, "begin", _begin_immediate)
    return writing, reading


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite database, ``None`` for other databases."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(url.database or "")


def make_database_folder(folder: Path) -> None:
    """Create the folder of a SQLite file; raises ``DatabaseUnavailable`` if it can't be."""
    try:
        make_private_folder(folder)
    except OSError as error:
        reason = f"its folder {folder} cannot be made: {error.strerror}"
        raise DatabaseUnavailable(reason) from error


def _keep_private(
    _dialect: object, _record: object, arguments: list[str], _options: object
) -> None:
    file = Path(arguments[0])
    make_database_folder(file.parent)
    # What stands in the way of that, opening the file tells better.
    with suppress(OSError):
        make_private_database(file)


def _prepare(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transactions would begin late and read-only first; we begin ourselves.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        f"busy_timeout={_BUSY_SECONDS * 1000}",
        "foreign_keys=ON",
        "cache_size=-16000",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # Taking the write lock at once: a transaction that reads first and then writes could
    # otherwise fail half way, when another has written in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


_MAX_TEXT = 1000
_OPEN = "_end_latchkey_span"


def attributes_of(engine: Engine, statement: str) -> Attributes:
    """Return the attributes of a statement, by OpenTelemetry's conventions."""
    return {"db.system.name": engine.dialect.name, "db.query.text": statement[:_MAX_TEXT]}


def trace_statements(engine: Engine, traces: Traces) -> None:
    """Make a span of every statement that ``engine`` runs."""

    def begin(
        _connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: Any
    ) -> None:
        ended = traces.begin("SQL", SpanKind.CLIENT, attributes_of(engine, statement))
        setattr(context, _OPEN, ended)

    def end(
        _connection: Any,
        _cursor: Any,
        _statement: str,
        _values: Any,
        context: ExecutionContext | None,
        _many: Any,
    ) -> None:
        _leave(context, failed=False)

    def fail(failed: ExceptionContext) -> None:
        _leave(failed.execution_context, failed=True)

    event.listen(engine, "before_cursor_execute", begin)
    event.listen(engine, "after_cursor_execute", end)
    event.listen(engine, "handle_error", fail)


def _leave(context: ExecutionContext | None, *, failed: bool) -> None:
    ended: EndSpan | None = getattr(context, _OPEN, None)
    if ended is not None:
        setattr(context, _OPEN, None)
        ended(failed=failed)


SCRIPTS = Path(__file__).parents[3] / "migrations"

_KEPT_IN = "alembic_version"
_LOCK_SECONDS = 15.0

SQLITE_BEGIN = "sqlite_begin"
"""The execution option that says how transactions of a connection to SQLite begin."""

_AT = text("SELECT version_num FROM alembic_version")


class SchemaRevisions:
    """The half of the schema port that reads, for the database at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url

    def has_database(self) -> bool:
        file = sqlite_file(make_url(self.url))
        return file is None or file.exists()

    def current(self) -> str | None:
        with translate_errors(), connection_to(self.url) as connection:
            if not inspect(connection).has_table(_KEPT_IN):
                return None
            revision: str | None = connection.scalar(_AT)
        return revision

    def newest(self) -> str | None:
        """Return the revision that this code needs: each file's name is numbered."""
        return max(self._revisions(), default=None)

    def check(self) -> None:
        current, newest = self.current(), self.newest()
        self.check_not_ahead(current)
        if current != newest:
            raise SchemaBehind(current, newest)

    def check_not_ahead(self, current: str | None) -> None:
        """Raise ``SchemaAhead`` for a revision that this code has no migration to."""
        newest = self.newest() or ""
        if current is not None and current not in self._revisions() and current[:4] >= newest[:4]:
            raise SchemaAhead(current, newest)

    def _revisions(self) -> set[str]:
        return {file.stem for file in (SCRIPTS / "versions").glob("[0-9]*.py")}


@contextmanager
def connection_to(url: str) -> Iterator[Connection]:
    """Open a connection in its own transaction; creates a missing SQLite file."""
    with migration_engine(url, lock_seconds=None) as engine, engine.begin() as connection:
        yield connection


@contextmanager
def migration_engine(url: str, *, lock_seconds: float | None = _LOCK_SECONDS) -> Iterator[Engine]:
    """Open an engine without a pool; creates a missing SQLite file.

    A statement waits for another's lock for ``lock_seconds``: on PostgreSQL, requests queue behind
    a change of a table that waits. ``None`` leaves that to the database, for reads through a
    pooler, which accepts no limit.
    """
    parsed = make_url(url)
    arguments: dict[str, object] = {}
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
        arguments["prepare_threshold"] = None  # a pooler would not find them again
        if lock_seconds is not None and "options" not in parsed.query:
            arguments["options"] = f"-c lock_timeout={lock_seconds * 1000:.0f}"
    else:
        arguments["timeout"] = lock_seconds or _LOCK_SECONDS
        file = sqlite_file(parsed)
        if file is not None:
            make_database_folder(file.parent)
            make_private_database(file)
    engine = create_engine(parsed, poolclass=NullPool, connect_args=arguments)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", _begin)
    yield engine
    engine.dispose()


def _leave_transactions_to_us(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver would commit before each change of a table: a migration that fails half way must
    # leave nothing behind.
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    connection.exec_driver_sql(options.get(SQLITE_BEGIN, "BEGIN"))
