"""``latchkey``: the commands of a machine's installation, from any folder."""

import os
import subprocess
from pathlib import Path

import click
import pytest

from app.commands.terminal.output import as_called
from app.composition import settings as settings_module
from app.composition.settings import (
    SettingsError,
    choose_installation,
    load_settings,
    prepare_trial,
    settings_files,
)
from app.domain.values.installation import VERSION
from tests.commands.real_installation import ROOT, TIMEOUT_SECONDS, Installation
from tests.commands.terminal import run_in_terminal
from tests.fakes.keys import SECRET
from tests.servers.forked_commands import running_command

pytestmark = pytest.mark.first


@pytest.fixture
def settings_file(tmp_path: Path, sqlite_url: str) -> Path:
    """A settings file as ``deploy/systemd`` has it, with its secrets next to it."""
    folder = tmp_path / "etc"
    secrets = folder / "secrets"
    secrets.mkdir(parents=True)
    for name, text in (
        ("secret_key", SECRET),
        ("database_url", sqlite_url),
        ("mail_url", f"file:{tmp_path}/mails"),
    ):
        (secrets / name).write_text(text)
    file = folder / "settings.env"
    file.write_text("PUBLIC_URL=https://shop.example.com\n")
    return file


def latchkey(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"HOME": str(folder), "FLASK_SKIP_DOTENV": "", **environment}
    with running_command(words, folder, settings, module="cli") as running:
        return running.finish(TIMEOUT_SECONDS)


def test_command_works_on_the_named_installation_whatever_the_folder_has(
    settings_file: Path, tmp_path: Path, sqlite_url: str
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / ".env").write_text(f"DATABASE_URL=sqlite:///{folder}/wrong.sqlite3\nAPP_ENV=oops\n")
    done = latchkey(
        folder,
        "user",
        "create",
        "ann@example.com",
        "--superuser",
        "--no-input",
        LATCHKEY_SETTINGS=str(settings_file),
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "wrong.sqlite3").exists()
    as_server = {"DATABASE_URL": sqlite_url, "SECRET_KEY": SECRET, "PYTHONPATH": str(ROOT)}
    listed = Installation(folder, as_server | {"FLASK_SKIP_DOTENV": "1"}).run("user", "list")
    assert "ann@example.com" in listed.stdout


def test_version_is_that_of_latchkey(tmp_path: Path) -> None:
    assert latchkey(tmp_path, "--version").stdout == f"latchkey {VERSION}\n"


def test_missing_settings_file_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.env"
    done = latchkey(tmp_path, "user", "list", LATCHKEY_SETTINGS=str(missing))
    assert done.returncode == 1
    assert f"Can't read {missing}: No such file or directory." in done.stderr


def test_script_on_path_runs_the_command_of_its_project(tmp_path: Path) -> None:
    if not (ROOT / ".venv").exists():
        pytest.skip("the script needs the environment that `make run` creates")
    link = tmp_path / "latchkey"
    link.symlink_to(ROOT / "deploy" / "latchkey")
    done = subprocess.run(
        [link, "user", "create", "--help"],
        cwd=tmp_path,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert done.stdout.startswith("Usage: latchkey user create"), done.stderr
    assert "latchkey user create ann@example.com --superuser" in done.stdout
    assert "flask user" not in done.stdout


def test_change_at_a_terminal_says_which_shop_it_is_about(
    settings_file: Path, tmp_path: Path, sqlite_url: str
) -> None:
    shop = Installation(tmp_path, {"LATCHKEY_SETTINGS": str(settings_file), "TERM": "xterm"})
    database = sqlite_url.removeprefix("sqlite:///")
    named = f"Shop: https://shop.example.com (database {database})"
    changed = run_in_terminal(shop, "group", "create", "Support", "--short", COLUMNS="500")
    assert changed.startswith(named)
    assert SECRET not in changed
    assert "Shop:" not in run_in_terminal(shop, "group", "list", "--short")
    assert "Shop:" not in shop.run("group", "create", "Warehouse").stderr


def test_installation_of_the_machine_is_chosen_before_any_other(
    settings_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_module, "INSTALLED_SETTINGS", settings_file)
    monkeypatch.setenv("LATCHKEY_SETTINGS", "")
    monkeypatch.setenv("FLASK_SKIP_DOTENV", "")
    for name in ("DATABASE_URL", "APP_ENV", "SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match=r"Run `latchkey` instead of\s`flask`"):
        load_settings()
    (tmp_path / ".env").write_text("APP_ENV=development\nDATABASE_URL=sqlite:///other\n")
    choose_installation()
    assert settings_files() == (settings_file,)
    chosen = load_settings()
    assert (chosen.app_env, chosen.public_url) == ("production", "https://shop.example.com")
    assert chosen.secret_key == SECRET
    named = tmp_path / "named.env"
    named.write_text("APP_ENV=development\n")
    monkeypatch.setenv("LATCHKEY_SETTINGS", str(named))
    choose_installation()
    assert load_settings().app_env == "development"


def test_folder_without_settings_becomes_a_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert prepare_trial(folder)
    file = folder / ".env"
    assert file.stat().st_mode & 0o777 == 0o600
    settings = load_settings()
    assert settings.database_url == f"sqlite:///{tmp_path}/my%20shop/latchkey.sqlite3"
    assert settings.mail_file == folder / "mails.txt"
    assert settings.queue_file == folder / "latchkey.sqlite3-queue"
    made = file.read_text()
    assert prepare_trial(folder)
    assert file.read_text() == made


def test_demo_changes_no_folder_that_has_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("APP_ENV=production\n")
    assert not prepare_trial(tmp_path)
    assert (tmp_path / ".env").read_text() == "APP_ENV=production\n"
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)
    assert not prepare_trial(below)
    assert not prepare_trial(ROOT)
    (tmp_path / ".env").unlink()
    monkeypatch.setenv("DATABASE_URL", "sqlite:///elsewhere.sqlite3")
    assert not prepare_trial(below)
    assert not (below / ".env").exists()


def test_advice_names_the_command_as_it_was_called(
    settings_file: Path, tmp_path: Path, empty_sqlite_url: str
) -> None:
    (settings_file.parent / "secrets" / "database_url").write_text(empty_sqlite_url)
    checked = latchkey(tmp_path, "doctor", LATCHKEY_SETTINGS=str(settings_file))
    assert "Run `latchkey db upgrade`." in checked.stdout
    refused = latchkey(tmp_path, "serve", LATCHKEY_SETTINGS=str(settings_file))
    assert "Run `latchkey db upgrade`." in refused.stderr
    assert "`flask" not in checked.stdout + refused.stderr
    for advice in ("flask user create EMAIL", "Do: flask oidc confirm", "`flask resume`"):
        with click.Context(click.Command("doctor"), info_name="latchkey"):
            assert as_called(advice) == advice.replace("flask", "latchkey")
    with click.Context(click.Command("doctor"), info_name="latchkey"):
        assert as_called("Install flask or so.") == "Install flask or so."
