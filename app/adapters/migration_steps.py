"""Changes of large tables while the shop is being served, for migrations to use.

On PostgreSQL they commit as they go, so a migration that uses them does nothing else and can be
repeated after an interruption. On SQLite, where one writer locks the file anyway, they are a part
of the upgrade's transaction.
"""

from collections.abc import Callable, Sequence
from functools import partial

import sqlalchemy as sa
from alembic import op

from app.ports.database import UpgradeRows

BATCH = 5000
"""How many IDs are changed at a time."""

Change = Callable[[sa.ColumnElement[bool]], sa.Executable]


def change_in_batches(table: str, make_change: Change) -> None:
    """Run ``make_change`` for the rows of ``table``, some IDs at a time, and report how far it is.

    ``make_change`` gets the condition that selects the batch.
    """
    key = sa.column("id", sa.BigInteger())
    rows_of = sa.select(sa.func.count()).select_from(sa.table(table))
    bounds = rows_of.add_columns(sa.func.min(key), sa.func.max(key))
    count, lowest, highest = op.get_bind().execute(bounds).one()
    if not count:
        return
    done = 0
    for start in range(lowest, highest + 1, BATCH):
        rows = key.between(start, start + BATCH - 1)
        done += op.get_bind().scalar(rows_of.where(rows)) or 0
        _run_alone(partial(op.execute, make_change(rows)))
        _report(UpgradeRows(table, min(done, count), count))


def create_index(
    name: str,
    table: str,
    columns: Sequence[str],
    *,
    where: sa.TextClause | None = None,
    unique: bool = False,
) -> None:
    """Create an index while others write to ``table``."""

    def create() -> None:
        op.create_index(
            name,
            table,
            [*columns],
            unique=unique,
            sqlite_where=where,
            postgresql_where=where,
            postgresql_concurrently=_commits(),
        )

    def create_meanwhile() -> None:
        # Of an interrupted attempt, an unusable index is left. What builds an index waits for
        # older transactions but holds up no one.
        op.execute("SET lock_timeout = 0")
        try:
            op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)
            create()
        finally:
            op.execute("RESET lock_timeout")

    _run_alone(create_meanwhile if _commits() else create)


def _run_alone(run: Callable[[], None]) -> None:
    if not _commits():
        run()
        return
    with op.get_context().autocommit_block():
        run()


def _commits() -> bool:
    return op.get_bind().dialect.name == "postgresql"


def _report(progress: UpgradeRows) -> None:
    config = op.get_context().config
    report = config and config.attributes.get("report")
    if report:
        report(progress)
