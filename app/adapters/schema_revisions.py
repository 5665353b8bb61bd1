"""The revision of a database and the one this code needs, without Alembic.

Every start needs both, and loading Alembic takes longer than the answer.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from app.adapters.database_errors import translate_errors
from app.adapters.database_sqlite import make_database_folder, sqlite_file
from app.adapters.private_files import make_private_database
from app.domain.values.installation import SchemaAhead, SchemaBehind

SCRIPTS = Path(__file__).parent.parent.parent / "migrations"

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
        """The revision that this code needs: each file's name is numbered."""
        return max(self._known(), default=None)

    def check(self) -> None:
        current, newest = self.current(), self.newest()
        self.check_not_ahead(current)
        if current != newest:
            raise SchemaBehind(current, newest)

    def check_not_ahead(self, current: str | None) -> None:
        """Raise ``SchemaAhead`` for a revision that this code has no migration to."""
        newest = self.newest() or ""
        if current is not None and current not in self._known() and current[:4] >= newest[:4]:
            raise SchemaAhead(current, newest)

    def _known(self) -> set[str]:
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
