"""Backups that weren't made by ``flask backup``."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pyrage
import pytest

from app.adapters.backup_files import write_backup
from app.adapters.backups_sqlite import SqliteBackups
from app.domain.values.installation_errors import BackupFailed
from app.ports.backups import BackupFacts, BackupKey, BackupLock

FACTS = BackupFacts("1.0", "0001", "sqlite", datetime(2026, 3, 1, tzinfo=UTC), "fingerprint")
IDENTITY = pyrage.x25519.Identity.generate()


def database(file: Path, value: int) -> Path:
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE kept (value)")
    connection.execute("INSERT INTO kept VALUES (?)", (value,))
    connection.commit()
    connection.close()
    return file


def kept(file: Path) -> list[int]:
    connection = sqlite3.connect(file)
    values = [value for (value,) in connection.execute("SELECT value FROM kept")]
    connection.close()
    return values


@pytest.mark.parametrize("member", ["database.sqlite3", "queue.sqlite3"])
def test_backup_without_a_database_replaces_nothing(member: str, tmp_path: Path) -> None:
    backup, source = tmp_path / "shop.backup", database(tmp_path / "source", 1)
    lock = BackupLock(recipients=(str(IDENTITY.to_public()),))
    write_backup(backup, {member: source}, FACTS, lock)
    target = SqliteBackups(database(tmp_path / "shop.sqlite3", 2), tmp_path / "queue")

    def restore() -> None:
        with target.open(backup, BackupKey(identities=str(IDENTITY))) as opened:
            opened.restore()

    if member == "database.sqlite3":
        restore()
        assert kept(target.file) == [1]
        return
    with pytest.raises(BackupFailed, match="no database"):
        restore()
    assert kept(target.file) == [2]
    assert not target.queue.exists()
