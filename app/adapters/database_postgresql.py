"""Engines on PostgreSQL."""

import time

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

_IDLE_SINCE = "idle since"
_CONNECT_SECONDS = 5
_PING_REPLICA_AFTER = 1.0
_WRITE_LOCK_SECONDS = 15
_READ_LOCK_SECONDS = 2
"""Only changes of the tables themselves make a read wait."""

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

    def note(_connection: DBAPIConnection | None, entry: ConnectionPoolEntry) -> None:
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

    event.listen(engine, "checkin", note)
    event.listen(engine, "checkout", ask)
