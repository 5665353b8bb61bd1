"""Engines on PostgreSQL."""

import time

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

_IDLE_SINCE = "idle since"


def postgresql_engines(url: URL, *, pool_size: int, ping_after: float) -> tuple[Engine, Engine]:
    """One engine for transactions, and one whose statements commit by themselves."""
    url = url.set(drivername="postgresql+psycopg")
    # What a statement was run with, a password's hash say, stays out of errors and so of logs.
    pool = {"pool_size": pool_size, "max_overflow": pool_size, "hide_parameters": True}
    writing = create_engine(url, **pool)
    reading = create_engine(url, isolation_level="AUTOCOMMIT", **pool)
    for engine in (writing, reading):
        _ping_after(engine, ping_after)
    return writing, reading


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
