"""Secrets in files: SECRET_KEY_FILE and the like."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from app.composition.factory import create_app
from app.composition.settings import PUBLISHED_SECRET, Settings, SettingsError, load_settings
from app.composition.wiring import connect
from app.ports.keys import DecryptionError
from tests.commands.real_installation import at_a_terminal
from tests.composition.test_settings import PRODUCTION
from tests.fakes.keys import SECRET
from tests.fixtures.cases import cases

ROOT = Path(__file__).parents[2]
_PRINT_SECRETS = """
import os, sys
from multiprocessing import get_context
from pathlib import Path
from secrets import token_urlsafe
from app.composition.setting_values import own_secret
file, count = Path(sys.argv[1]), int(sys.argv[2])
forking = get_context("fork")
together = forking.Barrier(count)

def start():
    together.wait(60)
    os.write(1, (own_secret(file, lambda: token_urlsafe(48)) + "\\n").encode())

processes = [forking.Process(target=start) for _ in range(count)]
for process in processes:
    process.start()
for process in processes:
    process.join(60)
"""

SECRETS = {
    setting.name.upper(): value
    for setting in fields(Settings)
    if setting.metadata["secret"]
    for value in [
        {
            "database_url": "postgresql://shop:secret@db/shop",
            "database_replica_url": "postgresql://shop:secret@replica/shop",
            "redis_url": "redis://cache:6379/1",
            "outgoing_proxy": "http://shop:secret@proxy.example.com:3128",
            "mail_url": "smtp://user:secret@mail.example.com",
            "rsa_private_key": "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----",
            "secret_key_fallbacks": "first former key\nsecond, former key",
        }.get(setting.name, "s" * 40)
    ]
}


def problem(environment: dict[str, str]) -> str:
    with pytest.raises(SettingsError) as refused:
        load_settings(environment)
    [only] = refused.value.problems
    return only


@cases("name", SECRETS)
def test_every_secret_can_be_in_a_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRETS[name] + "\n")
    others = {"DATABASE_URL": SECRETS["DATABASE_URL"]} if name == "DATABASE_REPLICA_URL" else {}
    in_file = load_settings({f"{name}_FILE": str(tmp_path / "secret"), **others})
    assert in_file == load_settings({name: SECRETS[name], **others}) != load_settings(others)


def test_former_keys_are_separated_by_lines_in_a_file() -> None:
    lines = load_settings({"SECRET_KEY_FALLBACKS": SECRETS["SECRET_KEY_FALLBACKS"]})
    assert lines.secret_key_fallbacks == ("first former key", "second, former key")
    assert load_settings({"SECRET_KEY_FALLBACKS": "a, b"}).secret_key_fallbacks == (
        "a, b",
        "a",
        "b",
    )


def test_parts_of_a_former_key_sign_no_cookies_in_production() -> None:
    former = "ab," + "f" * 40
    settings = load_settings({**PRODUCTION, "SECRET_KEY_FALLBACKS": former})
    assert settings.secret_key_fallbacks == (former, "ab", "f" * 40)
    assert settings.cookie_key_fallbacks == (former, "f" * 40)
    assert create_app(settings=settings).config["SECRET_KEY_FALLBACKS"] == [former, "f" * 40]
    assert load_settings({"SECRET_KEY_FALLBACKS": "ab"}).cookie_key_fallbacks == ("ab",)


def test_key_of_development_is_no_former_key_in_production() -> None:
    former = {"SECRET_KEY_FALLBACKS": f"{PUBLISHED_SECRET},{'f' * 40}"}
    assert problem({**PRODUCTION, **former}).startswith("SECRET_KEY_FALLBACKS: everyone knows")
    assert PUBLISHED_SECRET in load_settings(former).secret_key_fallbacks


def test_other_settings_have_no_file(tmp_path: Path) -> None:
    assert load_settings({"VENDOR_FILE": str(tmp_path / "none")}) == load_settings({})


def test_secret_and_file_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("geheim")
    both = {"SECRET_KEY": "geheim", "SECRET_KEY_FILE": str(tmp_path / "secret")}
    assert problem(both) == "SECRET_KEY and SECRET_KEY_FILE are both set; remove one of them"


def test_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    said = f"MAIL_URL_FILE: can't read {missing}: No such file or directory"
    assert problem({"MAIL_URL_FILE": str(missing)}) == said
    assert "Is a directory" in problem({"MAIL_URL_FILE": str(tmp_path)})
    missing.write_text("\n")
    assert problem({"MAIL_URL_FILE": str(missing)}) == f"MAIL_URL_FILE: {missing} is empty"
    # A deployment has this file before there is a former key.
    assert load_settings({"SECRET_KEY_FALLBACKS_FILE": str(missing)}).secret_key_fallbacks == ()


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every account can enter, unlike ``tmp_path``."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.first
def test_readable_file_is_a_warning(sqlite_url: str, tmp_path: Path, public_folder: Path) -> None:
    secret = public_folder / "secret"
    secret.write_text(f"{SECRET}\n")
    installation = at_a_terminal(sqlite_url, tmp_path, SECRET_KEY_FILE=str(secret))
    del installation.environment["SECRET_KEY"]
    secret.chmod(0o644)
    warning = f"Every account on this machine can read {secret}."
    assert warning in installation.run("doctor").stdout
    public_folder.chmod(0o700)
    assert "settings\twarning" not in installation.run("doctor", "--short").stdout
    public_folder.chmod(0o755)
    secret.chmod(0o600)
    assert "settings\twarning" not in installation.run("doctor", "--short").stdout


@pytest.mark.first
def test_secret_key_can_be_changed_by_commands(sqlite_url: str, tmp_path: Path) -> None:
    old = at_a_terminal(sqlite_url, tmp_path)
    assert old.run("keys", "rotate", "--force").returncode == 0
    new = "the new secret key of this installation"
    lost = at_a_terminal(sqlite_url, tmp_path, SECRET_KEY=new)
    refused = lost.run("serve")
    assert refused.returncode == 1
    assert "SECRET_KEY_FALLBACKS" in refused.stderr
    unread = lost.run("keys", "reseal")
    assert unread.returncode == 1
    assert "Some secrets can't be read." in unread.stderr
    both = at_a_terminal(sqlite_url, tmp_path, SECRET_KEY=new, SECRET_KEY_FALLBACKS=SECRET)
    assert "stored secrets\twarning" in both.run("doctor", "--short").stdout
    assert both.run("keys", "reseal", "--short").stdout.splitlines()[0] == "signing keys\t3\t3\t0"
    assert "stored secrets\tfine" in both.run("doctor", "--short").stdout
    assert "signing keys\tfine" in lost.run("doctor", "--short").stdout


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder ``instance`` that doesn't exist yet."""
    folder = tmp_path / "instance"
    monkeypatch.setattr("app.composition.settings._INSTANCE", folder)
    return folder


