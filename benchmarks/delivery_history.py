"""A shop's past: what it has delivered so far, many times over, written by the database itself."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

import psycopg
from sqlalchemy import make_url

from app import models
from app.domain.deliveries.deliveries import MESSAGE_RANDOM_LENGTH
from app.models.record import Record

SPAN = 13 * 24 * 3600
"""Seconds that the past goes back: a little less than deliveries are kept."""

_AT_ONCE = 5000
_EVENTS, _DELIVERIES, _ATTEMPTS = (
    record.__tablename__
    for record in (models.OutboxEvent, models.Delivery, models.DeliveryAttempt)
)
_TABLES: Mapping[str, tuple[type[Record], Mapping[str, str]]] = {
    _EVENTS: (models.OutboxEvent, {"id": _EVENTS}),
    _DELIVERIES: (models.Delivery, {"id": _DELIVERIES, "note_id": _EVENTS}),
    _ATTEMPTS: (models.DeliveryAttempt, {"id": _ATTEMPTS, "delivery_id": _DELIVERIES}),
}
"""What the past consists of; the columns that hold keys, and of which table."""

_TIMES = ("issued_at", "closed_at", "created_at")
_EARLIER = {
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f000', {column}, '-' || ({seconds}) || ' seconds')",
    "postgresql": "{column} - interval '1 second' * ({seconds})",
}
_RANDOM = {
    "sqlite": f"substr(hex(randomblob({MESSAGE_RANDOM_LENGTH})), 1, {MESSAGE_RANDOM_LENGTH})",
    "postgresql": f"left(md5(random()::text), {MESSAGE_RANDOM_LENGTH})",
}
_HEXADECIMAL = {
    "sqlite": "printf('%012x', {number})",
    "postgresql": "lpad(to_hex({number}), 12, '0')",
}


class _Cursor(Protocol):
    def fetchone(self) -> Sequence[Any] | None: ...


def multiply(url: str, times: int) -> None:
    """Multiply the events, deliveries and attempts by ``times``, spread over time.

    A copy differs in its keys, times and message ID, made like real ones.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(parsed.database), isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA cache_size=-500000")
            _multiply("sqlite", connection.execute, times)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    address = parsed.render_as_string(hide_password=False)
    with psycopg.connect(address, autocommit=True) as connection:
        keys = _multiply("postgresql", lambda text: connection.execute(text.encode()), times)
        for table, key in keys.items():
            sequence = f"pg_get_serial_sequence('{table}', 'id')"
            connection.execute(f"SELECT setval({sequence}, {key * times})".encode())
        # What the server does by itself in a shop that has grown so far.
        connection.execute("VACUUM ANALYZE")


def _multiply(store: str, execute: Callable[[str], _Cursor], times: int) -> Mapping[str, int]:
    """The copies themselves; returns the last key that each table had before."""
    keys = {}
    for table in _TABLES:
        last_key = execute(f"SELECT max(id) FROM {table}").fetchone()
        keys[table] = int(last_key[0]) if last_key else 0
    for first in range(1, times, _AT_ONCE):
        last = min(first + _AT_ONCE, times) - 1
        for table in _TABLES:
            execute(_copies(store, table, keys, range(first, last + 1), times))
    return keys


def _copies(store: str, table: str, keys: Mapping[str, int], copies: range, times: int) -> str:
    """Return the statement that copies the rows up to the last of ``keys``."""
    record, numbered = _TABLES[table]
    columns = {column.name: f"t.{column.name}" for column in record.__table__.columns}
    columns |= {name: f"t.{name} + n * {keys[target]}" for name, target in numbered.items()}
    seconds = f"({times} - n) * {SPAN / times}"
    columns |= {
        name: _EARLIER[store].format(column=columns[name], seconds=seconds)
        for name in _TIMES
        if name in columns
    }
    if "message_id" in columns:
        moment = f"CAST({round(time.time() * 1000)} - {seconds} * 1000 AS BIGINT)"
        stamp = _HEXADECIMAL[store].format(number=moment)
        columns["message_id"] = f"'msg_' || {stamp} || {_RANDOM[store]}"
    return (
        f"WITH RECURSIVE copies(n) AS"
        f" (SELECT {copies[0]} UNION ALL SELECT n + 1 FROM copies WHERE n < {copies[-1]})"
        f" INSERT INTO {table} ({', '.join(columns)})"
        f" SELECT {', '.join(columns.values())} FROM copies, {table} AS t"
        f" WHERE t.id <= {keys[table]} ORDER BY n, t.id"
    )
