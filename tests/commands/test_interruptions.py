"""Ctrl-C, at a question and during long work: with ``--json`` what is told of it is JSON, too."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.domain.events import EventType
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.webhooks import make_delivery, make_webhook
from tests.commands.fake_remote_shop import count_requests, operation, other_shop
from tests.commands.real_installation import (
    ROOT,
    TIMEOUT_SECONDS,
    Installation,
    at_a_terminal,
    wait_until,
)
from tests.commands.terminal import INTERRUPT, run_in_terminal
from tests.servers.http import HttpServer

pytestmark = pytest.mark.first

INTERRUPTED = {"code": "INTERRUPTED", "message": "Interrupted.", "field": None}
URL = "http://127.0.0.1:1/graphql/"


@pytest.fixture
def installed(ports: Ports, sqlite_url: str, tmp_path: Path) -> Installation:
    make_user(ports, "ann@example.com")
    make_group(ports, "Support")
    app, _ = make_app(ports, "Warehouse")
    hook = make_webhook(ports, app, EventType.PRODUCT_UPDATED)
    make_delivery(ports, hook)
    return at_a_terminal(sqlite_url, tmp_path, LATCHKEY_TOKEN="a token")


def interrupted(installed: Installation, *arguments: str, after: str) -> tuple[str, str]:
    """What ``flask ARGUMENTS --json`` wrote before Ctrl-C, which follows ``after``; and told."""
    result = installed.folder / "result"
    shown = run_in_terminal(
        installed, *arguments, "--json", answers=[(after, INTERRUPT)], into=result
    )
    assert "ended with 130" in shown
    assert "Traceback" not in shown
    return result.read_text(), shown


@pytest.mark.parametrize(
    ("arguments", "question"),
    [
        (("user", "create", "bob@example.com"), "Password"),
        (("user", "delete", "ann@example.com"), "Delete"),
        (("group", "delete", "Support"), "Delete"),
        (("app", "delete", "Warehouse"), "Delete"),
        (("app", "token", "verify"), "Token"),
        (("shop", "set", "password-login-mode", "DISABLED"), "Continue?"),
        (("oidc", "set", "client_secret", "-"), "Value"),
        (("login", URL), "Email"),
        (("login", URL, "--app-token"), "Token"),
        (("webhook", "create"), "Endpoint URL"),
        (("webhook", "update", "--inactive"), "Update 1 webhook?"),
        (("webhook", "delete", "hook"), "Delete"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_interrupt_at_a_prompt_is_reported_as_json(
    installed: Installation, arguments: tuple[str, ...], question: str
) -> None:
    error, _ = interrupted(installed, *arguments, after=question)
    assert json.loads(error) == {"errors": [INTERRUPTED]}


def test_stream_without_news_ends_in_one_line_of_json(installed: Installation) -> None:
    error, _ = interrupted(installed, "webhook", "listen", after="Press Ctrl-C to stop")
    assert [json.loads(line) for line in error.splitlines()] == [{"errors": [INTERRUPTED]}]


@pytest.fixture
def shop() -> Iterator[HttpServer]:
    """It never answers the second change, nor a replay of one kind alone."""
    with other_shop() as server:
        yield server


def stopped(
    installed: Installation, *arguments: str, when: Callable[[], bool]
) -> tuple[list[str], str]:
    """The lines of ``flask ARGUMENTS --json`` in a pipe, with Ctrl-C as soon as ``when``; told."""
    with installed.running(*arguments, "--json") as running:
        wait_until(when, "it is at work")
        running.command.send_signal(signal.SIGINT)
        done = running.finish(TIMEOUT_SECONDS)
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines(), done.stderr


def test_interrupt_during_a_call_is_reported_as_json(
    installed: Installation, shop: HttpServer
) -> None:
    words = ("webhook", "replay", "hook 1", "--since", "1d", "--failed", "-u", shop.url)
    lines, error = stopped(installed, *words, when=lambda: count_requests(shop, "Replay") > 0)
    assert [json.loads(line) for line in lines] == [{"errors": [INTERRUPTED]}]
    assert error == "Interrupted.\n"


@pytest.mark.parametrize("words", [("deliveries", "--follow"), ("listen",)])
def test_stream_with_news_is_json_line_by_line_to_its_end(
    installed: Installation, shop: HttpServer, words: tuple[str, ...]
) -> None:
    lines, _ = stopped(
        installed,
        "webhook",
        *words,
        "-u",
        shop.url,
        when=lambda: count_requests(shop, "Deliveries") > 3,
    )
    *news, last = [json.loads(line) for line in lines]
    assert [one["event"] for one in news] == ["ORDER_PAID"] * 3
    assert last == {"errors": [INTERRUPTED]}


def test_interrupted_bulk_update_lists_results_and_possible_secrets(
    installed: Installation, shop: HttpServer
) -> None:
    words = ("webhook", "update", "--rotate-secret", "--yes", "-u", shop.url)
    lines, error = stopped(installed, *words, when=lambda: count_requests(shop, "Update") > 1)
    done: list[dict[str, Any]] = json.loads("".join(lines))
    assert [one["state"] for one in done] == ["changed", "failed", "planned"]
    sent = [
        json.loads(one.body)["variables"]["input"]["secretKey"]
        for one in shop.received
        if operation(one) == "Update"
    ]
    assert [one["secretKey"] for one in done] == [*sent, "new"]
    assert (
        "The failed update may have been applied. The remaining planned updates weren't."
    ) in error


def test_interrupted_replay_reports_its_progress(
    installed: Installation, shop: HttpServer
) -> None:
    words = ("webhook", "replay", "hook 1", "--since", "1d", "-u", shop.url)
    lines, error = stopped(installed, *words, when=lambda: count_requests(shop, "Replay") > 2)
    assert json.loads("".join(lines)) == {"failed": 2, "missing": 5}
    assert (
        "Interrupted. More events are missing. Run the command again to replay the rest."
    ) in error


def test_interrupted_bulk_retry_lists_retried_deliveries(
    installed: Installation, shop: HttpServer
) -> None:
    words = ("webhook", "retry", "one", "two", "three", "-u", shop.url)
    lines, error = stopped(installed, *words, when=lambda: count_requests(shop, "Retry") > 1)
    done: list[dict[str, Any]] = json.loads("".join(lines))
    assert [(one["id"], one["problem"]) for one in done] == [
        ("one", None),
        ("two", "Interrupted."),
    ]
    assert "Not resent: 1. The failed request may still have been applied." in error


_INTERRUPTED_IMPORTS = """
import os, runpy, signal, sys

