"""Files and folders that only the account of this process can open: 0600 in 0700.

``wsgi.py`` sets the process's umask besides, for what libraries create.
"""

import os
from contextlib import suppress
from pathlib import Path

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


def _restrict(path: Path) -> None:
    with suppress(FileNotFoundError, PermissionError):
        if path.stat().st_mode & 0o077:
            path.chmod(_OWNER_READS_AND_WRITES)
