"""Emergencies as they are met: servers, workers and commands of one installation, as processes.

A restart under load is in ``tests/deploy``, a restored copy in ``tests/commands/test_backup.py``,
a shared or taken port in ``test_metrics.py``, the wrong shop in ``test_latchkey_command.py``.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import requests

from app.composition.settings import Settings
from app.composition.wiring import connect
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.commands.real_installation import Installation
from tests.operations.test_metrics import Host, host, of, scrape, served_by, until
from tests.servers.free_ports import free_port
from tests.servers.http import Reply, http_server
from tests.servers.sandbox import PATIENCE
from tests.spec.server import SECRET, VENDOR

pytestmark = pytest.mark.first

CUSTOMER = "customer@example.com"
SIGN_IN = f"""
mutation {{ tokenCreate(email: "{CUSTOMER}", password: "{PASSWORD}") {{ errors {{ code }} }} }}
"""


def operate(shop: Host, *words: str) -> str:
    """Run ``flask WORDS`` to its end; return what it prints."""
    done = Installation(shop.folder, shop.settings).run(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def customer_token(database_url: str) -> str:
    ports = connect(Settings(database_url=database_url, secret_key=SECRET, vendor=VENDOR))
    token = sign_in(ports, make_user(ports, CUSTOMER, password=PASSWORD)).access
    ports.database.close()
    return token


def ask(url: str, query: str, token: str = "") -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    body = {"query": query}
    return requests.post(f"{url}/graphql/", json=body, headers=headers, timeout=PATIENCE).json()


def test_failing_endpoint_is_named_and_gets_what_waits_once_it_is_mended(
    tmp_path: Path, sqlite_url: str
) -> None:
    operations = free_port()

    def failing() -> set[str]:
        found = scrape(operations)
        return {
            dict(labels)["name"]
            for name, labels in found
            if name == "latchkey_webhook_failing_seconds"
        }

    with http_server() as app, host(tmp_path, sqlite_url, OPERATIONS_PORT=str(operations)) as shop:
        url = app.answer("/hook", Reply(500))
        operate(shop, "app", "create", "Feed", "--permission", "MANAGE_STAFF")
        words = ("--target-url", url, "--event", "STAFF_CREATED", "--name", "Orders")
        made = operate(shop, "webhook", "create", "--app", "Feed", *words, "--no-input", "--json")
        shop.start("worker", "worker")
        operate(shop, "user", "create", "eve@example.com", "--staff", "--no-input")
        until(lambda: failing() == {"Orders"}, "the metric names the webhook")
        assert of(scrape(operations), "latchkey_deliveries_retrying") == 1
        [waiting] = json.loads(
            operate(shop, "webhook", "deliveries", "--status", "retrying", "--json")
        )
        assert "Orders" in operate(shop, "doctor", "--short")
        app.answer("/hook", Reply(200))
        before = len(app.calls("/hook"))
        operate(shop, "webhook", "send-waiting", str(json.loads(made)["id"]))
        until(lambda: len(app.calls("/hook")) > before, "it is sent now")
        until(lambda: failing() == set(), "the metric is over")
        assert waiting["event"] == "STAFF_CREATED"


def test_tokens_work_while_redis_is_away(tmp_path: Path, sqlite_url: str) -> None:
    port, token = str(free_port()), customer_token(sqlite_url)
    url = f"http://127.0.0.1:{port}"
    away = f"redis://127.0.0.1:{free_port()}/0"
    with host(tmp_path, sqlite_url, REDIS_URL=away) as shop:
        shop.start(port, *served_by(port))
        until(lambda: bool(requests.get(f"{url}/readyz", timeout=PATIENCE)), "it is ready")
        assert requests.get(f"{url}/readyz", timeout=PATIENCE).json() == {"status": "degraded"}
        assert ask(url, "{ me { email } }", token) == {"data": {"me": {"email": CUSTOMER}}}
        [refused] = ask(url, SIGN_IN)["data"]["tokenCreate"]["errors"]
        assert refused["code"] == "LOGIN_ATTEMPT_DELAYED"


def test_withdrawn_key_leaves_the_key_set_of_a_running_server(
    tmp_path: Path, sqlite_url: str
) -> None:
    port, token = str(free_port()), customer_token(sqlite_url)
    url = f"http://127.0.0.1:{port}"

    def published() -> set[str]:
        keys = requests.get(f"{url}/.well-known/jwks.json", timeout=PATIENCE).json()["keys"]
        return {key["kid"] for key in keys}

    with host(tmp_path, sqlite_url) as shop:
        shop.start(port, *served_by(port))
        until(lambda: bool(requests.get(f"{url}/readyz", timeout=PATIENCE)), "it is ready")
        assert ask(url, "{ me { email } }", token)["data"]["me"] == {"email": CUSTOMER}
        ring = json.loads(operate(shop, "keys", "list", "--json"))
        [active] = [key["kid"] for key in ring if key["state"] == "active"]
        assert active in published()
        operate(shop, "keys", "withdraw", active, "--yes")
        assert active not in published()
        assert ask(url, "{ me { email } }", token)["data"]["me"] is None
        assert ask(url, SIGN_IN)["data"]["tokenCreate"]["errors"] == []
