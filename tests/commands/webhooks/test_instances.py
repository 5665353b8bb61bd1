"""Instances that cannot be worked on, each with its exit code and what to do about it."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import Result

from app.commands.webhooks import command
from app.domain.values.installation import VERSION
from app.ports import Ports
from docs.commands import entries
from tests.builders.apps import make_app
from tests.builders.people import sign_in
from tests.builders.remote_instances import make_remote_access
from tests.builders.shop import close_storefront
from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import QUERY, Shops
from tests.fixtures.cases import cases
from tests.servers.http import HttpServer, Reply, http_server

LIST = ("webhook", "list")
SOME = "a token"
COMMANDS = {
    entry.path[1]: entry.command
    for entry in entries()
    if entry.path[0] == "webhook" and len(entry.path) > 1
}


@pytest.fixture
def other_server() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


def at(ports: Ports, folder: Path, url: str, *more: str, token: str = SOME) -> Result:
    remote_access = make_remote_access(folder / "config", token=token)
    return run(ports, *LIST, "--instance", url, *more, remote_access=remote_access)


@cases(
    ("url", "message"),
    [
        ("shop.example.com/graphql/", "must start with https:// or http://"),
        ("localhost:8000", "must start with https:// or http://"),
        ("https://", "is not a valid URL"),
        ("https://ann:geheim@shop.example.com/", "must not contain a user"),
        ("https://shop.example.com/graphql/?token=geheim", "a query or a fragment"),
        ("https://ann:geheim@[::1/", "must not contain a user"),
    ],
)
@cases("option", ["-u", "--instance", "--url"])
def test_what_is_no_address_is_a_usage_error(
    ports: Ports, url: str, message: str, option: str
) -> None:
    failed = run(ports, *LIST, option, url, "--json")
    assert failed.exit_code == 2
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "USAGE"
    assert message in error["message"]
    assert "geheim" not in failed.output


@cases("name", COMMANDS)
@cases("flag", ["-V", "--version"])
def test_every_command_says_which_version_it_is(ports: Ports, name: str, flag: str) -> None:
    comparable_output = run(ports, "webhook", name, flag)
    assert (comparable_output.exit_code, comparable_output.stdout) == (0, f"latchkey {VERSION}\n")


@cases("name", COMMANDS)
def test_every_command_takes_an_instance_and_every_form(name: str) -> None:
    flags = {flag for param in COMMANDS[name].params for flag in param.opts}
    assert {"-u", "--instance", "--url", "--token-file", "--json", "--short"} <= flags


def test_events_are_completed_by_the_shell(ports: Ports) -> None:
    completer = ShellComplete(command, {}, "flask", "_FLASK_COMPLETE")
    for line in (["create"], ["deliveries"], ["listen"], ["edit", "hook"]):
        found = completer.get_completions([*line, "--event"], "order-p")
        assert [one.value for one in found] == ["ORDER_PAID"]


def test_token_in_the_clear_is_warned_of(ports: Ports, tmp_path: Path) -> None:
    warned = at(ports, tmp_path, "http://192.0.2.7:1", token="")
    assert "http://192.0.2.7:1/graphql/ is not encrypted" in warned.stderr
    assert "is not encrypted" not in at(ports, tmp_path, "http://127.0.0.1:1").stderr


def test_instance_that_is_down_ends_with_5(ports: Ports, tmp_path: Path) -> None:
    failed = at(ports, tmp_path, "http://127.0.0.1:1/graphql/", "--json")
    assert failed.exit_code == 5
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "UNREACHABLE"
    assert "http://127.0.0.1:1/graphql/" in failed.stderr


@cases(
    ("reply", "code", "message"),
    [
        (Reply(200, b"<html></html>", {"Content-Type": "text/html"}), 5, "a web page"),
        (Reply(301, b"", {"Location": "https://x.example.com/"}), 5, "https://x.example.com/"),
        (Reply(503, b"busy"), 5, "HTTP 503"),
        (Reply(200, b'{"data": {"shop": 1}}'), 1, "another version"),
        (Reply(400, b'{"errors": [{"message": "No apps"}]}'), 1, "another version: No apps"),
        (Reply(raw=lambda connection: connection.close()), 5, "cannot be reached"),
    ],
)
def test_other_server_at_the_url_is_recognised(
    ports: Ports, tmp_path: Path, other_server: HttpServer, reply: Reply, code: int, message: str
) -> None:
    other_server.answer("/graphql/", reply)
    failed = at(ports, tmp_path, other_server.url)
    assert (failed.exit_code, failed.stdout) == (code, "")
    assert message in failed.stderr


def test_no_request_is_sent_without_a_login(
    ports: Ports, tmp_path: Path, other_server: HttpServer
) -> None:
    failed = at(ports, tmp_path, other_server.url, token="")
    assert failed.exit_code == 4
    assert f"flask login {other_server.url}/graphql/" in failed.stderr
    assert other_server.received == []


def test_token_of_a_file_is_sent_and_no_other(
    ports: Ports, tmp_path: Path, other_server: HttpServer
) -> None:
    file = tmp_path / "token"
    file.write_text("the one in the file\n")
    at(ports, tmp_path, other_server.url, "--token-file", str(file), token="the one outside")
    at(ports, tmp_path, other_server.url, token="the one outside")
    sent = [one.headers["authorization-bearer"] for one in other_server.received]
    assert sent == ["the one in the file", "the one outside"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "Can't read"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\x00", "isn't UTF-8 text"),
    ],
)
@pytest.mark.parametrize("what", ["token", "query"])
def test_file_that_cannot_be_used_is_a_usage_error(
    ports: Ports, tmp_path: Path, content: bytes | None, message: str, what: str
) -> None:
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    words = {
        "token": (*LIST, "-u", "https://shop.example.com", "--token-file", str(file)),
        "query": ("webhook", "dry-run", "--query", f"@{file}"),
    }
    failed = run(ports, *words[what], remote_access=make_remote_access(tmp_path))
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert message in failed.stderr


def test_token_file_without_an_instance_is_a_usage_error(ports: Ports, tmp_path: Path) -> None:
    failed = run(ports, *LIST, "--token-file", str(tmp_path / "token"))
    assert failed.exit_code == 2
    assert "--instance" in failed.stderr


def as_(shops: Shops, token: str) -> Shops:
    return replace(shops, remote_access=replace(shops.remote_access, token=token))


@cases("token", ["nonsense", "a.b.c", "x" * 5000])
def test_token_that_is_refused_ends_with_4(shops: Shops, token: str) -> None:
    failed = as_(shops, token).remote_only(*LIST, "--json")
    assert failed.exit_code == 4
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "TOKEN_REJECTED"
    assert token not in failed.output


@cases("token", ["two\ntokens", "tökén", "tok\x01en"])
def test_malformed_token_is_reported_and_not_sent(
    ports: Ports, tmp_path: Path, other_server: HttpServer, token: str
) -> None:
    failed = at(ports, tmp_path, other_server.url, "--json", token=token)
    assert failed.exit_code == 4
    [error] = json.loads(failed.stdout)["errors"]
    assert error["message"].startswith("Invalid token")
    assert other_server.received == []


def test_missing_permission_is_named(shops: Shops) -> None:
    clerk = as_(shops, sign_in(shops.remote, 2).access)
    failed = clerk.remote_only(*LIST)
    assert failed.exit_code == 4
    assert "MANAGE_APPS" in failed.stderr


def test_closed_storefront_admits_staff_only(shops: Shops) -> None:
    close_storefront(shops.remote)
    assert shops.remote_only(*LIST).exit_code == 0
    _, token = make_app(shops.remote, "Newcomer")
    assert as_(shops, token).remote_only(*LIST).exit_code == 0
    failed = as_(shops, "nonsense").remote_only(*LIST, "--json")
    assert failed.exit_code == 4
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "STOREFRONT_TRAFFIC_NOT_ALLOWED"


def test_app_works_on_its_own_webhooks_alone(shops: Shops) -> None:
    _, token = make_app(shops.remote, "Newcomer")
    app = as_(shops, token)
    made = app.remote_only(
        *("webhook", "create", "--target-url", "https://app.example.com/new"),
        *("--name", "own", "--query", QUERY),
    )
    assert made.exit_code == 0
    assert app.remote_only(*LIST, "--short").stdout.split("\t")[1] == "own"
    assert app.remote_only("webhook", "show", "plain").exit_code == 3
    assert app.remote_only("webhook", "dry-run", "--query", QUERY).exit_code == 4


@cases(
    "arguments",
    [
        ("show", "nothing"),
        ("edit", "nothing", "--inactive"),
        ("delete", "V2ViaG9vazo5OTk=", "--yes"),
        ("update", "--webhook", "nothing", "--inactive", "--yes"),
        ("update", "--app", "nobody", "--inactive", "--yes"),
        ("dry-run", "--webhook", "nothing"),
        ("dry-run", "--object-id", "nonsense"),
        ("dry-run", "--query", QUERY, "--app", "nobody"),
        ("trigger", "nothing", "--object-id", "UHJvZHVjdDox"),
        ("deliveries", "nothing"),
        ("listen", "--webhook", "nothing"),
        ("replay", "nothing", "--since", "1h"),
        ("create", "--app", "nobody", "--target-url", "https://a.example.com", "--query", QUERY),
    ],
)
def test_what_there_is_not_is_refused_alike(shops: Shops, arguments: tuple[str, ...]) -> None:
    refused = shops.twice("webhook", *arguments)
    assert refused.exit_code == 3
    assert refused.stdout == ""
    assert re.search("No matching|not found|does not match", refused.stderr)


@cases(
    "arguments",
    [
        ("create",),
        ("create", "--no-input", "--target-url", "https://a.example.com"),
        ("create", "--target-url", "https://a.example.com", "--event", "ORDER_PAID"),
        ("create", "--query", QUERY, "--event", "X", "--target-url", "x", "--app", "Warehouse"),
        ("edit", "plain"),
        ("edit", "asking", "--query", ""),
        ("edit", "plain", "--header", "nonsense"),
        ("edit", "plain", "--header", "X-A: 1", "--no-headers"),
        ("edit", "plain", "--secret", "geheim"),
        ("update",),
        ("update", "--inactive"),
        ("update", "--domain", "app.example.com", "/path", "--yes"),
        ("update", "--domain", "app.example.com", "two words", "--preview"),
        ("update", "--domain", "app.example.com", "[::1", "--preview"),
        ("update", "--domain", "app.example.com", "host:99999", "--preview"),
        ("update", "--domain", "[::1", "new.example.com", "--preview"),
        ("delete", "plain"),
        ("dry-run",),
        ("dry-run", "--diff-last", "--query", QUERY),
        ("dry-run", "--webhook", "plain"),
        ("deliveries", "--since", "yesterday"),
        ("replay", "asking", "--since", "0001-01-01T00:00+14:00"),
        ("replay", "asking", "--since", "9999-12-31T23:59-12:00"),
        ("replay", "asking", "--since", "2999-01-01"),
        ("dry-run", "--query", "@"),
        ("deliveries", "--event", "ORDER_PAYED"),
        ("listen", "--forward-to", "localhost:3000"),
        ("replay", "asking"),
        ("retry",),
    ],
)
def test_invalid_options_are_usage_errors_locally_and_remotely(
    shops: Shops, arguments: tuple[str, ...]
) -> None:
    failed = shops.twice("webhook", *arguments, "--json")
    assert failed.exit_code == 2
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "USAGE"
    assert "geheim" not in failed.stdout
