"""A platform installation: its database, read in one read-only snapshot, and its media folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.datetime import TimestamptzLoader
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError
from typing_extensions import override

from app.domain.values.times import showable
from app.ports.import_source import JsonKey, TableRow, UnreadableFile, UnreadableSource

_MEBIBYTE = 1024 * 1024


class LocalMediaFolder:
    """The files below ``folder``; links can't lead out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()

    def version(self, path: str) -> str:
        try:
            facts = self._file(path).stat()
        except OSError as error:
            raise UnreadableFile(_sentence(error)) from None
        return f"{facts.st_size} {facts.st_mtime_ns}"

    def read(self, path: str, most: int) -> bytes:
        try:
            with self._file(path).open("rb") as file:
                data = file.read(most + 1)
        except OSError as error:
            raise UnreadableFile(_sentence(error)) from None
        if len(data) > most:
            message = f"The file is larger than {most // _MEBIBYTE} MiB."
            raise UnreadableFile(message)
        return data

    def _file(self, path: str) -> Path:
        try:
            file = (self._folder / path).resolve()
            is_inside = file.is_relative_to(self._folder)
        except (ValueError, RuntimeError):
            raise UnreadableFile("The path isn't a valid one.") from None
        if not is_inside:
            raise UnreadableFile("The path leads out of the media folder.")
        if not file.is_file():
            raise UnreadableFile("There is no such file.")
        return file


def _sentence(error: OSError) -> str:
    return f"{error.strerror or 'It cannot be read'}."


_CONNECT_SECONDS = 10
_BLANKS = " \t\n\r\f\v\x1c\x1d\x1e\x1f"
"""What ``str.strip`` removes, as far as it is ASCII."""
_Connection = psycopg.Connection[dict[str, object]]


