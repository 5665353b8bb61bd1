"""Apps, built with @saleor/app-sdk and without, work with the default settings."""

import importlib.util
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import requests
from werkzeug.serving import make_server

from app.domain.values.ids import to_global_id
from tests.clients.conftest import ADMIN, Shop
from tests.docs.blocks import pasted
from tests.servers.sandbox import PATIENCE

CREATE = """
mutation Create($input: ProductCreateInput!) {
  productCreate(input: $input) { product { id } errors { field code } }
}"""
TOKEN = "query Token($id: ID!) { app(id: $id) { accessToken } }"
APP = """
query App($id: ID!) {
  app(id: $id) {
    name permissions { code }
    extensions { label mountName url accessToken }
    webhooks { name isActive }
  }
}"""
DELETE = "mutation Delete($id: ID!) { appDelete(id: $id) { errors { code } } }"


@pytest.fixture
def plain_app(tmp_path: Path) -> ModuleType:
    """The app of the guide: its blocks, pasted as it says into two files of an empty folder."""
    program = tmp_path / "stock_notes.py"
    program.write_text(pasted("tests/clients/plain_app.py"))
    (tmp_path / "manifest.json").write_text(pasted("tests/clients/manifest.json"))
    found = importlib.util.spec_from_file_location("stock_notes", program)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def plain_app_url(shop: Shop, plain_app: ModuleType) -> Iterator[str]:
    """The served app, which expects the running shop."""
    plain_app.app.config["SHOPS"] = [shop.server.issuer]
    server = make_server("127.0.0.1", 0, plain_app.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(180)
    server.server_close()


def install(shop: Shop, app_url: str) -> subprocess.CompletedProcess[str]:
    """Install the app with the command line."""
    words = ("app", "install", f"{app_url}/api/manifest", "--yes", "--json")
    return shop.operate(*words, "--served-at", shop.server.url)


def installed(shop: Shop, app_url: str) -> str:
    """Install the app; its global ID."""
    done = install(shop, app_url)
    assert done.returncode == 0, done.stderr
    return to_global_id("App", json.loads(done.stdout)["id"])


def received(app_url: str) -> list[dict[str, Any]]:
    deliveries: list[dict[str, Any]] = requests.get(
        f"{app_url}/_test/received", timeout=PATIENCE
    ).json()
    return deliveries


def create_product(shop: Shop, name: str, has_arrived: Callable[[], object]) -> None:
    """Create a product, and run the worker until the app has been told."""
    with shop.worker():
        shop.run(CREATE, input={"name": name, "price": "9.50"})
        deadline = time.monotonic() + 3 * PATIENCE
        while not has_arrived() and time.monotonic() < deadline:
            time.sleep(0.05)


def test_app_is_installed_and_verifies_what_it_receives(shop: Shop, app_url: str) -> None:
    identity = installed(shop, app_url)
    check_deliveries(shop, app_url)
    check_the_dashboards_token(shop, app_url, identity)
    shop.run(DELETE, id=identity)


def check_deliveries(shop: Shop, app_url: str) -> None:
    """The app accepts what the shop signed, and nothing else."""
    create_product(shop, "Mug", lambda: received(app_url))
    [delivery] = received(app_url)
    assert delivery["payload"]["product"]["name"] == "Mug"
    assert delivery["event"] == "product_created"
    webhook = f"{app_url}/api/webhooks/product-created"
    forged = json.dumps({"product": {"name": "Forged"}})
    headers = {name: value for name, value in delivery["headers"].items() if "saleor" in name}
    refused = requests.post(webhook, data=forged, headers=headers, timeout=PATIENCE)
    assert refused.status_code == 401
    assert len(received(app_url)) == 1


def check_the_dashboards_token(shop: Shop, app_url: str, identity: str) -> None:
    """A protected handler knows the person whom the dashboard acts for."""
    token = shop.run(TOKEN, id=identity)["app"]["accessToken"]
    headers = {"saleor-api-url": shop.server.issuer, "authorization-bearer": token}
    admitted = requests.post(f"{app_url}/api/protected", headers=headers, timeout=PATIENCE)
    assert (admitted.status_code, admitted.json()["email"]) == (200, ADMIN)
    changed = {**headers, "authorization-bearer": token[:-6] + "AAAAAA"}
    refused = requests.post(f"{app_url}/api/protected", headers=changed, timeout=PATIENCE)
    assert refused.status_code in (401, 403)


def test_app_without_sdk_is_installed_and_verifies_what_it_receives(
    shop: Shop, plain_app: ModuleType, plain_app_url: str
) -> None:
    identity = installed(shop, plain_app_url)
    shown = shop.run(APP, id=identity)["app"]
    assert shown["name"] == "Stock notes"
    assert shown["permissions"] == [{"code": "MANAGE_PRODUCTS"}]
    assert [extension["label"] for extension in shown["extensions"]] == ["Notes"]
    assert shown["webhooks"] == [{"name": "Product created", "isActive": True}]
    check_plain_deliveries(shop, plain_app, plain_app_url)
    check_the_page(shop, plain_app_url, shown["extensions"][0]["accessToken"])
    shop.run(DELETE, id=identity)


def check_plain_deliveries(shop: Shop, plain_app: ModuleType, app_url: str) -> None:
    create_product(shop, "Jug", lambda: plain_app.received)
    [delivery] = plain_app.received
    assert delivery["product"]["name"] == "Jug"
    webhook = f"{app_url}/api/webhooks/product-created"
    for headers in (
        {},
        {"Saleor-Api-Url": shop.server.issuer},
        {"Saleor-Api-Url": shop.server.issuer, "Saleor-Signature": "e30..e30"},
    ):
        refused = requests.post(webhook, data=b"{}", headers=headers, timeout=PATIENCE)
        assert refused.status_code == 401
    assert plain_app.received == [delivery]


def check_the_page(shop: Shop, app_url: str, token: str) -> None:
    """The app's page knows the person, and what both of them can do."""
    headers = {"Saleor-Api-Url": shop.server.issuer, "Authorization-Bearer": token}
    answer = requests.post(f"{app_url}/api/notes", headers=headers, timeout=PATIENCE)
    assert answer.json() == {"email": ADMIN, "permissions": ["MANAGE_PRODUCTS"]}
    for wrong in (f"{token[:-6]}AAAAAA", "", shop.sign_in()):
        headers["Authorization-Bearer"] = wrong
        refused = requests.post(f"{app_url}/api/notes", headers=headers, timeout=PATIENCE)
        assert refused.status_code in (401, 403)


def test_refusal_in_plain_text_is_shown_and_leaves_no_app(
    shop: Shop, plain_app: ModuleType, plain_app_url: str
) -> None:
    plain_app.app.config["SHOPS"] = []
    done = install(shop, plain_app_url)
    assert done.returncode != 0
    refusal = "HTTP 403. It answered: This shop has no subscription to Stock notes."
    assert refusal in done.stderr
    listed = json.loads(shop.operate("app", "installations", "list", "--json").stdout)
    assert refusal in listed[0]["message"]
    apps = json.loads(shop.operate("app", "list", "--json").stdout)
    assert "Stock notes" not in [app["name"] for app in apps]
