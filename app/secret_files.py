"""Secrets in files: ``NAME_FILE`` names the file that holds the secret setting ``NAME``."""

from collections.abc import Iterable, Mapping
from pathlib import Path

SUFFIX = "_FILE"


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
