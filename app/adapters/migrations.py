"""The database's schema, brought up to date by Alembic."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, make_url
from sqlalchemy.pool import NullPool

_SCRIPTS = Path(__file__).parent.parent.parent / "migrations"


def upgrade(url: str) -> None:
    """Bring the database at ``url`` to the newest revision; safe to repeat."""
    with _connection(url) as connection:
        command.upgrade(_config(connection), "head")


def current(url: str) -> str | None:
    """The revision that the database at ``url`` is at, ``None`` for an empty one."""
    with _connection(url) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest() -> str | None:
    """The revision that this code needs."""
    return ScriptDirectory(str(_SCRIPTS)).get_current_head()


def make_revision(url: str, message: str, name: str) -> None:
    """Write the migration from the database at ``url`` to what the records say (development)."""
    with _connection(url) as connection:
        command.revision(_config(connection), message, autogenerate=True, rev_id=name)


@contextmanager
def _connection(url: str) -> Iterator[Connection]:
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    elif parsed.database:
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, poolclass=NullPool)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS))
    config.set_main_option("file_template", "%%(rev)s")
    config.attributes["connection"] = connection
    return config
