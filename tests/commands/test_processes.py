"""The server and the worker as real processes: how they start, and how they end."""

import json
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest

from tests.commands.real_installation import (
    TIMEOUT_SECONDS,
    Installation,
    answers,
    end,
    is_alive,
    offspring,
    wait_until,
)
from tests.fakes.keys import SECRET
from tests.servers.forked_commands import ForkedCommand
from tests.servers.free_ports import free_port

pytestmark = pytest.mark.first


@pytest.fixture
def installed(sqlite_url: str, tmp_path: Path) -> Installation:
    return Installation(tmp_path, {"DATABASE_URL": sqlite_url})


@contextmanager
def served(installed: Installation, port: int) -> Iterator[ForkedCommand]:
    """``flask serve`` from its first answer on, its worker at work."""
    process = installed.start("serve", "--port", str(port), "--workers", "1")
    try:
        wait_until(lambda: process.poll() is not None or answers(port), "it answers")
        wait_until(lambda: f":{port}/graphql/" in installed.output, "it says where it is")
        wait_until(lambda: "worker.started" in installed.output, "the worker has begun")
        yield process
    finally:
        end(process)


def test_more_processes_than_the_database_can_take_are_refused(
    postgresql_url: str, tmp_path: Path
) -> None:
    installed = Installation(tmp_path, {"DATABASE_URL": postgresql_url})
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 40".encode())
    process = installed.start("serve", "--port", str(free_port()), "--workers", "2")
    try:
        wait_until(lambda: process.poll() is not None, "it refuses")
    finally:
        end(process)
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1".encode())
    assert process.poll() == 1
    assert (
        "2 server processes and a background worker can open 48 database connections (16 each), "
        "but the database accepts 40."
    ) in " ".join(installed.output.split())


def one(pids: dict[int, str], word: str) -> int:
    """The process highest in the family whose name or command line has ``word``."""
    return min(pid for pid, command in pids.items() if word in command)


def test_ctrl_c_ends_server_and_worker_together(installed: Installation) -> None:
    port = free_port()
    with served(installed, port) as process:
        family = offspring(process.pid)
        assert one(family, "latchkey-server")
        assert one(family, "latchkey-worker")
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT_SECONDS) == 0
        assert not [pid for pid in family if is_alive(pid)]
        assert not answers(port)
    assert "worker.stopped" in installed.output
    assert "WARNING" not in installed.output


def test_whatever_is_killed_is_started_again_until_a_signal_ends_all(
    installed: Installation,
) -> None:
    port = free_port()
    with served(installed, port) as process:
        family = offspring(process.pid)
        for name in ("latchkey-server", "latchkey-worker"):
            os.kill(one(family, name), signal.SIGKILL)
        wait_until(
            lambda: (
                "The server was ended by SIGKILL." in installed.output
                and "The worker was ended by SIGKILL." in installed.output
            ),
            "it notices",
        )
        wait_until(lambda: installed.output.count("worker.started") > 1, "there is a new worker")
        wait_until(lambda: answers(port), "it answers again")
        assert not [pid for pid in family if is_alive(pid)], "nothing of before is left"
        assert process.poll() is None
        family, warnings = offspring(process.pid), installed.output.count("WARNING")
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 0
        assert not [pid for pid in family if is_alive(pid)]
        assert not answers(port)
    assert "worker.stopped" in installed.output
    assert installed.output.count("WARNING") == warnings


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel has to help")
def test_nothing_outlives_a_killed_parent(installed: Installation) -> None:
    port = free_port()
    with served(installed, port) as process:
        family = offspring(process.pid)
        process.kill()
        wait_until(lambda: not any(is_alive(pid) for pid in family), "all have ended")
    assert not answers(port)


@pytest.mark.parametrize(
    ("setting", "titles"),
    [
        ("true", ["API", "Key set", "Console", "Playground"]),
        ("false", ["API", "Key set", "Console"]),
    ],
)
def test_without_a_worker_every_printed_url_responds_and_the_url_is_stored(
    installed: Installation, sqlite_url: str, setting: str, titles: list[str]
) -> None:
    port = free_port()
    with_playground = Installation(
        installed.folder, {**installed.environment, "PLAYGROUND_ENABLED": setting}
    )
    process = with_playground.start("serve", "--port", str(port), "--workers", "1", "--no-worker")
    try:
        wait_until(lambda: f"\n{titles[-1]}\t" in with_playground.output, "it says where it is")
        lines = [line.split("\t") for line in with_playground.output.splitlines() if "\t" in line]
        assert [title for title, _ in lines] == titles
        pages = {title: visit(url) for title, url in lines if title != "API"}
        assert answers(port)
        assert not [line for line in offspring(process.pid).values() if "latchkey-worker" in line]
    finally:
        end(process)
    assert "Sign in" in pages.pop("Console")
    assert '"keys"' in pages.pop("Key set")
    assert all("<html" in page for page in pages.values())
    # Emails are written without a request, and have links.
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    ((address,),) = connection.execute("SELECT served_at FROM shop")
    connection.close()
    assert address == f"http://127.0.0.1:{port}"


