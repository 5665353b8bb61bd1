"""A release that is refused is refused before anything is changed, or says how to go on."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from release.artefacts import GitFailed, git
from release.record import (
    CHANGELOG,
    FILE,
    VERSION_FILE,
    commit_release,
    describe_rest,
    explain_failure,
    releases,
    require_releasable,
)

VERSION = "999.0.0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that can be released."""
    write(tmp_path, CHANGELOG, "# Changelog\n\n## Unreleased\n\n- News.\n\n## 1.0.0, 2026-01-01\n")
    write(tmp_path, VERSION_FILE, 'VERSION = "1.0.0"\n')
    entry = '[[release]]\nversion = "1.0.0"\ndate = 2026-01-01\ncommit = "1"\n'
    write(tmp_path, FILE, f"# Releases\n\n{entry}")
    write(tmp_path, ".gitignore", "dist/\n")
    git("init", "--quiet", root=tmp_path)
    for name, value in (("name", "Ann"), ("email", "ann@example.com")):
        git("config", f"user.{name}", value, root=tmp_path)
    commit(tmp_path)
    require_releasable(VERSION, tmp_path)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def commit(root: Path) -> None:
    git("add", "--all", root=root)
    git("commit", "--quiet", "--message", "Change", root=root)


def test_release_is_refused_before_anything_is_changed(root: Path) -> None:
    for name, text, reason in (
        (CHANGELOG, "# Changelog\n\n## Unreleased\n\n## 1.0.0, 2026-01-01\n", "nothing under"),
        (VERSION_FILE, "", "no line VERSION"),
    ):
        before = (root / name).read_text()
        write(root, name, text)
        with pytest.raises(ValueError, match="uncommitted changes"):
            require_releasable(VERSION, root)
        commit(root)
        with pytest.raises(ValueError, match=reason):
            require_releasable(VERSION, root)
        write(root, name, before)
        commit(root)
    git("tag", f"v{VERSION}", root=root)
    with pytest.raises(ValueError, match=r"tag v999\.0\.0 exists"):
        require_releasable(VERSION, root)
    git("tag", "--delete", f"v{VERSION}", root=root)
    write(root, f"dist/{VERSION}/SHA256SUMS", "")
    with pytest.raises(ValueError, match=r"dist/999\.0\.0 exists"):
        require_releasable(VERSION, root)
    require_releasable("999.0.1", root)
    for version, reason in (("0.0.1", "is released already"), ("999", "isn't a version")):
        with pytest.raises(ValueError, match=reason):
            require_releasable(version, root)


def test_release_is_refused_where_git_does_not_know_who_commits(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("config", "user.name", "", root=root)
    for known in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{known}_NAME", "Ann")
        with pytest.raises(ValueError, match="who commits"):
            require_releasable(VERSION, root)
        monkeypatch.delenv(f"GIT_{known}_NAME")


def test_release_that_git_refuses_says_why_what_is_left_and_how_to_begin_again(root: Path) -> None:
    start = git("rev-parse", "HEAD", root=root)
    released, recorded = f'the commit "Release {VERSION}"', "uncommitted changes"
    for hook, refused, left in (
        ("pre-commit", "", [recorded]),
        ("commit-msg", "Release", [recorded]),
        ("commit-msg", "Record", [released, f"the tag v{VERSION}", recorded]),
        ("reference-transaction", "refs/tags/", [released]),
    ):
        text = f'[ -f "$1" ] && set -- "$(cat "$1")"\ncase "$1 $(cat)" in *"{refused}"*)'
        write(
            root, f".git/hooks/{hook}", f"#!/bin/sh\n{text} echo Too; echo late >&2; exit 1;; esac"
        )
        (root / f".git/hooks/{hook}").chmod(0o755)
        with pytest.raises(GitFailed, match=r"(?s)git (commit|tag) failed:.*Too.*late"):
            commit_release(VERSION, list, root)
        (root / f".git/hooks/{hook}").unlink()
        said, commands = describe_rest(VERSION, start, root).splitlines()
        assert f"It has left {', '.join(left)}. Mend" in said, hook
        subprocess.run(["/bin/sh", "-c", commands], cwd=root, check=True, timeout=60)
        assert (
            describe_rest(VERSION, start, root)
            == f"The release {VERSION} is incomplete. Nothing was changed."
        )
        require_releasable(VERSION, root)
    commit = commit_release(VERSION, list, root)
    assert git("rev-parse", f"v{VERSION}^{{}}", "HEAD~1", root=root).split() == [commit, commit]
    assert [(one.version, one.commit) for one in releases(root)] == [
        (VERSION, commit),
        ("1.0.0", "1"),
    ]


def release_until(step: int, root: Path) -> None:
    """Press Ctrl-C when the documentation is first or again printed, or while files are made."""
    steps = iter(range(1, 4))

    def interrupt() -> None:
        if next(steps) == step:
            os.kill(os.getpid(), signal.SIGINT)

    commit_release(VERSION, interrupt, root)
    write(root, f"dist/{VERSION}/latchkey.whl", "half")
    interrupt()


def test_release_that_is_interrupted_says_what_is_left_and_how_to_begin_again(root: Path) -> None:
    start, tagged = git("rev-parse", "HEAD", root=root), f"the tag v{VERSION}"
    for step, left in (
        (1, ["uncommitted changes"]),
        (2, [f'the commit "Release {VERSION}"', tagged, "uncommitted changes"]),
        (3, [*(f'the commit "{one} {VERSION}"' for one in ("Release", "Record the release"))]),
    ):
        with pytest.raises(SystemExit) as ended, explain_failure(VERSION, start, root):
            release_until(step, root)
        reason, said, commands = str(ended.value).splitlines()
        assert reason == "Interrupted."
        files = [tagged, f"files in dist/{VERSION}"] if step == 3 else []
        assert f"It has left {', '.join([*left, *files])}. Mend" in said
        subprocess.run(["/bin/sh", "-c", commands], cwd=root, check=True, timeout=60)
        require_releasable(VERSION, root)


def test_files_that_are_not_whole_are_removed_alone(root: Path) -> None:
    """Without a version nothing else was made: the tag and the changes are older."""
    git("tag", f"v{VERSION}", root=root)
    write(root, CHANGELOG, "Work of today.")
    write(root, f"dist/{VERSION}/latchkey.whl", "half")
    with pytest.raises(SystemExit) as ended, explain_failure(VERSION, "", root):
        raise OSError("No space left on device")
    assert str(ended.value).splitlines()[-1] == f"rm -r dist/{VERSION}"
