"""What was released: ``releases.toml``, which checks and the documentation read.

And what can be released next.
"""

import re
import subprocess
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from release.artefacts import ROOT, git

CHANGELOG = "CHANGELOG.md"
VERSION_FILE = "app/domain/values/installation.py"
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


UNRELEASED = re.compile(r"## Unreleased\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
"""The changelog's section of what is released next."""

_VERSION_LINE = re.compile(r'^VERSION = "[^"]+"$', re.MULTILINE)


def require_releasable(version: str, root: Path = ROOT) -> None:
    """Raise ``ValueError`` if ``version`` can't be released from the repository at ``root``.

    This looks for what would refuse a later step, so that no release is left half made.
    """
    latest = releases()[0].version if releases() else "0.0.0"
    if numbers(version) <= numbers(latest):
        raise ValueError(f"{latest} is released already: choose a version above it.")
    require_no_files(version, root)
    if git("status", "--porcelain", root=root):
        raise ValueError("There are uncommitted changes: a release is made from a commit.")
    if git("tag", "--list", f"v{version}", root=root):
        raise ValueError(f"The tag v{version} exists already: remove it first (git tag -d).")
    try:
        for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
            git("var", who, root=root)
    except subprocess.CalledProcessError as error:
        raise ValueError(f"git doesn't know who commits: {error.stderr.strip()}") from None
    section = UNRELEASED.search((root / CHANGELOG).read_text())
    if not section or not section[1].strip():
        raise ValueError("CHANGELOG.md has nothing under 'Unreleased'.")
    if len(_VERSION_LINE.findall((root / VERSION_FILE).read_text())) != 1:
        raise ValueError(f'{VERSION_FILE} has no line VERSION = "…".')


def files_of(version: str, root: Path = ROOT) -> Path:
    """Return the folder of a release's files."""
    return root / "dist" / version


def require_no_files(version: str, root: Path = ROOT) -> None:
    """Raise ``ValueError`` if there are files of ``version``, which nothing overwrites."""
    target = files_of(version, root)
    if target.exists():
        raise ValueError(f"{target.relative_to(root)} exists already: remove it first.")


def set_version(version: str) -> None:
    """Write ``version`` where the code has it."""
    file = ROOT / VERSION_FILE
    file.write_text(_VERSION_LINE.sub(f'VERSION = "{version}"', file.read_text()))


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
