"""How much room tables and indexes take, and what vacuuming them costs."""

import time
from collections.abc import Iterator

import psycopg

from app import models

_MEBI = 1024 * 1024
_LARGE_INDEX = 100 * _MEBI
_LARGE_TABLE = 10 * _MEBI
_CHURNING = tuple(
    record.__tablename__ for record in (models.Session, models.Delivery, models.OutboxEvent)
)

_TABLES = """
SELECT relname, greatest(reltuples, 0)::bigint, pg_table_size(oid), pg_indexes_size(oid)
FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
ORDER BY pg_total_relation_size(oid) DESC"""
_INDEXES = """
SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index
WHERE indrelid = %s::regclass ORDER BY 2 DESC"""
_VACUUMED = """
SELECT relname, n_dead_tup, autovacuum_count FROM pg_stat_user_tables WHERE relname = ANY(%s)
ORDER BY relname"""


def report(url: str) -> Iterator[str]:
    """Yield the lines of the report on a filled database."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield "| table | rows | MiB | MiB of indexes | indexes above 100 MiB |"
        yield "|---|---|---|---|---|"
        total = 0
        for name, rows, size, indexes in connection.execute(_TABLES).fetchall():
            total += size + indexes
            if size + indexes < _LARGE_TABLE:
                continue
            large = [
                f"{index} {_mebi(bytes_)}"
                for index, bytes_ in connection.execute(_INDEXES, [name]).fetchall()
                if bytes_ > _LARGE_INDEX
            ]
            told = ", ".join(large)
            yield f"| {name} | {rows:,} | {_mebi(size)} | {_mebi(indexes)} | {told} |"
        yield ""
        yield f"- together {total / 1024**3:.1f} GiB"
        for name, dead, vacuums in connection.execute(_VACUUMED, [list(_CHURNING)]).fetchall():
            yield f"- {name}: {dead:,} dead rows, {vacuums} autovacuums so far"
        began = time.perf_counter()
        connection.execute("VACUUM (ANALYZE)")
        yield f"- VACUUM (ANALYZE) of everything: {time.perf_counter() - began:.0f} s"


def _mebi(size: int) -> str:
    return f"{size / _MEBI:,.0f}"
