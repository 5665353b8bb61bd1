"""``flask doctor``."""

import ipaddress
import json
from dataclasses import replace

import pytest

from app.adapters.clock import SystemClock
from app.adapters.schema import AlembicSchema
from app.domain.actor import WORKER
from app.ports import Ports
from app.services.pulse import beat
from tests.commands.shell import run, run_json

PROXIES = (ipaddress.ip_network("10.0.0.0/8"),)


@pytest.fixture
def ports(ports: Ports) -> Ports:
    """With the real time, which is compared with the database's."""
    return replace(ports, clock=SystemClock())


def test_everything_is_looked_at(ports: Ports) -> None:
    beat(ports, WORKER)
    found = {row["subject"]: row["state"] for row in run_json(ports, "doctor")}
    assert found == dict.fromkeys(
        [
            *("settings", "database", "signing keys", "login throttle", "clock"),
            *("worker", "mail", "proxies"),
        ],
        "fine",
    )


def test_a_failure_ends_with_1_and_names_its_remedy(ports: Ports, empty_sqlite_url: str) -> None:
    bare = replace(ports, schema=AlembicSchema(empty_sqlite_url))
    plain = run(bare, "doctor")
    assert plain.exit_code == 1
    assert "flask db upgrade" in plain.stdout
    as_json = run(bare, "doctor", "--json")
    assert as_json.exit_code == 1
    states = {row["subject"]: row["state"] for row in json.loads(as_json.stdout)}
    assert states["database"] == "failed"


def test_production_without_trusted_proxies_is_worth_a_warning(ports: Ports) -> None:
    real = replace(ports, configuration=replace(ports.configuration, development=False))
    warned = run(real, "doctor", "--json")
    assert warned.exit_code == 0
    [proxies] = [row for row in json.loads(warned.stdout) if row["subject"] == "proxies"]
    assert proxies["state"] == "warning"
    assert "TRUSTED_PROXIES" in proxies["remedy"]
    named = run(real, "doctor", "--short", trusted_proxies=PROXIES)
    assert "proxies\tfine" in named.stdout
