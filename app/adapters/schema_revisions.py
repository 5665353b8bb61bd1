"""The revision of a database and the one this code needs, without Alembic.

Every start needs both, and loading Alembic takes longer than the answer.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, inspect, make_url, text
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from app.adapters.database_errors import translate_errors
from app.adapters.private_files import make_private_database

SCRIPTS = Path(__file__).parent.parent.parent / "migrations"

_KEPT_IN = "alembic_version"
_AT = text("SELECT version_num FROM alembic_version")


class SchemaRevisions:
    """The half of the schema port that reads, for the database at ``url``."""

    def __init__(self, url: str) -> None:
        self.url = url

    def current(self) -> str | None:
        with translate_errors(), connection_to(self.url) as connection:
            if not inspect(connection).has_table(_KEPT_IN):
                return None
            revision: str | None = connection.scalar(_AT)
        return revision

    def newest(self) -> str | None:
        """The revision that this code needs: each file's name is numbered."""
        return max((file.stem for file in (SCRIPTS / "versions").glob("[0-9]*.py")), default=None)


@contextmanager
def connection_to(url: str) -> Iterator[Connection]:
    """Open a connection in its own transaction; creates a missing SQLite file."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    elif parsed.database and parsed.database != ":memory:":
        make_private_database(Path(parsed.database))
    engine = create_engine(parsed, poolclass=NullPool)
    if parsed.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", _begin)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def _leave_transactions_to_us(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver would commit before each change of a table: a migration that fails half way must
    # leave nothing behind.
    connection.isolation_level = None


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
