"""A release that is refused is refused before anything is changed."""

from pathlib import Path

import pytest

from release.artefacts import git
from release.record import CHANGELOG, VERSION_FILE, require_releasable

VERSION = "999.0.0"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that can be released."""
    write(tmp_path, CHANGELOG, "# Changelog\n\n## Unreleased\n\n- News.\n\n## 1.0.0, 2026-01-01\n")
    write(tmp_path, VERSION_FILE, 'VERSION = "1.0.0"\n')
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