def visit(url: str) -> str:
    """What a browser is shown at that address of this machine."""
    with urlopen(url, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - an address that we were told
        page: str = answer.read().decode()
    return page


def test_worker_runs_until_it_is_stopped(installed: Installation) -> None:
    process = installed.start("worker", "--json")
    try:
        wait_until(lambda: "worker.started" in installed.output, "it has begun")
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_SECONDS) == 0
    finally:
        end(process)
    assert json.loads("".join(installed.output.splitlines()[-3:])) == {"ended": True}


def test_port_that_is_taken_is_said_to_be(installed: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        serve = ("serve", "--port", str(port))
        # At the same time, as each waits ten seconds for the port.
        with installed.running(*serve) as plain, installed.running(*serve, "--json") as as_json:
            failed = plain.finish(TIMEOUT_SECONDS)
            failed_as_json = as_json.finish(TIMEOUT_SECONDS)
    cause = f"Can't listen on 127.0.0.1, port {port}: Address already in use."
    assert failed.returncode == failed_as_json.returncode == 1
    assert cause in failed.stderr
    [error] = json.loads(failed_as_json.stdout)["errors"]
    assert error["code"] == "FAILED"
    assert error["message"].startswith(cause)
    assert "--port" in error["message"]


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_database_that_was_not_upgraded_stops_the_start(
    installed: Installation, empty_sqlite_url: str, command: str
) -> None:
    bare = Installation(installed.folder, {"DATABASE_URL": empty_sqlite_url})
    failed = bare.run(command)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert "Run `flask db upgrade`." in failed.stderr
    assert "Traceback" not in failed.stderr


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_keys_that_cannot_be_decrypted_stop_the_start(
    installed: Installation, command: str
) -> None:
    assert installed.run("keys", "list").returncode == 0
    other = {**installed.environment, "SECRET_KEY": "not what the keys were made with"}
    failed = Installation(installed.folder, other).run(command)
    assert failed.returncode == 1
    assert "flask keys rotate --force" in failed.stderr


@pytest.mark.parametrize("command", ["serve", "worker", "doctor"])
def test_settings_that_cannot_be_used_stop_the_start_each_of_them_named(
    installed: Installation, command: str
) -> None:
    wrong = Installation(installed.folder, {"APP_ENV": "production", "JWT_TTL_ACCESS": "soon"})
    failed = wrong.run(command)
    assert failed.returncode == 1
    output = failed.stdout + failed.stderr
    assert all(name in output for name in ("SECRET_KEY", "PUBLIC_URL", "JWT_TTL_ACCESS"))
    assert "Traceback" not in output


def test_service_in_production_writes_nothing_but_json(
    installed: Installation, sqlite_url: str, empty_sqlite_url: str
) -> None:
    production = {
        "APP_ENV": "production",
        "PUBLIC_URL": "https://shop.example.com",
        "SECRET_KEY": SECRET,
        "MAIL_URL": "smtp://127.0.0.1:1",
        "ALLOWED_CLIENT_HOSTS": "shop.example.com",
    }
    bare = Installation(installed.folder, production | {"DATABASE_URL": empty_sqlite_url})
    for command in ("serve", "worker"):
        failed = bare.run(command)
        assert (failed.returncode, failed.stdout) == (1, "")
        [line] = map(json.loads, failed.stderr.splitlines())
        assert (line["event"], line["level"]) == ("service.failed", "critical")
        assert "Run `flask db upgrade`." in line["reason"]
    port = free_port()
    shop = Installation(installed.folder, production | {"DATABASE_URL": sqlite_url})
    process = shop.start("serve", "--port", str(port), "--workers", "1")
    try:
        wait_until(lambda: "server.started" in shop.output, "it says where it is")
    finally:
        end(process)
    lines = list(map(json.loads, shop.output.splitlines()))
    [started] = [line for line in lines if line["event"] == "server.started"]
    assert (started["port"], started["api"]) == (port, "https://shop.example.com/graphql/")


def test_mistake_in_the_settings_is_json_where_json_was_asked_for(installed: Installation) -> None:
    wrong = Installation(installed.folder, {"JWT_TTL_ACCESS": "soon"})
    failed = wrong.run("user", "list", "--json")
    assert failed.returncode == 1
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "SETTINGS"
    assert error["message"].startswith("JWT_TTL_ACCESS: ")
    assert wrong.run("user", "list", "--help").returncode == 0
