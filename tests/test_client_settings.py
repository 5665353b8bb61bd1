"""What a person at the shell brings along on the way to another instance."""

from pathlib import Path

import pytest

from app.settings import load_client_settings


def test_token_is_read_from_the_environment() -> None:
    assert load_client_settings({"LATCHKEY_TOKEN": " a token\n"}).token == "a token"
    assert load_client_settings({}).token == ""


def test_logins_are_saved_in_the_settings_folder() -> None:
    chosen = load_client_settings({"XDG_CONFIG_HOME": "/tmp/settings"})  # noqa: S108 - not opened
    assert chosen.folder == Path("/tmp/settings/latchkey")  # noqa: S108


@pytest.mark.parametrize(
    "environment", [{}, {"XDG_CONFIG_HOME": ""}, {"XDG_CONFIG_HOME": "settings"}]
)
def test_relative_settings_folder_is_ignored(environment: dict[str, str]) -> None:
    assert load_client_settings(environment).folder == Path.home() / ".config" / "latchkey"


def test_repr_shows_no_token() -> None:
    assert "a token" not in repr(load_client_settings({"LATCHKEY_TOKEN": "a token"}))
