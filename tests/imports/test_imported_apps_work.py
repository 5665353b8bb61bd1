"""An imported app calls a running server with its old token, and its webhook is sent events."""

import base64
import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from app.domain.deliveries.signatures import hex_signature
from tests.imports.app_rows import QUERY, TOKEN, add_app, add_permissions, add_token, add_webhook
from tests.imports.platform import PlatformDatabase
from tests.servers.forked_commands import running_command
from tests.servers.http import HttpServer, Received, Reply, http_server
from tests.servers.sandbox import PATIENCE
from tests.spec.server import OWNER, Server, environment, run_operator, running

WEBHOOKS = "{ app { id webhooks { id isActive secretKey } } }"
CREATE = """
mutation {
  customerCreate(input: {email: "new@example.com"}) { user { id } errors { field message } }
}"""


@pytest.fixture
def hooks() -> Iterator[HttpServer]:
    with http_server() as server:
        server.answer("/hook", Reply())
        yield server


def global_id(kind: str, key: int) -> str:
    return base64.b64encode(f"{kind}:{key}".encode()).decode()


def ask(server: Server, query: str) -> dict[str, object]:
    """Ask with the app's old token."""
    response = requests.post(
        server.issuer,
        json={"query": query},
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=PATIENCE,
    ).json()
    assert "errors" not in response, response
    found: dict[str, object] = response["data"]
    return found


def first_call(hooks: HttpServer) -> Received:
    deadline = time.monotonic() + PATIENCE
    while not (calls := hooks.calls("/hook")):
        assert time.monotonic() < deadline, "nothing was delivered"
        time.sleep(0.05)
    return calls[0]


@contextmanager
def worker(server: Server, folder: Path) -> Iterator[None]:
    """Run the background worker during the block."""
    with running_command(("worker",), folder, environment(server.database_url)) as process:
        yield
        process.command.send_signal(signal.SIGTERM)
        process.command.wait(PATIENCE)


@pytest.mark.first
def test_old_token_and_webhook_work_after_the_import(
    database_url: str, platform: PlatformDatabase, hooks: HttpServer, tmp_path: Path
) -> None:
    add_permissions(platform, "manage_users")
    add_app(platform, 41, 1)
    add_token(platform, 11, 41)
    add_webhook(
        platform,
        31,
        41,
        "customer_created",
        target_url=f"{hooks.url}/hook",
        secret_key="sesame",
        subscription_query=QUERY,
        custom_headers={"X-Shop": "first", "Authorization-Key": "k"},
    )
    done = run_operator(
        database_url,
        *("import", "platform", "--database", platform.url),
        *("--only", "apps,webhooks", "--json"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["findings"] == []
    with running(tmp_path, database_url) as server, worker(server, tmp_path):
        assert ask(server, WEBHOOKS) == {
            "app": {
                "id": global_id("App", 41),
                "webhooks": [
                    {"id": global_id("Webhook", 31), "isActive": True, "secretKey": "sesame"}
                ],
            }
        }
        ask(server, CREATE)
        received = first_call(hooks)
        assert server.new_errors() == ""
    assert json.loads(received.body) == {"user": {"email": "new@example.com"}}
    assert received.headers["x-shop"] == "first"
    assert received.headers["authorization-key"] == "k"
    assert received.headers[f"{OWNER}-event"] == "customer_created"
    assert received.headers[f"{OWNER}-signature"] == hex_signature("sesame", received.body)
