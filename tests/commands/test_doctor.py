"""``flask doctor``."""

import ipaddress
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from app.adapters.database.schema import AlembicSchema
from app.adapters.system import SystemClock
from app.domain.authorization.actor import WORKER
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.keys import ring
from app.services.operations.background_work import record_heartbeat
from tests.builders.people import make_user
from tests.builders.shop import set_mode
from tests.commands.real_installation import ROOT, Installation
from tests.commands.shell import run, run_json
from tests.fakes.keys import SECRET

PROXIES = (ipaddress.ip_network("10.0.0.0/8"),)


@pytest.fixture
def ports(ports: Ports) -> Ports:
    """With the real time, which is compared with the database's."""
    return replace(ports, clock=SystemClock())


def test_everything_is_looked_at(ports: Ports) -> None:
    record_heartbeat(ports, WORKER)
    make_user(ports, "admin@example.com", is_superuser=True, is_staff=True)
    found = {row["subject"]: row["state"] for row in run_json(ports, "doctor")}
    assert found == dict.fromkeys(
        [
            *("settings", "database", "signing keys", "login throttle", "clock"),
            *("worker", "mail", "sign-in", "proxies"),
        ],
        "fine",
    )


def test_failure_ends_with_1_and_names_its_remedy(ports: Ports, empty_sqlite_url: str) -> None:
    bare = replace(ports, schema=AlembicSchema(empty_sqlite_url))
    plain = run(bare, "doctor")
    assert plain.exit_code == 1
    assert "flask db upgrade" in plain.stdout
    as_json = run(bare, "doctor", "--json")
    assert as_json.exit_code == 1
    states = {row["subject"]: row["state"] for row in json.loads(as_json.stdout)}
    assert states["database"] == "failed"


def test_production_without_trusted_proxies_is_a_warning(ports: Ports) -> None:
    real = replace(ports, configuration=replace(ports.configuration, development=False))
    warned = run(real, "doctor", "--json")
    assert warned.exit_code == 0
    [proxies] = [row for row in json.loads(warned.stdout) if row["subject"] == "proxies"]
    assert proxies["state"] == "warning"
    assert "TRUSTED_PROXIES" in proxies["remedy"]
    named = run(real, "doctor", "--short", trusted_proxies=PROXIES)
    assert "proxies\tfine" in named.stdout


@pytest.mark.first
@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (
            {"DATABASE_URL": "postgresql://nobody:geheim@127.0.0.1:1/nowhere"},
            {"database": ("failed", "Check DATABASE_URL")},
        ),
        (
            {
                "REDIS_URL": "redis://:geheim@127.0.0.1:1/0",
                "MAIL_URL": "smtp://shop:geheim@127.0.0.1:1",
            },
            {
                "login throttle": ("failed", "Check REDIS_URL"),
                "mail": ("failed", "Check MAIL_URL"),
            },
        ),
        (
            {"SECRET_KEY": "geheim, and not what the keys were made with"},
            {"signing keys": ("failed", "Restore SECRET_KEY")},
        ),
        ({"TRUSTED_PROXIES": "nonsense"}, {"settings": ("failed", ".env.example")}),
        (
            {
                "APP_ENV": "production",
                "PUBLIC_URL": "https://shop.example.com",
                "MAIL_URL": "file:mails.txt",
            },
            {"worker": ("warning", "flask worker"), "proxies": ("warning", "TRUSTED_PROXIES")},
        ),
    ],
)
def test_whatever_is_broken_for_real_is_named_with_its_remedy(
    ports: Ports,
    sqlite_url: str,
    tmp_path: Path,
    broken: dict[str, str],
    expected: dict[str, tuple[str, str]],
) -> None:
    make_user(ports, "ann@example.com")
    ring(ports)
    whole = {"DATABASE_URL": sqlite_url, "SECRET_KEY": SECRET, "PYTHONPATH": str(ROOT)}
    looked = Installation(tmp_path, {**whole, **broken}).run("doctor", "--json")
    findings = {row["subject"]: row for row in json.loads(looked.stdout)}
    for subject, (state, remedy) in expected.items():
        assert findings[subject]["state"] == state
        assert remedy in findings[subject]["remedy"]
    states = {state for state, _ in expected.values()}
    assert looked.returncode == (1 if "failed" in states else 0), looked.stdout
    assert "geheim" not in looked.stdout + looked.stderr


def test_shop_in_which_no_one_can_sign_in_fails(ports: Ports) -> None:
    make_user(ports, "admin@example.com", is_superuser=True, is_staff=True)
    set_mode(ports, PasswordLoginMode.DISABLED)
    looked = run(ports, "doctor", "--json")
    assert looked.exit_code == 1
    [found] = [row for row in json.loads(looked.stdout) if row["subject"] == "sign-in"]
    assert found["message"].startswith("No one can sign in: password login is disabled")
    assert run(ports, *found["remedy"].split()[1:]).exit_code == 0
    assert "sign-in\tfine" in run(ports, "doctor", "--short").stdout


@pytest.mark.first
def test_migration_that_is_pending_is_named_with_its_remedy(
    ports: Ports, sqlite_url: str, tmp_path: Path
) -> None:
    with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001_main_job'")
    connection.close()
    whole = {"DATABASE_URL": sqlite_url, "PYTHONPATH": str(ROOT)}
    looked = Installation(tmp_path, whole).run("doctor")
    assert (looked.returncode, looked.stderr) == (1, "")
    [line] = [line for line in looked.stdout.splitlines() if line.startswith("database\tfailed\t")]
    assert line.endswith("\tRun `flask db upgrade`.")
