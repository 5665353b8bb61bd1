"""Files and folders that only the account of this process can open: 0600 in 0700.

``wsgi.py`` sets the process's umask besides, for what libraries create.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from app.domain.values.installation import ExportFailed

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
