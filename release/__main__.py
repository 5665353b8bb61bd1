"""``python -m release VERSION``: make a release; without a version: its files, from this commit.

Everything that can refuse a release is looked for first. A release is two commits: one that sets
the version and dates its section of the changelog, and one that records the first. Then its files
are made twice, compared and checked. Nothing is uploaded, and the tag isn't pushed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from app.domain.values.installation import VERSION
from release.artefacts import ROOT, GitFailed, differences, git, make_artefacts
from release.checks import CheckFailed, check
from release.record import (
    FILE,
    commit_release,
    explain_failure,
    files_of,
    require_no_files,
    require_releasable,
)


def main(arguments: list[str]) -> int:
    """Make the release that ``arguments`` name; return the exit code."""
    version, start = VERSION, ""
    try:
        if arguments:
            version = arguments[0]
            require_releasable(version)
            start = git("rev-parse", "HEAD")
        else:
            require_no_files(version)
    except (GitFailed, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    with explain_failure(version, start):
        commit = git("rev-parse", "HEAD")
        if start:
            commit = commit_release(version, _print_docs)
            print(f"Latchkey {version} is {commit}, tagged v{version} and recorded in {FILE}.")
        _make_files(version, commit)
    return 0


def _print_docs() -> None:
    subprocess.run([sys.executable, "-m", "docs"], cwd=ROOT, check=True, timeout=600)


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
