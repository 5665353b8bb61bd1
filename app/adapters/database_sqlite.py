"""Engines on SQLite."""

import sqlite3
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.pool import ConnectionPoolEntry

from app.adapters.private_files import make_private_database, make_private_folder
from app.domain.values.installation import DatabaseUnavailable

_BUSY_SECONDS = 15
"""How long a writer waits for another before it gives up."""


def sqlite_engines(url: URL) -> tuple[Engine, Engine]:
    """One engine for transactions, and one whose statements commit by themselves.

    Only this account can open the file, which the first connection creates with its folder;
    connecting raises ``DatabaseUnavailable`` when the folder can't be created.
    """
    is_file = sqlite_file(url) is not None
    arguments = {"check_same_thread": False, "timeout": _BUSY_SECONDS}
    # What a statement was run with, a password's hash say, stays out of errors and so of logs.
    writing, reading = (
        create_engine(url, connect_args=arguments, hide_parameters=True) for _ in range(2)
    )
    for engine in (writing, reading):
        event.listen(engine, "connect", _prepare)
        if is_file:
            event.listen(engine, "do_connect", _keep_private)
    event.listen(writing, "begin", _begin_immediate)
    return writing, reading


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite database, ``None`` for other databases."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(url.database or "")


def make_database_folder(folder: Path) -> None:
    """Create the folder of a SQLite file; raises ``DatabaseUnavailable`` if it can't be."""
    try:
        make_private_folder(folder)
    except OSError as error:
        reason = f"its folder {folder} cannot be made: {error.strerror}"
        raise DatabaseUnavailable(reason) from error


def _keep_private(
    _dialect: object, _record: object, arguments: list[str], _options: object
) -> None:
    file = Path(arguments[0])
    make_database_folder(file.parent)
    # What stands in the way of that, opening the file tells better.
    with suppress(OSError):
        make_private_database(file)


def _prepare(connection: sqlite3.Connection, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transactions would begin late and read-only first; we begin ourselves.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        f"busy_timeout={_BUSY_SECONDS * 1000}",
        "foreign_keys=ON",
        "cache_size=-16000",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_immediate(connection: Connection) -> None:
    # Taking the write lock at once: a transaction that reads first and then writes could
    # otherwise fail half way, when another has written in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
