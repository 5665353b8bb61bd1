"""``python -m release VERSION``: make a release; without a version: its files, from this commit.

A release is two commits: one that sets the version and dates its section of the changelog, and one
that records the first. Then its files are made twice, compared and checked. Nothing is uploaded,
and the tag isn't pushed.
"""

import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from app.domain.values.installation import VERSION
from release.artefacts import ROOT, differences, git, make_artefacts
from release.checks import CheckFailed, check
from release.record import FILE, Release, add, numbers, releases

_CHANGELOG = ROOT / "CHANGELOG.md"
_VERSION_FILE = ROOT / "app/domain/values/installation.py"
_UNRELEASED = re.compile(r"## Unreleased\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def main(arguments: list[str]) -> int:
    """Make the release that ``arguments`` name; return the exit code."""
    try:
        if arguments:
            version = arguments[0]
            commit = _commit_release(version)
        else:
            version, commit = VERSION, git("rev-parse", "HEAD")
        _make_files(version, commit)
    except (CheckFailed, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _commit_release(version: str) -> str:
    """Set, date and record ``version``, and tag it; return its commit."""
    latest = releases()[0].version if releases() else "0.0.0"
    if numbers(version) <= numbers(latest):
        raise ValueError(f"{latest} is released already: choose a version above it.")
    if git("status", "--porcelain"):
        raise ValueError("There are uncommitted changes: a release is made from a commit.")
    today = datetime.now(UTC).date()
    text = _CHANGELOG.read_text()
    section = _UNRELEASED.search(text)
    if not section or not section[1].strip():
        raise ValueError("CHANGELOG.md has nothing under 'Unreleased'.")
    dated = f"## Unreleased\n\n## {version}, {today.isoformat()}\n{section[1]}"
    _CHANGELOG.write_text(text[: section.start()] + dated + text[section.end() :])
    source = _VERSION_FILE.read_text()
    _VERSION_FILE.write_text(source.replace(f'VERSION = "{VERSION}"', f'VERSION = "{version}"'))
    subprocess.run([sys.executable, "-m", "docs"], cwd=ROOT, check=True, timeout=600)
    git("commit", "--all", "--message", f"Release {version}")
    commit = git("rev-parse", "HEAD")
    git("tag", "--annotate", f"v{version}", "--message", f"Latchkey {version}")
    add(Release(version, today, commit))
    subprocess.run([sys.executable, "-m", "docs"], cwd=ROOT, check=True, timeout=600)
    git("commit", "--all", "--message", f"Record the release {version}")
    print(f"Latchkey {version} is {commit}, tagged v{version} and recorded in {FILE.name}.")
    return commit


def _make_files(version: str, commit: str) -> None:
    target = ROOT / "dist" / version
    if target.exists():
        raise ValueError(f"{target.relative_to(ROOT)} exists already: remove it first.")
    files = make_artefacts(commit, version, target)
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder) / version
        make_artefacts(commit, version, again)
        if different := differences(target, again):
            raise CheckFailed(f"Made twice, these differ: {', '.join(different)}")
    print(f"{len(files)} files in {target.relative_to(ROOT)}, the same bytes when made again")
    for sentence in check(files, version):
        print(sentence)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
