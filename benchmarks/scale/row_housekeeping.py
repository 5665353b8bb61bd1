"""Housekeeping with many rows: when nothing is due, and when so many of each kind are."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import psycopg

from app import models
from app.domain.authorization.actor import WORKER
from app.models.record import Record
from app.services.operations.cleanup import CleanupResult, clean_up
from benchmarks.scale.row_work import FilledShop, Work

DUE = 1000
"""Rows of each kind that are due in a round."""

MANY_DUE = 1_000_000
"""Deliveries that are due at once, at the end; a tenth of those there are, if they are fewer."""

_OLD = "t.{} - interval '400 days'"
_RANDOM = "left(md5(random()::text), 16)"
_DUE: Mapping[type[Record], Mapping[str, str]] = {
    models.Session: {"token": _RANDOM, "expires_at": "now() - interval '1 second'"},
    models.Delivery: {
        "message_id": f"'msg_' || md5(t.id || {_RANDOM})",
        "note_id": "NULL",
        "created_at": _OLD.format("created_at"),
    },
    models.OutboxEvent: {"closed_at": _OLD.format("closed_at")},
    models.SignInEvent: {"at": _OLD.format("at")},
}
"""What is copied to be deleted: the columns that differ from the oldest rows there are."""

_ADD_ATTEMPTS = (
    "INSERT INTO delivery_attempts ({columns}) SELECT {values} FROM deliveries AS d,"
    " LATERAL (SELECT * FROM delivery_attempts ORDER BY id LIMIT 1) AS t"
    " WHERE d.created_at < now() - interval '100 days'"
)


@dataclass(frozen=True, slots=True)
class ManyDeleted:
    """What deleting very many deliveries took, in seconds, and what it left to be vacuumed."""

    deliveries: int
    seconds: float
    dead: Mapping[str, int]
    vacuum: float


def works(due: int = DUE) -> Iterator[Work]:
    """Yield the rounds of housekeeping: when nothing is due, and so many rows of a table."""
    yield Work("housekeeping, nothing due", partial(_clean_up, 0), 5, before=_finish)
    for table in _DUE:
        name = f"housekeeping, {due:,} {table.__tablename__} due"
        yield Work(name, partial(_clean_up, due), 1, before=partial(_add, table, due))


def delete_many(shop: FilledShop) -> ManyDeleted:
    """Delete very many deliveries, as after a week without housekeeping."""
    deliveries = min(MANY_DUE, shop.rows // 10)
    _add(models.Delivery, deliveries, shop)
    began = time.perf_counter()
    _clean_up(deliveries, shop)
    seconds = time.perf_counter() - began
    tables = [models.Delivery.__tablename__, models.DeliveryAttempt.__tablename__]
    with psycopg.connect(shop.url, autocommit=True) as connection:
        connection.execute("SELECT pg_stat_clear_snapshot()")
        dead = connection.execute(
            "SELECT relname, n_dead_tup FROM pg_stat_user_tables WHERE relname = ANY(%s)", [tables]
        ).fetchall()
        began = time.perf_counter()
        connection.execute(f"VACUUM (ANALYZE) {', '.join(tables)}".encode())
        vacuum = time.perf_counter() - began
    return ManyDeleted(deliveries, seconds, dict(dead), vacuum)


def _finish(shop: FilledShop) -> None:
    """Delete what an interrupted run has left."""
    clean_up(shop.ports, WORKER)


def _clean_up(due: int, shop: FilledShop) -> None:
    result = clean_up(shop.ports, WORKER)
    if _deleted(result) != due:
        raise RuntimeError(f"{_deleted(result)} rows were deleted instead of {due}")


def _deleted(result: CleanupResult) -> int:
    return result.sessions + result.deliveries + result.events + result.sign_in_events


def _add(table: type[Record], rows: int, shop: FilledShop) -> None:
    with psycopg.connect(shop.url) as connection:
        columns = _columns(table, _DUE[table])
        connection.execute(
            f"INSERT INTO {table.__tablename__} ({', '.join(columns)})"
            f" SELECT {', '.join(columns.values())} FROM {table.__tablename__} AS t"
            f" ORDER BY t.id LIMIT {rows}".encode()
        )
        if table is models.Delivery:
            columns = _columns(models.DeliveryAttempt, {"delivery_id": "d.id"})
            connection.execute(
                _ADD_ATTEMPTS.format(
                    columns=", ".join(columns), values=", ".join(columns.values())
                ).encode()
            )


def _columns(table: type[Record], others: Mapping[str, str]) -> Mapping[str, str]:
    names = [column.name for column in table.__table__.columns if column.name != "id"]
    return {name: others.get(name, f"t.{name}") for name in names}
