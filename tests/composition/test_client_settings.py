"""What a person at the shell brings along on the way to another instance."""

from pathlib import Path

import pytest

from app.composition.settings import SettingsError, load_client_settings
from tests.fixtures.cases import cases
from tests.servers.certificates import certificate_for


def test_token_is_read_from_the_environment() -> None:
    assert load_client_settings({"LATCHKEY_TOKEN": " a token\n"}).token == "a token"
    assert load_client_settings({}).token == ""


def test_logins_are_saved_in_the_settings_folder() -> None:
    chosen = load_client_settings({"XDG_CONFIG_HOME": "/tmp/settings"})  # noqa: S108 - not opened
    assert chosen.folder == Path("/tmp/settings/latchkey")  # noqa: S108


@cases("environment", [{}, {"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "settings"}])
def test_relative_settings_folder_is_ignored(environment: dict[str, str]) -> None:
    assert load_client_settings(environment).folder == Path.home() / ".config" / "latchkey"


def test_repr_shows_no_token() -> None:
    assert "a token" not in repr(load_client_settings({"LATCHKEY_TOKEN": "a token"}))


def test_certificates_and_proxy_apply_to_other_instances_too(tmp_path: Path) -> None:
    authority, _ = certificate_for(tmp_path, "shop.example")
    chosen = load_client_settings(
        {
            "OUTGOING_CA_FILE": str(authority),
            "OUTGOING_PROXY": "http://ann:a-secret@proxy.example:3128",
            "APP_ENV": "production",  # this installation's own settings aren't checked
        }
    )
    assert chosen.settings.outgoing_ca_file == str(authority)
    assert chosen.settings.outgoing_proxy == "http://ann:a-secret@proxy.example:3128"
    assert "a-secret" not in repr(chosen)


@cases(
    ("name", "text"),
    [
        ("OUTGOING_CA_FILE", "/nowhere/ca.pem"),
        ("SSL_CERT_FILE", __file__),
        ("OUTGOING_PROXY", "proxy.example:3128"),
        ("OUTGOING_PROXY", "socks5://proxy.example"),
        ("OUTGOING_PROXY", "http://proxy.example/path"),
    ],
)
def test_unusable_connection_setting_is_named(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=f"{name}: "):
        load_client_settings({name: text})
