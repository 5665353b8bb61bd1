"""Backups that weren't made by ``flask backup``."""

import gzip
import io
import json
import sqlite3
import tarfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pyrage
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.adapters.database.backups import SqliteBackups, opened_backup, write_backup
from app.domain.values.installation import BackupFailed
from app.ports.database import BackupFacts, BackupKey, BackupLock

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


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            header = tarfile.TarInfo(name.replace("_", "."))
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))
    return file.getvalue()


def crafted(manifest: bytes, identity: bytes = str(IDENTITY).encode()) -> bytes:
    """A backup whose outside is in order."""
    recipient = [IDENTITY.to_public()]
    return archive(
        identity_age=pyrage.encrypt(identity, recipient),
        contents_age=pyrage.encrypt(archive(manifest_json=manifest), recipient),
    )


def open_it(data: bytes, folder: Path) -> None:
    file = folder / "any.backup"
    file.write_bytes(data)
    contents = folder / "contents"
    contents.mkdir(exist_ok=True)
    with opened_backup(file, BackupKey(identities=str(IDENTITY)), contents):
        pass


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["format", "facts", "files", "created_at", "\0", "/etc/hostname"]),
            inner,
        )
    ),
    max_leaves=6,
)


def test_any_file_is_no_backup_in_a_sentence(tmp_path: Path) -> None:
    whole = crafted(b"{}")

    @given(
        st.binary(max_size=2000)
        | VALUES.map(lambda value: crafted(json.dumps(value).encode()))
        | st.binary(max_size=40).map(crafted)
        | st.binary(max_size=80).map(lambda key: crafted(b"{}", key))
        | st.binary(max_size=2000).map(gzip.compress)
        | st.builds(
            lambda place, byte: whole[:place] + bytes([byte]) + whole[place + 1 :],
            st.integers(0, len(whole) - 1),
            st.integers(0, 255),
        )
        | st.integers(0, len(whole)).map(lambda size: gzip.compress(whole)[:size])
        | st.integers(0, len(whole)).map(lambda size: whole[:size])
    )
    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    def every_file(data: bytes) -> None:
        with suppress(BackupFailed):
            open_it(data, tmp_path)

    every_file()


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(b"x" * 5000)[:-20],
        crafted(b'{"format": 1, "facts": [], "files": {}}'),
        crafted(b'{"format": 1, "facts": {"created_at": 1}, "files": []}'),
        crafted(b"[" * 100_000),
        crafted(b"{}", b"AGE-SECRET-KEY-1XYZ"),
    ],
    ids=["compressed", "list of facts", "number as a date", "nested", "no key"],
)
def test_crafted_backup_is_named_as_none(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(BackupFailed, match="It isn't a backup of Latchkey, or it is damaged"):
        open_it(data, tmp_path)
