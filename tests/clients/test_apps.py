"""Apps built with @saleor/app-sdk work with the default settings."""

import json
import time
from typing import Any

import requests

from app.domain.values.ids import to_global_id
from tests.clients.conftest import ADMIN, Shop
from tests.servers.sandbox import PATIENCE

CREATE = """
mutation Create($input: ProductCreateInput!) {
  productCreate(input: $input) { product { id } errors { field code } }
}"""
TOKEN = "query Token($id: ID!) { app(id: $id) { accessToken } }"


def install(shop: Shop, app_url: str) -> str:
    """Install the app with the command line; its global ID."""
    words = ("app", "install", f"{app_url}/api/manifest", "--yes", "--json")
    done = shop.operate(*words, "--served-at", shop.server.url)
    assert done.returncode == 0, done.stderr
    return to_global_id("App", json.loads(done.stdout)["id"])


def received(app_url: str) -> list[dict[str, Any]]:
    deliveries: list[dict[str, Any]] = requests.get(
        f"{app_url}/_test/received", timeout=PATIENCE
    ).json()
    return deliveries


def test_app_is_installed_and_verifies_what_it_receives(shop: Shop, app_url: str) -> None:
    identity = install(shop, app_url)
    check_deliveries(shop, app_url)
    check_the_dashboards_token(shop, app_url, identity)


def check_deliveries(shop: Shop, app_url: str) -> None:
    """The app accepts what the shop signed, and nothing else."""
    with shop.worker():
        shop.run(CREATE, input={"name": "Mug", "price": "9.50"})
        deadline = time.monotonic() + 3 * PATIENCE
        while not received(app_url) and time.monotonic() < deadline:
            time.sleep(0.05)
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
