"""The machine: its clock and randomness, and files that only this process's account can open.

Private files have the mode 0600, in folders with 0700. Saved logins are kept in one.
"""

import contextlib
import fcntl
import json
import os
import secrets
import string
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from app.domain.values.installation import ExportFailed, Fault
from app.ports.instance import Profile


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def timestamp(self) -> float:
        return time.time()


_ALPHABET = string.ascii_letters + string.digits


class SystemRandomness:
    """Randomness from the operating system."""

    def token(self, length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))

    def secret(self, size: int) -> bytes:
        return secrets.token_bytes(size)


_OWNER_READS_AND_WRITES = 0o600
_OWNER_ENTERS = 0o700
_BESIDE_SQLITE = ("-wal", "-shm", "-journal")


def make_private_folder(folder: Path) -> None:
    """Create ``folder`` and its parents for this account alone.

    An existing one stays unchanged: it may be shared on purpose.
    """
    if folder.is_dir():
        return
    make_private_folder(folder.parent)
    folder.mkdir(mode=_OWNER_ENTERS, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Create ``path`` and its folder for this account alone; restrict it if it exists.

    Others can't open it at any moment. Another account's file stays unchanged.
    """
    make_private_folder(path.parent)
    # Never opened once it exists: closing it would release the locks that SQLite holds on it in
    # this process (fcntl(2)).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_READS_AND_WRITES))
    _restrict(path)


def make_private_database(path: Path) -> None:
    """Create a SQLite file as ``make_private_file`` does, with its companion files.

    SQLite creates the latter with the permissions of the former.
    """
    make_private_file(path)
    for suffix in _BESIDE_SQLITE:
        _restrict(path.with_name(path.name + suffix))


class DiskFiles:
    """Writes to a temporary file first, so that the file is complete or missing."""

    def write(self, file: Path, lines: Iterable[str]) -> int:
        partial = file.with_name(f".{file.name}.partial")
        try:
            partial.unlink(missing_ok=True)
            descriptor = os.open(
                partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_READS_AND_WRITES
            )
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as target:
                target.writelines(f"{line}\n" for line in lines)
                target.flush()
                os.fsync(target.fileno())
                size = os.fstat(target.fileno()).st_size
            partial.replace(file)
        except OSError as error:
            raise ExportFailed(f"Can't write {file}: {error.strerror}.") from error
        finally:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        return size


def _restrict(path: Path) -> None:
    with suppress(FileNotFoundError, PermissionError):
        if path.stat().st_mode & 0o077:
            path.chmod(_OWNER_READS_AND_WRITES)


_OWNER_READS = 0o600


class FileProfiles:
    """Keeps them in ``profiles.json`` of ``folder``, which is made when the first is saved."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "profiles.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        lock = self._file.with_name("profiles.lock")
        try:
            make_private_folder(lock.parent)
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT, _OWNER_READS)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Fault(f"Can't write {lock}: {reason}.") from None
        with os.fdopen(descriptor, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield

    def list_profiles(self) -> tuple[Profile, ...]:
        try:
            text = self._file.read_text()
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            raise self._unusable() from error
        try:
            return tuple(Profile(**entry) for entry in json.loads(text))
        except (TypeError, ValueError):
            raise self._unusable() from None

    def find(self, url: str) -> Profile | None:
        return next((profile for profile in self.list_profiles() if profile.url == url), None)

    def check(self) -> None:
        with self.locked():
            self._write(self.list_profiles())

    def save(self, profile: Profile) -> None:
        with self.locked():
            self._put(profile)

    def replace(self, before: Profile, after: Profile) -> None:
        if self.find(before.url) == before:
            self._put(after)

    def _put(self, profile: Profile) -> None:
        others = (saved for saved in self.list_profiles() if saved.url != profile.url)
        self._write(sorted((*others, profile), key=lambda saved: saved.url))

    def forget(self, url: str) -> bool:
        if self.find(url) is None:
            return False  # and no folder is made for a lock
        with self.locked():
            profiles = self.list_profiles()
            left = [profile for profile in profiles if profile.url != url]
            if len(left) == len(profiles):
                return False
            self._write(left)
            return True

    def _write(self, profiles: Iterable[Profile]) -> None:
        # Written to another file and moved, so that a reader never gets half of it; created with
        # its mode, so that others can never open it.
        fresh = self._file.with_name(f".profiles-{os.getpid()}.json")
        text = json.dumps([asdict(profile) for profile in profiles], indent=2)
        try:
            make_private_folder(self._file.parent)
            with contextlib.suppress(FileNotFoundError):
                fresh.unlink()
            opened = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_READS)
            with os.fdopen(opened, "w") as file:
                file.write(text)
            fresh.replace(self._file)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise Fault(f"Can't write {self._file}: {reason}.") from None

    def _unusable(self) -> Fault:
        return Fault(f"Can't read {self._file}. Delete it and sign in again with: flask login URL")
