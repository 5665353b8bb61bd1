"""What was released: ``releases.toml``, which checks and the documentation read.

And what can be released next, and the commits that do it.
"""

import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from subprocess import SubprocessError

from release.artefacts import ROOT, GitFailed, git

CHANGELOG = "CHANGELOG.md"
VERSION_FILE = "app/domain/values/installation.py"
FILE = "release/releases.toml"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


@dataclass(frozen=True, slots=True)
class Release:
    """One release: its version, the day it was made, and the commit it was made from."""

    version: str
    date: date
    commit: str


def releases(root: Path = ROOT) -> tuple[Release, ...]:
    """Return all releases, newest first."""
    recorded = tomllib.loads((root / FILE).read_text())
    return tuple(Release(**entry) for entry in recorded.get("release", ()))


UNRELEASED = re.compile(r"## Unreleased\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
"""The changelog's section of what is released next."""

_VERSION_LINE = re.compile(r'^VERSION = "[^"]+"$', re.MULTILINE)


def require_releasable(version: str, root: Path = ROOT) -> None:
    """Raise ``ValueError`` if ``version`` can't be released from the repository at ``root``.

    This looks for what would refuse a later step, so that no release is left half made.
    """
    latest = next((one.version for one in releases(root)), "0.0.0")
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
    except GitFailed as error:
        raise ValueError(f"git doesn't know who commits: {error}") from None
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


def commit_release(version: str, print_docs: Callable[[], object], root: Path = ROOT) -> str:
    """Set, date and record ``version``, and tag it; return its commit.

    ``print_docs`` prints the documentation, which names versions. ``require_releasable`` comes
    first, and ``explain_failure`` around this.
    """
    today = datetime.now(UTC).date()
    changelog = root / CHANGELOG
    heading = f"## Unreleased\n\n## {version}, {today.isoformat()}\n"
    dated = UNRELEASED.sub(lambda section: heading + section[1], changelog.read_text(), count=1)
    changelog.write_text(dated)
    file = root / VERSION_FILE
    file.write_text(_VERSION_LINE.sub(f'VERSION = "{version}"', file.read_text()))
    print_docs()
    git("commit", "--all", "--message", f"Release {version}", root=root)
    commit = git("rev-parse", "HEAD", root=root)
    git("tag", "--annotate", f"v{version}", "--message", f"Latchkey {version}", root=root)
    _add(Release(version, today, commit), root)
    print_docs()
    git("commit", "--all", "--message", f"Record the release {version}", root=root)
    return commit


def _add(release: Release, root: Path) -> None:
    """Record ``release`` above the others."""
    file = root / FILE
    head, _, rest = file.read_text().partition("\n")
    entry = (
        f'[[release]]\nversion = "{release.version}"\n'
        f'date = {release.date.isoformat()}\ncommit = "{release.commit}"\n'
    )
    file.write_text(f"{head}\n\n{entry}{rest}")


@contextmanager
def explain_failure(version: str, start: str, root: Path = ROOT) -> Iterator[None]:
    """Exit with the reason, and what ``describe_rest`` returns, if the block fails.

    Ctrl-C is such a reason.
    """
    try:
        yield
    except (GitFailed, ValueError, OSError, SubprocessError, KeyboardInterrupt) as error:
        sys.exit(f"{str(error) or 'Interrupted.'}\n{describe_rest(version, start, root)}")


def describe_rest(version: str, start: str, root: Path = ROOT) -> str:
    """Return what a release that failed has left since the commit ``start``.

    And the commands that take it back: what was checked out there had no uncommitted changes.
    Where only files were made, ``start`` is empty.
    """
    left, commands = [], []
    if start:
        subjects = git("log", "--reverse", "--format=%s", f"{start}..HEAD", root=root).splitlines()
        left += [f'the commit "{subject}"' for subject in subjects]
        if git("tag", "--list", f"v{version}", root=root):
            left.append(f"the tag v{version}")
            commands.append(f"git tag --delete v{version}")
        if git("status", "--porcelain", root=root):
            left.append("uncommitted changes")
        commands.append(f"git reset --hard {start}")
    if files_of(version, root).exists():
        folder = files_of(version, root).relative_to(root)
        left.append(f"files in {folder}")
        commands.append(f"rm -r {folder}")
    if not left:
        return f"The release {version} is incomplete. Nothing was changed."
    return (
        f"The release {version} is incomplete. It has left {', '.join(left)}. Mend the reason, "
        f"take it back and begin again:\n{' && '.join(commands)}"
    )


def numbers(version: str) -> tuple[int, ...]:
    """Return the three numbers of ``version``; raise ``ValueError`` if it has another form."""
    found = _VERSION.fullmatch(version)
    if not found:
        raise ValueError(f"{version!r} isn't a version: write three numbers, such as 1.4.0.")
    return tuple(map(int, found.groups()))