class PlatformDatabase:
    """One snapshot of the database behind ``connection``."""

    def __init__(self, connection: _Connection, name: str) -> None:
        self._connection = connection
        self.name = name
        self._columns: Mapping[str, frozenset[str]] | None = None
        self._highest: dict[str, int] = {}

    @property
    def release(self) -> str:
        if not self.columns("django_migrations"):
            return ""
        newest = (
            "SELECT app || ' ' || name AS name FROM django_migrations ORDER BY id DESC LIMIT 1"
        )
        row = self._connection.execute(newest).fetchone()
        return str(row["name"]) if row else ""

    def columns(self, table: str) -> frozenset[str]:
        if self._columns is None:
            self._columns = self._find_columns()
        return self._columns.get(table, frozenset())

    def _find_columns(self) -> Mapping[str, frozenset[str]]:
        """Return the columns of all tables, which takes hardly longer than those of one."""
        found: dict[str, set[str]] = {}
        for row in self._connection.execute(
            "SELECT relname, attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid"
            " WHERE attnum > 0 AND NOT attisdropped AND pg_table_is_visible(c.oid)"
            " AND relnamespace <> 'pg_catalog'::regnamespace"
        ):
            found.setdefault(str(row["relname"]), set()).add(str(row["attname"]))
        return {table: frozenset(columns) for table, columns in found.items()}

    def count(self, table: str) -> int:
        return self._number(table, sql.SQL("SELECT count(*) AS number FROM {}"))

    def highest(self, table: str) -> int:
        if table not in self._highest:
            query = sql.SQL("SELECT coalesce(max(id), 0) AS number FROM {}")
            self._highest[table] = self._number(table, query)
        return self._highest[table]

    def batches(
        self, table: str, columns: Sequence[str], size: int
    ) -> Iterator[Sequence[TableRow]]:
        if not self.columns(table):
            return
        yield from self._batches(table, columns, size, sql.SQL(""))

    def batches_with_json_key(
        self, table: str, columns: Sequence[str], size: int, json: JsonKey
    ) -> Iterator[Sequence[TableRow]]:
        if json.column in self.columns(table):
            yield from self._batches(table, columns, size, _has_key(json))

    def repeated_json_texts(self, table: str, json: JsonKey) -> frozenset[str]:
        if json.column not in self.columns(table):
            return frozenset()
        query = sql.SQL(
            "SELECT {0} ->> {1} AS text FROM {2} WHERE {0} ->> {1} IS NOT NULL {3}"
            " GROUP BY 1 HAVING count(*) > 1"
        ).format(
            sql.Identifier(json.column),
            sql.Literal(json.key),
            sql.Identifier(table),
            _has_key(json),
        )
        return frozenset(str(row["text"]) for row in self._connection.execute(query))

    def json_keys(self, table: str, column: str, prefix: str) -> Mapping[str, int]:
        if column not in self.columns(table):
            return {}
        query = sql.SQL(
            "SELECT key, count(*) AS number FROM {0}, LATERAL jsonb_object_keys("
            "CASE WHEN jsonb_typeof({1}) = 'object' THEN {1} ELSE '{{}}' END) AS key"
            " WHERE starts_with(key, {2}) GROUP BY key ORDER BY key"
        ).format(sql.Identifier(table), sql.Identifier(column), sql.Literal(prefix))
        rows = self._connection.execute(query)
        return {str(row["key"]): _int(row["number"]) for row in rows}

    def _batches(
        self, table: str, columns: Sequence[str], size: int, condition: sql.Composable
    ) -> Iterator[Sequence[TableRow]]:
        query = sql.SQL("SELECT {} FROM {} WHERE id > {} {} ORDER BY id LIMIT {}")
        last: object = -1
        while rows := self._connection.execute(
            query.format(
                self._selected(table, columns),
                sql.Identifier(table),
                sql.Literal(last),
                condition,
                sql.Literal(size),
            )
        ).fetchall():
            yield rows
            last = rows[-1]["id"]

    def matching(
        self, table: str, columns: Sequence[str], column: str, values: Collection[object]
    ) -> Sequence[TableRow]:
        if not values or column not in self.columns(table):
            return []
        query = sql.SQL("SELECT {} FROM {} WHERE {} = ANY(%s) ORDER BY id").format(
            self._selected(table, columns), sql.Identifier(table), sql.Identifier(column)
        )
        return self._connection.execute(query, [list(values)]).fetchall()

    def lowest(self, table: str, column: str, values: Collection[object]) -> Mapping[object, int]:
        if not values or column not in self.columns(table):
            return {}
        query = sql.SQL(
            "SELECT {0} AS value, min(id) AS id FROM {1} WHERE {0} = ANY(%s) GROUP BY {0}"
        ).format(sql.Identifier(column), sql.Identifier(table))
        rows = self._connection.execute(query, [list(values)])
        return {row["value"]: _int(row["id"]) for row in rows}

    def count_filled(self, table: str, column: str) -> int:
        if column not in self.columns(table):
            return 0
        query = sql.SQL("SELECT count(*) AS number FROM {} WHERE {} <> ''")
        return self._number(table, query, sql.Identifier(column))

    def count_unnamed(self, table: str, columns: Collection[tuple[str, str]]) -> int:
        named = [
            sql.SQL("AND NOT EXISTS (SELECT FROM {0} WHERE {0}.{1} = this.id)").format(
                sql.Identifier(other), sql.Identifier(column)
            )
            for other, column in columns
            if column in self.columns(other)
        ]
        query = sql.SQL("SELECT count(*) AS number FROM {} AS this WHERE true {}")
        return self._number(table, query, sql.SQL(" ").join(named))

    def unlinked(
        self, table: str, columns: Collection[str], links: str, pair: tuple[str, str], size: int
    ) -> Iterator[Sequence[TableRow]]:
        present = [name for name in columns if name in self.columns(table)]
        if not present or not self.columns(links):
            return
        query = sql.SQL(
            "SELECT DISTINCT this.id AS {owner}, named.id AS {target} FROM {table} AS this"
            " CROSS JOIN LATERAL (VALUES {values}) AS named (id)"
            " WHERE (named.id, this.id) > (%s, %s) AND NOT EXISTS (SELECT FROM {links} AS link"
            " WHERE link.{owner} = this.id AND link.{target} = named.id)"
            " ORDER BY named.id, this.id LIMIT %s"
        ).format(
            owner=sql.Identifier(pair[0]),
            target=sql.Identifier(pair[1]),
            table=sql.Identifier(table),
            links=sql.Identifier(links),
            values=sql.SQL(", ").join(
                sql.SQL("(this.{})").format(sql.Identifier(name)) for name in present
            ),
        )
        last: tuple[object, object] = (-1, -1)
        while rows := self._connection.execute(query, [*last, size]).fetchall():
            yield rows
            last = (rows[-1][pair[1]], rows[-1][pair[0]])

    def alike(self, table: str, column: str) -> Iterator[Sequence[int]]:
        if column not in self.columns(table):
            return
        query = sql.SQL(
            "SELECT array_agg(id ORDER BY id) AS ids FROM {} GROUP BY lower(btrim({}, {}))"
            " HAVING count(*) > 1"
        ).format(sql.Identifier(table), sql.Identifier(column), sql.Literal(_BLANKS))
        for row in self._connection.execute(query):
            ids = row["ids"]
            if isinstance(ids, list):
                yield ids

    def spelled_alike(
        self, table: str, column: str, texts: Collection[str]
    ) -> Iterator[tuple[int, str]]:
        if not texts or column not in self.columns(table):
            return
        query = sql.SQL(
            "SELECT id, lower(btrim({0}, {1})) AS text FROM {2}"
            " WHERE lower(btrim({0}, {1})) = ANY(%s)"
        ).format(sql.Identifier(column), sql.Literal(_BLANKS), sql.Identifier(table))
        yield from _texts(self._connection.execute(query, [list(texts)]))

    def beyond_ascii(self, table: str, column: str) -> Iterator[tuple[int, str]]:
        if column not in self.columns(table):
            return
        query = sql.SQL("SELECT id, {0} AS text FROM {1} WHERE {0} ~ '[^\x01-\x7f]'").format(
            sql.Identifier(column), sql.Identifier(table)
        )
        yield from _texts(self._connection.execute(query))

    def _selected(self, table: str, columns: Sequence[str]) -> sql.Composed:
        names = [name for name in dict.fromkeys(("id", *columns)) if name in self.columns(table)]
        return sql.SQL(", ").join(map(sql.Identifier, names))

    def _number(self, table: str, query: sql.SQL, *parts: sql.Composable) -> int:
        """Return the number that ``query`` selects of the table, 0 without the table."""
        if not self.columns(table):
            return 0
        row = self._connection.execute(query.format(sql.Identifier(table), *parts)).fetchone()
        return _int(row["number"]) if row else 0


