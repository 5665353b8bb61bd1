"""Secrets in files: SECRET_KEY_FILE and the like."""

from dataclasses import fields
from pathlib import Path

import pytest

from app.factory import create_app
from app.settings import DEVELOPMENT_SECRET, Settings, SettingsError, load_settings
from tests.commands.real_installation import at_a_terminal
from tests.fakes.keys import SECRET
from tests.test_settings import PRODUCTION

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


@pytest.mark.parametrize("name", SECRETS)
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
    former = {"SECRET_KEY_FALLBACKS": f"{DEVELOPMENT_SECRET},{'f' * 40}"}
    assert problem({**PRODUCTION, **former}).startswith("SECRET_KEY_FALLBACKS: everyone knows")
    assert DEVELOPMENT_SECRET in load_settings(former).secret_key_fallbacks


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


def test_readable_file_is_a_warning(sqlite_url: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    installation = at_a_terminal(sqlite_url, tmp_path, SECRET_KEY_FILE=str(secret))
    del installation.environment["SECRET_KEY"]
    secret.chmod(0o644)
    warned = installation.run("doctor", "--short")
    assert f"Every account on this machine can read {secret}." in installation.run("doctor").stdout
    assert "settings\twarning" in warned.stdout
    secret.chmod(0o600)
    assert "settings\twarning" not in installation.run("doctor", "--short").stdout


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
