"""Migrations by Alembic, and steps for migrations of large tables while the shop is served."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import sqlalchemy as sa
from alembic import command, op
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import OperationalError

from app.adapters.database.engines import (
    SCRIPTS,
    SQLITE_BEGIN,
    SchemaRevisions,
    connection_to,
    migration_engine,
)
from app.domain.values.installation import UpgradeBlocked
from app.ports.database import Report, UpgradeRows, UpgradeStep, UpgradeWait, ignore_progress

_STYLE = {
    "fix": "check --fix --quiet REVISION_SCRIPT_FILENAME",
    "format": "format --quiet REVISION_SCRIPT_FILENAME",
}
"""What ruff does to a new migration, by the name of Alembic's hook."""

_WAIT_SECONDS = 600.0
_PAUSE_SECONDS = 0.25
_READERS_SECONDS = 15
"""How long a commit on SQLite waits for readers of the file."""


TRY_LOCK = text(f"SELECT pg_try_advisory_xact_lock({0x6C61746368})")
"""By any number that no other program uses for locks of the same database.

Neither a parameter nor a prepared statement: the holder's snapshot would stay open then, and an
index that is created concurrently waits for it.
"""


Encrypt = Callable[[str, str], str]
"""Encrypts a text for a purpose, as ``Encryption.encrypt`` does."""


def upgrade(
    url: str,
    report: Report = ignore_progress,
    *,
    encrypt: Encrypt | None = None,
    wait_seconds: float = _WAIT_SECONDS,
) -> int:
    """Bring the database at ``url`` to the newest revision; return how many migrations ran.

    Migrations that encrypt what is stored need ``encrypt``; an empty database has nothing to.

    On PostgreSQL each migration commits by itself, so that a table is locked only while its own
    change runs. On SQLite, where one writer locks the file anyway, all of them commit together.
    """
    revisions = SchemaRevisions(url)
    lock = _sqlite_lock if url.startswith("sqlite") else _postgresql_lock
    with migration_engine(url) as engine, lock(engine, report, wait_seconds) as connection:
        current = revisions.current()
        revisions.check_not_ahead(current)
        config = _config(connection)
        scripts = ScriptDirectory.from_config(config)
        pending = [*scripts.iterate_revisions("head", current or "base")][::-1]
        count = len(pending)
        steps = (
            UpgradeStep(number, count, script.revision, script.doc.rstrip("."))
            for number, script in enumerate(pending, 1)
        )

        def announce(**_applied: object) -> None:
            if (step := next(steps, None)) is not None:
                report(step)

        announce()
        config.attributes["on_version_apply"] = announce
        config.attributes["report"] = report
        config.attributes["encrypt"] = encrypt
        command.upgrade(config, "head")
        return count


def make_revision(url: str, message: str, name: str) -> None:
    """Write the migration from the database at ``url`` to what the records say (development).

    ruff, which is among the development requirements, gives the file the project's style.
    """
    with connection_to(url) as connection:
        config = _config(connection)
        config.set_section_option("post_write_hooks", "hooks", "fix, format")
        for hook, options in _STYLE.items():
            config.set_section_option("post_write_hooks", f"{hook}.type", "module")
            config.set_section_option("post_write_hooks", f"{hook}.module", "ruff")
            config.set_section_option("post_write_hooks", f"{hook}.options", options)
        command.revision(config, message, autogenerate=True, rev_id=name)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    config.set_main_option("file_template", "%%(rev)s")
    config.attributes["connection"] = connection
    return config


@contextmanager
def _sqlite_lock(engine: Engine, report: Report, seconds: float) -> Iterator[Connection]:
    """Yield a connection in the transaction of the file's only writer."""
    with engine.connect().execution_options(**{SQLITE_BEGIN: "BEGIN IMMEDIATE"}) as connection:
        driver = connection.connection
        driver.execute("PRAGMA busy_timeout = 0")
        _wait(lambda: _begins(connection), report, seconds)
        driver.execute(f"PRAGMA busy_timeout = {_READERS_SECONDS * 1000}")
        yield connection
        connection.commit()


@contextmanager
def _postgresql_lock(engine: Engine, report: Report, seconds: float) -> Iterator[Connection]:
    """Yield a connection beside the one whose transaction holds the lock.

    Such a lock ends with the process, and also behind a pooler that lends its connections to one
    transaction after the other.
    """
    with engine.connect() as holder, engine.connect() as connection:
        _wait(lambda: _locks(holder), report, seconds)
        holder.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        yield connection


def _begins(connection: Connection) -> bool:
    try:
        connection.begin()
    except OperationalError as error:
        if "locked" in str(error.orig):
            return False
        raise
    return True


def _locks(holder: Connection) -> bool:
    if holder.scalar(TRY_LOCK):
        return True
    # An open transaction would hold up the other's work.
    holder.rollback()
    return False


def _wait(is_ours: Callable[[], bool], report: Report, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    is_waiting = False
    while not is_ours():
        if time.monotonic() > deadline:
            raise UpgradeBlocked(seconds)
        if not is_waiting:
            is_waiting = True
            report(UpgradeWait(seconds))
        time.sleep(_PAUSE_SECONDS)


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