class PlatformSources:
    """Opens other installations' databases and media folders."""

    def open_platform(self, url: str) -> AbstractContextManager[PlatformDatabase]:
        return open_platform(url)

    def open_media(self, folder: Path) -> LocalMediaFolder:
        return LocalMediaFolder(folder)


@contextmanager
def open_platform(url: str) -> Iterator[PlatformDatabase]:
    """Connect and take a snapshot; the transaction can't write. Raises ``UnreadableSource``."""
    name, address = _parsed(url)
    try:
        connection = psycopg.connect(
            address,
            row_factory=dict_row,
            connect_timeout=_CONNECT_SECONDS,
            options="-c TimeZone=UTC",
        )
    except (psycopg.Error, UnicodeError) as error:
        raise UnreadableSource(f"Can't connect to {name}: {_reason(error, url)}") from None
    with connection:
        connection.adapters.register_loader("timestamptz", _LenientTimestamp)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            yield PlatformDatabase(connection, name)
        except psycopg.Error as error:
            raise UnreadableSource(f"Can't read {name}: {_reason(error, url)}") from error


class _LenientTimestamp(TimestamptzLoader):
    """Read moments that can't be stored here, such as infinity, as missing."""

    @override
    def load(self, data: object) -> datetime:
        try:
            return showable(super().load(data))  # type: ignore[arg-type]
        except (psycopg.DataError, ValueError):
            return None  # type: ignore[return-value]


def _parsed(url: str) -> tuple[str, str]:
    """Return the name of the source, without credentials, and what psycopg connects to."""
    try:
        parsed = make_url(url)
        kind = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise UnreadableSource(
            "The database must be a URL such as postgresql://user:password@host/name."
        ) from None
    if kind not in ("postgresql", "postgres"):
        raise UnreadableSource(f"The database must be a postgresql:// URL, not {kind}://.")
    plain = parsed.set(drivername="postgresql")
    name = URL.create("postgresql", host=plain.host, port=plain.port, database=plain.database)
    return name.render_as_string(), plain.render_as_string(hide_password=False)


def _reason(error: Exception, url: str) -> str:
    """Return the first line of what went wrong, without the password."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    password = make_url(url).password
    return text.replace(str(password), "***") if password else text


def _has_key(json: JsonKey) -> sql.Composable:
    return sql.SQL("AND jsonb_exists({}, {})").format(
        sql.Identifier(json.column), sql.Literal(json.key)
    )


def _texts(rows: Iterable[TableRow]) -> Iterator[tuple[int, str]]:
    for row in rows:
        yield _int(row["id"]), str(row["text"])


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise UnreadableSource("An ID at the source isn't an integer.")
    return value
