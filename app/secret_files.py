"""Secrets in files: those that settings name, and the one that development generates.

``NAME_FILE`` names the file that holds the secret setting ``NAME``.
"""

import fcntl
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

SUFFIX = "_FILE"
_OWNER_READS_AND_WRITES = 0o600
_OWNER_ENTERS = 0o700


def read_secret(environment: Mapping[str, str], name: str) -> str:
    """Return the text of the secret ``name``, empty if it isn't set.

    Raises ``ValueError`` for a file that can't be used, and when both are set.
    """
    text = environment.get(name, "").strip()
    path = environment.get(name + SUFFIX, "").strip()
    if not path:
        return text
    if text:
        raise ValueError(f"{name} and {name}{SUFFIX} are both set; remove one of them")
    try:
        # An environment can hold bytes that aren't UTF-8; a file likewise.
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape").strip()
    except OSError as error:
        raise ValueError(f"{name}{SUFFIX}: can't read {path}: {error.strerror}") from error
    if not text:
        raise ValueError(f"{name}{SUFFIX}: {path} is empty")
    return text


def secret_files(environment: Mapping[str, str], names: Iterable[str]) -> tuple[Path, ...]:
    """Return the files that hold the secrets ``names``."""
    paths = (environment.get(name + SUFFIX, "").strip() for name in names)
    return tuple(Path(path) for path in paths if path)


def own_secret(file: Path, generate: Callable[[], str]) -> str:
    """Return the secret in ``file``, which only this account can read; ``generate`` a missing one.

    Processes that start at once return the same: each holds a lock on the file, which the first
    one finds empty. Raises ``OSError``.
    """
    file.parent.mkdir(mode=_OWNER_ENTERS, parents=True, exist_ok=True)
    opened = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, _OWNER_READS_AND_WRITES)
    with os.fdopen(opened, "r+", encoding="utf-8", errors="surrogateescape") as secret_file:
        fcntl.flock(secret_file, fcntl.LOCK_EX)
        with suppress(PermissionError):  # another account's, shared on purpose
            os.fchmod(opened, _OWNER_READS_AND_WRITES)
        secret = secret_file.read().strip()
        if not secret:
            secret = generate()
            secret_file.write(f"{secret}\n")
            secret_file.flush()
            os.fsync(opened)
        return secret
