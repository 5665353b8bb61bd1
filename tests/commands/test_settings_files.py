"""Which settings files commands read, and that none works on a database by surprise."""

import json
import shutil
from pathlib import Path

import pytest

from tests.commands.real_installation import ROOT, Installation

pytestmark = pytest.mark.first


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project whose own settings file and database are out of the way."""
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("wsgi.py", "cli.py"):
        shutil.copy(ROOT / name, copy)
    for name in ("app", "migrations"):
        (copy / name).symlink_to(ROOT / name)
    return copy


@pytest.fixture
def installed(project: Path, tmp_path: Path) -> Installation:
    """A shell in another folder, with ``FLASK_APP`` set and no settings."""
    folder = tmp_path / "folder"
    folder.mkdir()
    environment = {
        "FLASK_APP": str(project / "wsgi.py"),
        "PYTHONPATH": str(project),
        "HOME": str(folder),
    }
    return Installation(folder, environment)


@pytest.mark.one_of("arguments")
@pytest.mark.parametrize("arguments", [["db", "upgrade"], ["serve"], ["routes"]])
def test_without_settings_nothing_starts_outside_the_project(
    installed: Installation, project: Path, arguments: list[str]
) -> None:
    stopped = installed.run_python("-m", "flask", *arguments)
    assert (stopped.returncode, stopped.stdout) == (1, "")
    for word in ("No settings found", "DATABASE_URL", "APP_ENV", str(project)):
        assert word in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert not (project / "instance").exists()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Installation:
    """A shell outside the project, without settings."""
    return Installation(tmp_path, {"HOME": str(tmp_path)})


def test_missing_settings_are_json_where_it_was_asked_for(elsewhere: Installation) -> None:
    stopped = elsewhere.run("user", "list", "--json")
    assert stopped.returncode == 1
    [error] = json.loads(stopped.stdout)["errors"]
    assert error["code"] == "SETTINGS"
    assert "No settings found" in error["message"]


def test_commands_for_other_instances_need_no_settings(elsewhere: Installation) -> None:
    refused = elsewhere.run("webhook", "list", "--instance", "http://127.0.0.1:1/graphql/")
    assert refused.returncode == 4
    assert "Not signed in" in refused.stderr


def test_development_database_is_used_within_the_project(
    installed: Installation, project: Path
) -> None:
    inner = project / "inner"
    inner.mkdir()
    within = Installation(inner, installed.environment)
    assert "Traceback" not in within.run_python("-m", "flask", "db", "current").stderr
    assert (project / "instance" / "latchkey.sqlite3").exists()


def test_file_beside_wsgi_is_read_from_any_folder(installed: Installation, project: Path) -> None:
    (project / ".env").write_text(f"DATABASE_URL=sqlite:///{project / 'own.sqlite3'}\n")
    found = installed.run_python("-m", "flask", "doctor", "--json")
    assert "Settings read" not in found.stderr
    assert (project / "own.sqlite3").exists()
    [settings] = [row for row in json.loads(found.stdout) if row["subject"] == "settings"]
    assert settings["message"].endswith(f" Read from {project / '.env'}.")


def test_file_of_the_current_folder_wins_and_is_named(
    installed: Installation, project: Path
) -> None:
    (project / ".env").write_text(f"DATABASE_URL=sqlite:///{project / 'own.sqlite3'}\n")
    near = installed.folder / ".env"
    near.write_text(f"DATABASE_URL=sqlite:///{installed.folder / 'near.sqlite3'}\n")
    said = installed.run_python("-m", "flask", "db", "current").stderr
    assert said.startswith(f"Settings read from {near}.\n")
    assert (installed.folder / "near.sqlite3").exists()
    assert not (project / "own.sqlite3").exists()