def interrupt(event, arguments):
    if event == "import" and arguments[0] in modules:
        module = arguments[0]
        modules.remove(module)
        pid = os.fork()
        if pid:
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            open(f"{module}.code", "w").write(str(status))
            return
        modules.clear()
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{module}.{name}", os.O_WRONLY | os.O_CREAT), number)
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
modules = set(sys.argv.pop(1).split())
sys.addaudithook(interrupt)
runpy.run_module("flask", run_name="__main__")
"""
IMPORTED = (
    "cli",
    "app.commands.terminal.prompts",
    "sqlalchemy.orm",
    "app.domain.events",
    "app.adapters",
)


def test_ctrl_c_during_an_import_exits_without_a_traceback(installed: Installation) -> None:
    """The command is forked at each of its imports; the copy is interrupted, and it goes on."""
    words = ("--app", str(ROOT / "wsgi.py"), "webhook", "list")
    ended = installed.run_python("-c", _INTERRUPTED_IMPORTS, " ".join(IMPORTED), *words)
    assert (ended.returncode, ended.stderr) == (0, "")
    for module in IMPORTED:
        code, out, err = (
            (installed.folder / f"{module}.{kind}").read_text() for kind in ("code", "out", "err")
        )
        assert (code, out) == ("130", ""), (module, err)
        assert err in ("", "Interrupted.\n"), module


def test_library_errors_are_not_printed(installed: Installation) -> None:
    program = (
        "import logging, cli\n"
        "cli.make_command_app()\n"
        "logging.getLogger('sqlalchemy.pool').error('Error closing cursor')\n"
    )
    result = installed.run_python("-c", program)
    assert (result.returncode, result.stderr) == (0, "")
