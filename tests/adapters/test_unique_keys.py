"""The migration to keys that are never given again keeps every row, and changes nothing else."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, Inspector, MetaData, Table, create_engine, inspect, text
from sqlalchemy.engine.interfaces import ReflectedIndex
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from app.adapters.database import engines, migrations
from app.adapters.keys.encryption import AesEncryption
from app.models.record import RETIRED_COLUMNS, complete_metadata
from tests.fakes.keys import SECRET

# In one worker, where they share the migrated database.
pytestmark = [pytest.mark.first, pytest.mark.xdist_group("unique keys")]

BEFORE, AFTER = "0022_link_answers", "0023_unique_keys"
ONE_ROW = ("shop", "worker_pulse")
ENCRYPT = AesEncryption(SECRET).encrypt
DELETED = 900
"""The key of a user that only the audit log still knows."""


@pytest.fixture(scope="module")
def former(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database at the former revision, with two rows in every table."""
    file = tmp_path_factory.mktemp("former") / "shop.sqlite3"
    with engines.connection_to(f"sqlite:///{file}") as connection:
        upgrade(connection, BEFORE)
        fill(connection)
    return file


@pytest.fixture(scope="module")
def migrated(former: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, one revision later."""
    file = Path(shutil.copy(former, tmp_path_factory.mktemp("migrated") / "shop.sqlite3"))
    with engines.connection_to(f"sqlite:///{file}") as connection:
        upgrade(connection, AFTER)
    return file


@pytest.fixture(scope="module")
def newest(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, at the newest revision."""
    file = Path(shutil.copy(migrated, tmp_path_factory.mktemp("newest") / "shop.sqlite3"))
    migrations.upgrade(f"sqlite:///{file}", encrypt=ENCRYPT)
    return file


@contextmanager
def opened(file: Path) -> Iterator[Engine]:
    made = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    yield made
    made.dispose()


@pytest.fixture
def url(former: Path, tmp_path: Path) -> str:
    return f"sqlite:///{shutil.copy(former, tmp_path / 'shop.sqlite3')}"


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = create_engine(url, poolclass=NullPool)
    yield made
    made.dispose()


def upgrade(connection: Connection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(engines.SCRIPTS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def fill(connection: Connection) -> None:
    metadata = MetaData()
    metadata.reflect(connection)
    for table in metadata.sorted_tables:
        if table.name not in ("alembic_version", *ONE_ROW):
            connection.execute(table.delete())
            connection.execute(table.insert(), [row_of(table, number) for number in (1, 2)])
    connection.execute(
        text("UPDATE audit SET subject_type = 'User', subject_id = :key"), {"key": DELETED}
    )


def row_of(table: Table, number: int) -> dict[str, object]:
    """A row with every column set, which refers to the row with its number elsewhere."""
    return {column.name: VALUES[column.type.python_type](number) for column in table.columns}


VALUES: dict[type, Callable[[int], object]] = {
    int: int,
    float: float,
    str: "text {}".format,
    bytes: lambda number: b"%d" % number,
    bool: lambda number: number == 1,
    datetime: lambda number: datetime(2026, 3, number, tzinfo=UTC),
    object: lambda number: {"number": number},
}


def everything(engine: Engine) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table."""
    with engine.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(table.select().order_by(*table.primary_key))
            ]
            for table in metadata.sorted_tables
            if table.name != "alembic_version"
        }


def dump(engine: Engine) -> list[str]:
    """Statements that make the same tables and rows."""
    with closing(engine.raw_connection()) as pooled:
        return [*cast("sqlite3.Connection", pooled.driver_connection).iterdump()]


def shape(engine: Engine) -> dict[str, object]:
    """What SQLite knows of every table, but for how its text is set and the name of its key."""
    inspector = inspect(engine)
    return {name: shape_of(inspector, name) for name in sorted(inspector.get_table_names())}


def shape_of(inspector: Inspector, table: str) -> dict[str, object]:
    parts = {
        "columns": [
            {**column, "type": str(column["type"]), "default": plain(column["default"])}
            for column in inspector.get_columns(table)
            if (table, column["name"]) not in RETIRED_COLUMNS
        ],
        "key": inspector.get_pk_constraint(table)["constrained_columns"],
        "references": inspector.get_foreign_keys(table),
        "unique": inspector.get_unique_constraints(table),
        "checks": inspector.get_check_constraints(table),
        "indexes": [
            {**index, "dialect_options": {}, "where": where(index)}
            for index in inspector.get_indexes(table)
        ],
    }
    return {
        name: sorted(part, key=str) if isinstance(part, list) else part
        for name, part in parts.items()
    }


def where(index: ReflectedIndex) -> str:
    return str(index.get("dialect_options", {}).get("sqlite_where"))


def plain(default: str | None) -> str | None:
    return None if default is None else default.strip("()")


def numbering(engine: Engine) -> set[str]:
    """The tables that never give a key again."""
    with engine.connect() as connection:
        names = connection.execute(
            text("SELECT name FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%'")
        )
        return set(names.scalars())


def test_migration_keeps_every_row(former: Path, migrated: Path) -> None:
    with opened(former) as old, opened(migrated) as new:
        before = everything(old)
        assert all(len(rows) == 2 for name, rows in before.items() if name not in ONE_ROW)
        assert everything(new) == before
        with new.connect() as connection:
            assert connection.execute(text("PRAGMA foreign_key_check")).all() == []
            assert connection.scalar(text("PRAGMA integrity_check")) == "ok"


def test_migration_changes_nothing_but_the_numbering(former: Path, migrated: Path) -> None:
    with opened(former) as old, opened(migrated) as new:
        assert shape(new) == shape(old)


def test_migrated_tables_are_those_of_a_fresh_database(newest: Path, tmp_path: Path) -> None:
    with opened(newest) as engine, opened(tmp_path / "fresh.sqlite3") as fresh:
        complete_metadata().create_all(fresh)
        found, wanted = shape(engine), shape(fresh)
        assert found | {"alembic_version": None} == wanted | {"alembic_version": None}
        assert numbering(engine) == numbering(fresh)


def test_numbered_tables_never_reuse_a_key() -> None:
    """A new table can't forget it: the migration's own test compares with these."""
    numbered = {
        table.name
        for table in complete_metadata().tables.values()
        if table.autoincrement_column is not None
    }
    marked = {
        table.name
        for table in complete_metadata().tables.values()
        if table.dialect_options["sqlite"]["autoincrement"]
    }
    assert marked == numbered
    assert {"users", "apps", "sessions", "audit", "webhooks", "orders"} <= numbered


def test_new_keys_are_above_every_known_key(newest: Path) -> None:
    with opened(newest) as engine, engine.begin() as connection:
        sequences = connection.execute(text("SELECT name, seq FROM sqlite_sequence"))
        above = {name: key for name, key in sequences if key != 2}
    # Migrations add the first channel and the client of `flask login`.
    assert above == {"users": DELETED, "channels": 1, "oauth_clients": 1}


def test_failed_migration_changes_nothing(url: str, engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE _alembic_tmp_users (id INTEGER)"))
    before = dump(engine)
    with pytest.raises(OperationalError, match="_alembic_tmp_users"):
        migrations.upgrade(url, encrypt=ENCRYPT)
    assert dump(engine) == before
    revisions = engines.SchemaRevisions(url)
    assert revisions.current() == BEFORE

    with engine.begin() as connection:
        connection.execute(text("DROP TABLE _alembic_tmp_users"))
    with engines.connection_to(url) as connection:
        upgrade(connection, AFTER)
    assert revisions.current() == AFTER
