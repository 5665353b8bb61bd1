"""The file of a backup: a tar archive of two files in age's format.

``identity.age`` is a private key made for this backup, encrypted with the passphrase or for the
recipients. ``contents.age`` is a tar archive, encrypted with that key. So the ``age`` program can
open a backup without this one.
"""

import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO

import pyrage
from sqlalchemy import make_url, text

from app.adapters.database.engines import connection_to
from app.adapters.database.outages import translate_errors
from app.adapters.system import make_private_database, make_private_file
from app.domain.values.installation import BackupFailed
from app.ports.database import BackupFacts, BackupKey, BackupLock, OpenBackup

_IDENTITY = "identity.age"
_CONTENTS = "contents.age"
_MANIFEST = "manifest.json"
_FORMAT = 1
_NOT_A_BACKUP = "It isn't a backup of Latchkey, or it is damaged."
_UNUSABLE = (
    *(tarfile.TarError, pyrage.IdentityError, EOFError),
    *(ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError),
)
"""What reading an archive or a manifest raises that was made to break it."""


def write_backup(
    file: Path, members: Mapping[str, Path], facts: BackupFacts, lock: BackupLock
) -> int:
    """Encrypt ``members`` into ``file``, which is complete or not there; return its size."""
    identity = pyrage.x25519.Identity.generate()
    locked = _locked(str(identity).encode(), lock)
    partial = file.with_name(f".{file.name}.partial")
    try:
        with _private(partial) as target:
            header = tarfile.TarInfo(_IDENTITY)
            header.size = len(locked)
            target.write(header.tobuf() + locked + bytes(-len(locked) % tarfile.BLOCKSIZE))
            _write_contents(target, members, facts, identity.to_public())
            target.flush()
            os.fsync(target.fileno())
            size = target.tell()
        partial.replace(file)
    except OSError as error:
        raise BackupFailed(f"Can't write {file}: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
    return size


@contextmanager
def opened_backup(file: Path, key: BackupKey, folder: Path) -> Iterator[BackupFacts]:
    """Decrypt the members of ``file`` into ``folder`` and check them; yields its facts."""
    try:
        # Without compression, which is guessed otherwise.
        with tarfile.open(file, "r:") as archive:
            identity = _unlocked(_member(archive, _IDENTITY).read(), key)
            _extract(_member(archive, _CONTENTS), identity, folder)
        manifest = json.loads((folder / _MANIFEST).read_bytes())
        digests: dict[str, str] = dict(manifest["files"])
        created_at = datetime.fromisoformat(manifest["facts"].pop("created_at"))
        facts = BackupFacts(**manifest["facts"], created_at=created_at)
        is_known = manifest["format"] == _FORMAT
    except OSError as error:
        raise BackupFailed(f"Can't read {file}: {error.strerror or error}.") from error
    except _UNUSABLE as error:
        raise BackupFailed(f"Can't use {file}. {_NOT_A_BACKUP}") from error
    if not is_known:
        raise BackupFailed(f"Can't use {file}: a newer version wrote it. Install that version.")
    for name, digest in digests.items():
        if not (folder / name).is_file() or _digest(folder / name) != digest:
            raise BackupFailed(f"Can't use {file}. {_NOT_A_BACKUP}")
    yield facts


@contextmanager
def private_temporary_folder() -> Iterator[Path]:
    """Yield a folder for this account alone, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="latchkey-backup-") as folder:
        yield Path(folder)


@contextmanager
def _private(file: Path) -> Iterator[BinaryIO]:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as opened:
        yield opened


def _write_contents(
    target: BinaryIO, members: Mapping[str, Path], facts: BackupFacts, public: object
) -> None:
    """Write the encrypted archive, and its length before it once that is known."""
    place = target.tell()
    target.write(bytes(tarfile.BLOCKSIZE))
    start = target.tell()
    with _archived(members, facts) as archive:
        pyrage.encrypt_io(archive, target, [public])
    header = tarfile.TarInfo(_CONTENTS)
    header.size = target.tell() - start
    # Two empty blocks end an archive.
    target.write(bytes(-header.size % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE))
    end = target.tell()
    target.seek(place)
    target.write(header.tobuf(tarfile.GNU_FORMAT))
    target.seek(end)


@contextmanager
def _archived(members: Mapping[str, Path], facts: BackupFacts) -> Iterator[IO[bytes]]:
    """Yield the archive of ``members`` to read while a thread makes it."""
    described = {**asdict(facts), "created_at": facts.created_at.isoformat()}
    digests = {name: _digest(path) for name, path in members.items()}
    manifest = json.dumps({"format": _FORMAT, "facts": described, "files": digests}).encode()
    reads, writes = os.pipe()

    def write() -> None:
        # The reader has given up, and says why.
        with (
            suppress(BrokenPipeError),
            os.fdopen(writes, "wb") as pipe,
            tarfile.open(fileobj=pipe, mode="w|") as archive,
        ):
            header = tarfile.TarInfo(_MANIFEST)
            header.size = len(manifest)
            archive.addfile(header, io.BytesIO(manifest))
            for name, path in members.items():
                archive.add(path, name, filter=_without_owner)

    thread = threading.Thread(target=write, name="backup archive")
    thread.start()
    try:
        with os.fdopen(reads, "rb") as pipe:
            yield pipe
    finally:
        thread.join()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def _extract(contents: IO[bytes], identity: object, folder: Path) -> None:
    archive = folder / "contents.tar"
    try:
        with archive.open("wb") as target:
            pyrage.decrypt_io(contents, target, [identity])
    except pyrage.DecryptError as error:
        raise ValueError(str(error)) from error
    with tarfile.open(archive, "r:") as inner:
        inner.extractall(folder, filter="data")
    archive.unlink()


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    member = archive.extractfile(name)
    if member is None:
        raise ValueError(name)
    return member


def _locked(identity: bytes, lock: BackupLock) -> bytes:
    locked: bytes
    if lock.passphrase:
        locked = pyrage.passphrase.encrypt(identity, lock.passphrase)
    else:
        locked = pyrage.encrypt(identity, [_recipient(text) for text in lock.recipients])
    return locked


def _unlocked(locked: bytes, key: BackupKey) -> object:
    try:
        if key.passphrase:
            text = pyrage.passphrase.decrypt(locked, key.passphrase)
        else:
            text = pyrage.decrypt(locked, [*_identities(key.identities)])
    except pyrage.DecryptError as error:
        kind = "passphrase" if key.passphrase else "identity"
        raise BackupFailed(f"The {kind} doesn't open this backup.") from error
    return pyrage.x25519.Identity.from_str(text.decode())


def _recipient(text: str) -> object:
    kind = pyrage.ssh if text.startswith("ssh-") else pyrage.x25519
    try:
        return kind.Recipient.from_str(text)
    except (pyrage.RecipientError, UnicodeEncodeError) as error:  # UTF-8 alone is a key's text
        raise BackupFailed(
            f"Can't encrypt for {text!r}: must be an age public key (age1…) or an SSH public key."
        ) from error


def _identities(text: str) -> Iterator[object]:
    try:
        if "PRIVATE KEY-----" in text:
            yield pyrage.ssh.Identity.from_buffer(text.encode())
            return
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                yield pyrage.x25519.Identity.from_str(line.strip())
    except pyrage.IdentityError as error:
        raise BackupFailed("The identity file has no private key of age or SSH.") from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_DUMP = "database.dump"
_SCHEMA = "public"
_ASIDE = "latchkey_before_restore"


@dataclass(frozen=True, slots=True)
class PostgresqlBackups:
    """The schema ``public`` of the database at ``url``."""

    url: str
    database: str = "postgresql"

    def write(self, file: Path, facts: BackupFacts, lock: BackupLock) -> int:
        with private_temporary_folder() as folder:
            dump = folder / _DUMP
            options = ("--format=custom", "--no-owner", "--no-privileges", f"--schema={_SCHEMA}")
            _run(self.url, "pg_dump", *options, f"--file={dump}")
            return write_backup(file, {_DUMP: dump}, facts, lock)

    @contextmanager
    def open(self, file: Path, key: BackupKey) -> Iterator[OpenBackup]:
        with private_temporary_folder() as folder, opened_backup(file, key, folder) as facts:
            if (folder / _DUMP).is_file():
                # Reads all of it, and finds a program that is too old for it.
                _run("", "pg_restore", "--file=/dev/null", str(folder / _DUMP))
            yield _OpenPostgresql(self, facts, folder)

    def is_empty(self) -> bool:
        tables = text("SELECT count(*) FROM pg_tables WHERE schemaname = :schema")
        with translate_errors(), connection_to(self.url) as connection:
            return not connection.scalar(tables, {"schema": _SCHEMA})


@dataclass(frozen=True, slots=True)
class _OpenPostgresql:
    target: PostgresqlBackups
    facts: BackupFacts
    folder: Path

    def restore(self) -> None:
        url = self.target.url
        # What is there stays until all of the backup, which creates the schema, is in its place.
        _execute(
            url,
            f"DROP SCHEMA IF EXISTS {_ASIDE} CASCADE",
            f"ALTER SCHEMA {_SCHEMA} RENAME TO {_ASIDE}",
        )
        options = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
        try:
            _run(url, "pg_restore", *options, str(self.folder / _DUMP))
        except BaseException:
            _execute(
                url,
                f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE",
                f"ALTER SCHEMA {_ASIDE} RENAME TO {_SCHEMA}",
            )
            raise
        _execute(url, f"DROP SCHEMA {_ASIDE} CASCADE")


def _execute(url: str, *statements: str) -> None:
    with translate_errors(), connection_to(url) as connection:
        for statement in statements:
            connection.execute(text(statement))


def _without_password(url: str, folder: Path) -> str:
    """Return ``url`` with a file for its password: every account sees a process's arguments."""
    parsed = make_url(url).set(drivername="postgresql")
    # libpq takes it as a parameter, too.
    plain = parsed.password or parsed.query.get("password")
    if not plain:
        return parsed.render_as_string(hide_password=False)
    file = folder / "pgpass"
    make_private_file(file)
    password = str(plain).replace("\\", "\\\\").replace(":", "\\:")
    file.write_text(f"*:*:*:*:{password}\n")
    # With set(), None would leave the password as it is.
    named = (
        parsed._replace(password=None)
        .difference_update_query(["password"])
        .update_query_dict({"passfile": str(file)})
    )
    return named.render_as_string(hide_password=False)


def _run(url: str, program: str, *arguments: str) -> None:
    path = shutil.which(program)
    if path is None:
        raise BackupFailed(
            f"{program} isn't installed. Install PostgreSQL's client programs, in the server's "
            "version or a newer one."
        )
    with private_temporary_folder() as folder:
        target = [f"--dbname={_without_password(url, folder)}"] if url else []
        done = subprocess.run(  # noqa: S603 - the program is ours, the URL the operator's
            [path, *target, *arguments], capture_output=True, text=True, check=False
        )
    if done.returncode:
        [*_, last] = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise BackupFailed(f"{program} failed: {last}")


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
            # First, so that all that is in it is in the database, too.
            if self.queue.is_file():
                members[_QUEUE] = folder / _QUEUE
                _copy(self.queue, folder / _QUEUE)
            _copy(self.file, folder / _DATABASE)
            return write_backup(file, members, facts, lock)

    @contextmanager
    def open(self, file: Path, key: BackupKey) -> Iterator[OpenBackup]:
        with private_temporary_folder() as folder, opened_backup(file, key, folder) as facts:
            for copy in folder.glob("*.sqlite3"):
                _check(copy)
            yield _OpenSqlite(self, facts, folder)

    def is_empty(self) -> bool:
        if not self.file.is_file() or not self.file.stat().st_size:
            return True
        with _errors(self.file), closing(_connect(self.file)) as connection:
            found = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return not found[0]


@dataclass(frozen=True, slots=True)
class _OpenSqlite:
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
