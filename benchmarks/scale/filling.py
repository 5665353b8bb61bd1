"""A shop with any number of users, sessions and deliveries, written by PostgreSQL itself.

Rows are like those that the service writes: an event for five deliveries, an attempt for each, the
words that people are found by. A fifth as many sign-ins are in the log; a tenth as many orders and
changes. A thousandth of the users are staff.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product

import psycopg
from psycopg import sql

from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.accounts.search import fold, words_of
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from benchmarks.scale.row_statements import GROUPS
from benchmarks.shop import subscribe
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_user
from tests.builders.products import make_product
from tests.builders.webhooks import TARGET

ADMIN = "admin@scale.example"
WEBHOOKS = 5
PRODUCTS = 16
RARE = ("Ottoline", "Quimby")
"""The name of ten people; each of the other names is that of very many."""

_RARE_PEOPLE = 10
_FIRST_NAMES = (
    *("Anna", "Emma", "Mia", "Lena", "Sofia", "Lara", "Maria", "Julia", "John", "Paul", "Jonas"),
    *("Felix", "Noah", "Jean-Luc", "Zoë", "Émile", "Åsa", "Øyvind", "Ömer", "Łukasz", "José"),
    *("Nguyễn", "Yusuf", "Fatima", "Olga", "Ivan"),
)
_STEMS = (
    *("Smith", "Müller", "Schneider", "Fischer", "Weber", "Hoffmann", "Jones", "Taylor"),
    *("Garcia", "Martín", "López", "Rossi", "Bianchi", "Dubois", "Nowak", "Andersson"),
)
_ENDINGS = ("", "mann", "er", "son", "ova", "ski", "ez", "ini", "ström", "berg", "land", "feld")
_LAST_NAMES = tuple(stem + ending for stem, ending in product(_STEMS, _ENDINGS))
NAMES = (RARE, *product(_FIRST_NAMES, _LAST_NAMES))

_SETTINGS = """
SET LOCAL session_replication_role = replica;
SET LOCAL maintenance_work_mem = '512MB';
"""
"""Foreign keys aren't checked row by row: what is written fits together."""


def filled_database(server: str, rows: int) -> tuple[str, str]:
    """Return the URL of the database with so many rows, and how long filling it took.

    It is filled unless an earlier run has done that. ``rows`` is a multiple of 1,000.
    """
    name = f"rows_{rows}"
    url = server.replace("/postgres?", f"/{name}?")
    with psycopg.connect(server, autocommit=True) as connection:
        if told := _told(connection, name):
            upgrade(url)
            return url, told
        connection.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        began = time.perf_counter()
        fill(url, rows)
        filled = time.perf_counter()
        with psycopg.connect(url, autocommit=True) as inside:
            inside.execute("VACUUM (ANALYZE)")
        vacuumed = time.perf_counter() - filled
        told = f"filled in {filled - began:.0f} s, first VACUUM (ANALYZE) in {vacuumed:.0f} s"
        # Written last: a database without it was left half filled.
        connection.execute(f"COMMENT ON DATABASE {name} IS '{told}'".encode())
    return url, told


def _told(connection: psycopg.Connection, name: str) -> str:
    found = connection.execute(
        "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %s", [name]
    ).fetchone()
    return str(found[0] or "") if found else ""


def fill(url: str, rows: int) -> None:
    """Fill the empty database at ``url``."""
    upgrade(url)
    ports = connect(Settings(database_url=url))
    try:
        _fill(ports, url, rows)
    finally:
        ports.database.close()


def _fill(ports: Ports, url: str, rows: int) -> None:
    app, _ = make_app(ports, "scale", Permission.MANAGE_PRODUCTS)
    subscribe(ports, app, WEBHOOKS, TARGET)
    for number in range(PRODUCTS):
        make_product(ports, f"Product {number}")
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT id FROM webhooks ORDER BY id").fetchall()
    values = {
        "rows": rows,
        "names": len(NAMES) - 1,
        "rare_every": rows // _RARE_PEOPLE,
        "password_hash": ports.passwords.hash(PASSWORD),
        "webhooks": [key for (key,) in found],
    }
    with ThreadPoolExecutor(len(GROUPS)) as pool:
        list(pool.map(partial(_fill_group, url, values), GROUPS))
    make_user(ports, ADMIN, is_superuser=True)


def _fill_group(url: str, values: Mapping[str, object], statements: Mapping[str, str]) -> None:
    """Fill the tables in one transaction that empties them first: it needs no log of its rows."""
    with psycopg.connect(url) as connection:
        connection.execute(_SETTINGS)
        tables = sql.SQL(", ").join(map(sql.Identifier, statements))
        connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(tables))
        _add_names(connection)
        for table, statement in statements.items():
            indexes = _drop_indexes(connection, table)
            connection.execute(statement.encode(), values)
            for definition in indexes:
                connection.execute(definition.encode())
            if table != "user_words":
                connection.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id))"
                    f" FROM {table}".encode()
                )


def _add_names(connection: psycopg.Connection) -> None:
    """Write each name with the words that find a person of that name, besides their email."""
    connection.execute(
        "CREATE TEMPORARY TABLE names (place bigint PRIMARY KEY, local text, first_name text,"
        " last_name text, words text[]) ON COMMIT DROP"
    )
    with connection.cursor().copy("COPY names FROM STDIN") as copy:
        for place, (first, last) in enumerate(NAMES):
            local = fold(f"{first}.{last}")
            email = f"{local}.0@x.example"
            words = words_of(email, first, last) - {email, "x.example"}
            copy.write_row((place, local, first, last, sorted(words)))
    connection.execute("ANALYZE names")


def _drop_indexes(connection: psycopg.Connection, table: str) -> list[str]:
    """Drop all but the primary key; return the statements that make them again."""
    unique = connection.execute(
        "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = %s::regclass AND contype = 'u'",
        [table],
    ).fetchall()
    for name, _ in unique:
        connection.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())
    indexes = connection.execute(
        "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
        " WHERE indrelid = %s::regclass AND NOT indisprimary",
        [table],
    ).fetchall()
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}".encode())
    again = [f"ALTER TABLE {table} ADD CONSTRAINT {name} {text}" for name, text in unique]
    return again + [text for _, text in indexes]
