"""Databases of the shape that the platform's have, filled by tests."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb
from sqlalchemy import make_url

TABLES = Path(__file__).with_name("platform.sql")
JOINED = datetime(2023, 4, 5, 6, 7, 8, tzinfo=UTC)

_BLANKS: Mapping[str, object] = {
    "integer": 0,
    "boolean": False,
    "character varying": "",
    "text": "",
    "jsonb": Jsonb({}),
    "timestamp with time zone": JOINED,
    "ARRAY": [],
}
"""What a column that can't be NULL gets where a test says nothing."""


_CHANGES_ROWS = ("INSERT", "UPDATE", "DELETE")


@dataclass(slots=True)
class PlatformDatabase:
    """A database of the platform; ``url`` is for ``flask import platform --database``.

    The connection commits each statement. It stays open: connecting costs more than an insert.
    """

    url: str
    connection: psycopg.Connection
    _is_altered: bool = False
    _columns: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """Names and types of each table's columns that can't be NULL: slow to ask for."""

    def add(self, table: str, **values: object) -> None:
        """Insert a row; columns that aren't named get a blank value, NULL where it can be."""
        self._insert(table, values)

    def add_many(self, table: str, rows: list[dict[str, object]]) -> None:
        """Insert several rows in one transaction."""
        with self.connection.transaction():
            for row in rows:
                self._insert(table, row)

    def run(self, statement: str, *values: object) -> None:
        """Run one statement with ``%s`` for each value."""
        if not statement.startswith(_CHANGES_ROWS):
            self._is_altered = True
            self._columns.clear()
        self.connection.execute(statement.encode(), values)

    def clear(self) -> None:
        """Put back the empty tables, whatever a test did to them.

        Deleting rows takes a hundredth of the time of creating the tables again.
        """
        if self._is_altered:
            self.connection.execute("DROP SCHEMA IF EXISTS copy CASCADE")
            self.connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            self.connection.execute(TABLES.read_bytes())
            self._is_altered = False
            self._columns.clear()
            return
        tables = self.connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        )
        delete = sql.SQL("DELETE FROM {}")
        self.connection.execute(
            sql.SQL(";").join([delete.format(sql.Identifier(table)) for (table,) in tables])
        )

    def _required(self, table: str) -> list[tuple[str, str]]:
        if table not in self._columns:
            found = self.connection.execute(
                "SELECT column_name, data_type FROM information_schema.columns"
                " WHERE table_name = %s AND is_nullable = 'NO'",
                [table],
            )
            self._columns[table] = found.fetchall()
        return self._columns[table]

    def _insert(self, table: str, values: Mapping[str, object]) -> None:
        row = dict(values)
        for name, kind in self._required(table):
            if kind == "uuid":
                row.setdefault(name, uuid5(NAMESPACE_URL, f"{table}/{row.get('id')}"))
            elif name != "id":
                row.setdefault(name, _BLANKS[kind])
        if "id" not in row:
            highest = sql.SQL("SELECT coalesce(max(id), 0) + 1 FROM {}")
            found = self.connection.execute(highest.format(sql.Identifier(table))).fetchone()
            row["id"] = found and found[0]
        insert = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join(sql.Placeholder() * len(row)),
        )
        wrapped = [Jsonb(value) if isinstance(value, dict) else value for value in row.values()]
        self.connection.execute(insert, wrapped)


@contextmanager
def platform_database(server: str, name: str) -> Iterator[PlatformDatabase]:
    """Create a database with the platform's tables on the PostgreSQL server; drop it at the end.

    ``server`` is the URL of the server's maintenance database.
    """
    with psycopg.connect(server, autocommit=True) as connection:
        drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        connection.execute(drop)
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(name))
        )
        url = make_url(server).set(database=name).render_as_string(hide_password=False)
        try:
            with psycopg.connect(url, autocommit=True) as made:
                made.execute(TABLES.read_bytes())
                yield PlatformDatabase(url, made)
        finally:
            connection.execute(drop)
