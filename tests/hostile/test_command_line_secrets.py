"""Secrets can be kept out of the command line, which every user of a machine can read."""

import re
from pathlib import Path

import click
import pytest
from click.testing import Result

from app.domain.authorization.actor import OPERATOR
from app.domain.webhooks import Webhook
from app.ports import Ports
from app.services.webhooks.lists import show_webhook
from docs.commands import entries
from tests.builders.apps import make_app
from tests.builders.provider_records import make_provider
from tests.commands.shell import run, run_json

SECRET = "Zm9yLXRoZS1lbmRwb2ludC1hbG9uZQ"
WARNING = "Warning: other users of this machine can read the command line."
CREATE = ("webhook", "create", "--name", "hook", "--event", "ORDER_PAID")
TARGET = ("--target-url", "https://app.example.com/hook")

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def shop(ports: Ports) -> Ports:
    make_app(ports, "Warehouse")
    return ports


def _headers(ports: Ports) -> dict[str, object]:
    hook = show_webhook(ports, OPERATOR, 1)
    assert isinstance(hook, Webhook)
    return dict(hook.reveal_headers())


def _done(result: Result) -> str:
    assert result.exit_code == 0, result.output
    assert SECRET not in result.output
    return result.stderr


def test_header_is_read_from_a_file(shop: Ports, tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text(f"Authorization-Key: {SECRET}\n\nX-Team: stock\n")
    output = _done(run(shop, *CREATE, *TARGET, "--header", f"@{file}"))
    assert WARNING not in output
    assert _headers(shop) == {"Authorization-Key": SECRET, "X-Team": "stock"}


def test_header_is_read_from_standard_input(shop: Ports) -> None:
    output = _done(run(shop, *CREATE, *TARGET, "--header", "-", stdin=f"X-Key: {SECRET}\n"))
    assert WARNING not in output
    edited = run(shop, "webhook", "edit", "hook", "--header", "-", stdin="X-Key: other\n")
    assert WARNING not in _done(edited)
    assert _headers(shop) == {"X-Key": "other"}


def test_header_in_the_command_line_is_accepted_with_a_warning(shop: Ports) -> None:
    assert WARNING in _done(run(shop, *CREATE, *TARGET, "--header", "X-Team: stock"))
    assert _headers(shop) == {"X-Team": "stock"}


def test_header_without_a_name_is_refused_without_being_repeated(shop: Ports) -> None:
    refused = run(shop, *CREATE, *TARGET, "--header", SECRET)
    assert refused.exit_code == 2
    assert SECRET not in refused.output


def test_target_with_a_token_is_read_with_a_warning(shop: Ports, tmp_path: Path) -> None:
    file = tmp_path / "target"
    file.write_text(f"https://app.example.com/hook?token={SECRET}\n")
    assert WARNING not in run(shop, *CREATE, "--target-url", f"@{file}").stderr
    url = "https://app.example.com/hook?api_key=x"
    assert WARNING in run(shop, *CREATE, "--target-url", url).stderr
    assert WARNING not in run(shop, *CREATE, *TARGET).stderr
    targets = [hook["targetUrl"] for hook in run_json(shop, "webhook", "list")]
    assert "https://app.example.com/hook?token=***" in targets
    stored = show_webhook(shop, OPERATOR, 1)
    assert isinstance(stored, Webhook)
    assert stored.target_url == f"https://app.example.com/hook?token={SECRET}"


def test_only_one_value_is_read_from_standard_input(shop: Ports) -> None:
    for two in (("--header", "-", "--secret", "-"), ("--header", "-", "--header", "-")):
        refused = run(shop, *CREATE, *TARGET, *two, stdin="X-A: 1\n")
        assert refused.exit_code == 2
        assert "Standard input can provide only one of" in refused.stderr


def test_client_secret_is_read_from_a_file_with_a_warning(shop: Ports, tmp_path: Path) -> None:
    make_provider(shop)
    file = tmp_path / "secret"
    file.write_text(f"{SECRET}\n")
    assert WARNING not in _done(run(shop, "oidc", "set", "client_secret", f"@{file}"))
    piped = run(shop, "oidc", "set", "client_secret", "-", stdin=SECRET)
    assert WARNING not in _done(piped)
    assert WARNING in run(shop, "oidc", "set", "client_secret", SECRET).stderr
    domains = run(shop, "oidc", "set", "staff_user_domains", "@example.com")
    assert WARNING not in _done(domains)


def test_every_secret_option_can_be_read_from_a_file(shop: Ports) -> None:
    suspects = [
        f"{' '.join(entry.path)} {param.opts[0]}"
        for entry in entries()
        for param in entry.command.params
        if _takes_secret(param)
    ]
    assert suspects == []


def _takes_secret(one: click.Parameter) -> bool:
    if not re.search(r"secret|password|passwd|token|header|credential", one.name or ""):
        return False
    if isinstance(one, click.Option):
        is_file = one.metavar == "FILE" or (one.name or "").endswith("_file")
        return not (one.is_flag or is_file or "@FILE" in (one.help or ""))
    return one.name != "token_id"
