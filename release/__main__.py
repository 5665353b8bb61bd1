"""``python -m release VERSION``: make a release; without a version: its files, from this commit.

Everything that can refuse a release is looked for first. A release is two commits: one that sets
the version and dates its section of the changelog, and one that records the first. Then its files
are made twice, compared and checked. Nothing is uploaded, and the tag isn't pushed.
"""

import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from app.domain.values.installation import VERSION
from release.artefacts import ROOT, differences, git, make_artefacts
from release.checks import CheckFailed, check
from release.record import (
    CHANGELOG,
    FILE,
    UNRELEASED,
    Release,
    add,
    files_of,
    require_no_files,
    require_releasable,
    set_version,
)


def main(arguments: list[str]) -> int:
    """Make the release that ``arguments`` name; return the exit code."""
    try:
        if arguments:
            version = arguments[0]
            commit = _commit_release(version)
        else:
            version, commit = VERSION, git("rev-parse", "HEAD")
            require_no_files(version)
        _make_files(version, commit)
    except (CheckFailed, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _commit_release(version: str) -> str:
    """Set, date and record ``version``, and tag it; return its commit."""
    require_releasable(version)
    today = datetime.now(UTC).date()
    changelog = ROOT / CHANGELOG
    heading = f"## Unreleased\n\n## {version}, {today.isoformat()}\n"
    dated = UNRELEASED.sub(lambda section: heading + section[1], changelog.read_text(), count=1)
    changelog.write_text(dated)
    set_version(version)
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
    target = files_of(version)
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