def test_development_generates_a_secret_for_this_account_alone(instance: Path) -> None:
    settings = load_settings({})
    assert not instance.exists()  # only what needs it
    secret = settings.secret
    file = instance / "secret-key"
    assert file.read_text() == f"{secret}\n"
    assert (instance.stat().st_mode & 0o777, file.stat().st_mode & 0o777) == (0o700, 0o600)
    assert len(secret) == 64
    assert load_settings({}).secret == Settings().secret == secret
    assert create_app(settings=Settings(database_url="sqlite://")).secret_key == secret
    file.unlink()
    assert load_settings({}).secret != secret
    assert load_settings({"SECRET_KEY": "my own"}).secret == "my own"


@pytest.mark.parametrize("mode", [0o644, 0o660])
def test_generated_secret_is_private_again(instance: Path, mode: int) -> None:
    secret = Settings().secret
    (instance / "secret-key").chmod(mode)
    assert Settings().secret == secret
    assert (instance / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.first
def test_processes_that_start_at_once_agree_on_one_secret(tmp_path: Path) -> None:
    file = tmp_path / "instance" / "secret-key"
    printed = subprocess.run(
        [sys.executable, "-c", _PRINT_SECRETS, str(file), "8"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    ).stdout.splitlines()
    assert printed == [file.read_text().rstrip("\n")] * 8
    assert len(printed[0]) == 64


def test_folder_that_cannot_hold_a_secret_is_named(instance: Path) -> None:
    instance.write_text("a file")
    with pytest.raises(SettingsError) as refused:
        _ = Settings().secret
    [problem] = refused.value.problems
    assert problem.startswith(f"SECRET_KEY: must be set, because {instance}/secret-key can't be")


def test_published_secret_is_nobodys_key(instance: Path) -> None:
    """What everyone knows signs nothing, and still reads what it once encrypted."""
    settings = load_settings({"SECRET_KEY": PUBLISHED_SECRET})
    assert settings.secret == (instance / "secret-key").read_text().strip()
    former = load_settings({"SECRET_KEY_FALLBACKS": PUBLISHED_SECRET})
    assert former.cookie_key_fallbacks == ()
    stored = connect(Settings(secret_key=PUBLISHED_SECRET)).encryption.encrypt("test", "kept")
    assert connect(settings).encryption.decrypt("test", stored) == "kept"
    assert not connect(settings).encryption.has_former_keys()
    production = load_settings({**PRODUCTION})
    with pytest.raises(DecryptionError):
        connect(production).encryption.decrypt("test", stored)
