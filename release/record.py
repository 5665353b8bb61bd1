"""What was released: ``releases.toml``, which checks and the documentation read."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

FILE = Path(__file__).parent / "releases.toml"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Release:
    """One release: its version, the day it was made, and the commit it was made from."""

    version: str
    date: date
    commit: str


def releases() -> tuple[Release, ...]:
    """Return all releases, newest first."""
    return tuple(Release(**entry) for entry in tomllib.loads(FILE.read_text()).get("release", ()))


def add(release: Release) -> None:
    """Record ``release`` above the others."""
    head, _, rest = FILE.read_text().partition("\n")
    entry = (
        f'[[release]]\nversion = "{release.version}"\n'
        f'date = {release.date.isoformat()}\ncommit = "{release.commit}"\n'
    )
    FILE.write_text(f"{head}\n\n{entry}{rest}")


def numbers(version: str) -> tuple[int, ...]:
    """Return the three numbers of ``version``; raise ``ValueError`` if it has another form."""
    found = _VERSION.fullmatch(version)
    if not found:
        raise ValueError(f"{version!r} isn't a version: write three numbers, such as 1.4.0.")
    return tuple(map(int, found.groups()))
