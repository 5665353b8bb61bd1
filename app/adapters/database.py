"""SQLite and PostgreSQL behind the database port."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import (
    Connection,
    Dialect,
    Engine,
    Select,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.engine import URL
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

_BUSY_SECONDS = 15


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement as the driver takes it.

    ``constants`` are the values that the statement itself holds; ``names`` is the order of
    positional parameters, ``None`` where the driver takes them by name.
    """

    text: str
    constants: Mapping[str, object]
    names: tuple[str, ...] | None

    def arguments(
        self, parameters: Mapping[str, object]
    ) -> Sequence[object] | Mapping[str, object]:
        values = {**self.constants, **parameters}
        return values if self.names is None else tuple(values[name] for name in self.names)


class SqlDatabase:
    """Two engines on one database: one writes in transactions, one reads by single statements.

    Single-statement reads run in autocommit, which saves PostgreSQL two round trips.
    """

    def __init__(self, writing: Engine, reading: Engine) -> None:
        self._writing = writing
        self._reading = reading
        self._dialect: Dialect = reading.dialect
        self._compiled: dict[int, tuple[Select[*tuple[object, ...]], _Compiled]] = {}
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        with Session(self._writing, expire_on_commit=False) as session, session.begin():
            self._local.depth = getattr(self._local, "depth", 0) + 1
            try:
                yield session
                session.flush()
            finally:
                self._local.depth -= 1

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with Session(self._reading, expire_on_commit=False) as session:
            yield session

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[tuple[object, ...]]:
        compiled = self._compile(statement)
        connection = self._reading.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(compiled.text, compiled.arguments(parameters))
            rows: Sequence[tuple[object, ...]] = cursor.fetchall()
            cursor.close()
        finally:
            connection.close()
        return rows

    @property
    def in_transaction(self) -> bool:
        return getattr(self._local, "depth", 0) > 0

    def close(self) -> None:
        """Give every connection back to the system."""
        self._writing.dispose()
        self._reading.dispose()

    def _compile(self, statement: Select[*tuple[object, ...]]) -> _Compiled:
        # Keyed by identity: statements are constants, and hashing one costs more than running it.
        known = self._compiled.get(id(statement))
        if known is not None:
            return known[1]
        compiled = statement.compile(dialect=self._dialect)
        given_later = {name: None for name, bind in compiled.binds.items() if bind.required}
        # Some constants (a separator, say) stand in the text itself, which is complete only in
        # the expanded state.
        expanded = compiled.construct_expanded_state(given_later)
        made = _Compiled(
            text=expanded.statement,
            constants={
                name: value
                for name, value in expanded.parameters.items()
                if name not in given_later
            },
            names=None if expanded.positiontup is None else tuple(expanded.positiontup),
        )
        self._compiled[id(statement)] = (statement, made)
        return made


def connect_database(url: str, *, pool_size: int = 8) -> SqlDatabase:
    """The database at ``url``; connects when first asked for something."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    parsed = parsed.set(drivername="postgresql+psycopg")
    pool = {"pool_size": pool_size, "max_overflow": pool_size, "pool_pre_ping": True}
    return SqlDatabase(
        create_engine(parsed, **pool),
        create_engine(parsed, isolation_level="AUTOCOMMIT", **pool),
    )


def _sqlite(url: URL) -> SqlDatabase:
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    arguments = {"check_same_thread": False, "timeout": _BUSY_SECONDS}
    writing = create_engine(url, connect_args=arguments)
    reading = create_engine(url, connect_args=arguments)
    for engine in (writing, reading):
        event.listen(engine, "connect", _prepare_sqlite)
    event.listen(writing, "begin", _begin_immediate)
    return SqlDatabase(writing, reading)


def _prepare_sqlite(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
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
