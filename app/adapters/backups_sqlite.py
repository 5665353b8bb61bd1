"""Backups of SQLite's file and the queue's, by SQLite's own online backup."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.adapters.backup_files import opened_backup, private_temporary_folder, write_backup
from app.adapters.private_files import make_private_database
from app.domain.values.installation import BackupFailed
from app.ports.database import BackupFacts, BackupKey, BackupLock, OpenBackup

_DATABASE = "database.sqlite3"
_QUEUE = "queue.sqlite3"
_BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class SqliteBackups:
    """``queue`` is the file of deliveries that wait, which isn't there with Redis."""

    file: Path
    queue: Path
    database: str = "sqlite"

    def write(self, file: Path, facts: BackupFacts, lock: BackupLock) -> int:
        with private_temporary_folder() as folder:
            members = {_DATABASE: folder / _DATABASE}
            # First, so that whatever is in it is in the database as well.
            if self.queue.is_file():
                members[_QUEUE] = folder / _QUEUE
                _copy(self.queue, folder / _QUEUE)
            _copy(self.file, folder / _DATABASE)
            return write_backup(file, members, facts, lock)

    @contextmanager
    def open(self, file: Path, key: BackupKey) -> Iterator[OpenBackup]:
        with (
            private_temporary_folder() as folder,
            opened_backup(file, key, folder) as facts,
        ):
            for copy in folder.glob("*.sqlite3"):
                _check(copy)
            yield _Open(self, facts, folder)

    def is_empty(self) -> bool:
        if not self.file.is_file() or not self.file.stat().st_size:
            return True
        with _errors(self.file), closing(_connect(self.file)) as connection:
            found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return not found[0]


@dataclass(frozen=True, slots=True)
class _Open:
    target: SqliteBackups
    facts: BackupFacts
    folder: Path

    def restore(self) -> None:
        if not (self.folder / _DATABASE).is_file():
            raise BackupFailed("The backup holds no database.")
        _copy(self.folder / _DATABASE, self.target.file)
        if (self.folder / _QUEUE).is_file():
            _copy(self.folder / _QUEUE, self.target.queue)


def _copy(source: Path, target: Path) -> None:
    """Copy a database while others use both: its pages become those of one moment, at once."""
    make_private_database(target)
    with (
        _errors(source),
        closing(_connect(source)) as reading,
        closing(_connect(target)) as writing,
    ):
        reading.backup(writing)


def _check(file: Path) -> None:
    with _errors(file), closing(_connect(file)) as connection:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            raise BackupFailed(f"The backup's {file.name} is damaged.")


def _connect(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=_BUSY_SECONDS)


@contextmanager
def _errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BackupFailed(f"{file}: {error}.") from error
