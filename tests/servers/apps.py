"""A third-party app: serves a manifest, receives a token and calls the API."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import requests

from tests.servers.http import HttpServer, Received, Reply, http_server

TARGET = "https://app.example.com/hook"
QUERY = "subscription { event { ... on StaffCreated { user { id } } } }"
_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Handshake:
    """The request that the app received in the handshake."""

    token: str
    api_url: str
    headers: dict[str, str]


def accept(_told: Handshake) -> Reply:
    """Accept the installation."""
    return Reply(body=b'{"success": true}')


def refuse(message: str, status: int = 400) -> Reply:
    """Refuse the installation like the clients' library does."""
    body = {"success": False, "error": {"code": "NO", "message": message}}
    return Reply(status, json.dumps(body).encode())


@dataclass(slots=True)
class AppServer:
    """The running app; ``decide`` makes its response to the handshake."""

    server: HttpServer
    vendor: str
    manifest: dict[str, Any]
    decide: Callable[[Handshake], Reply] = accept
    handshakes: list[Handshake] = field(default_factory=list)

    @property
    def manifest_url(self) -> str:
        return f"{self.server.url}/manifest"

    def serve_manifest(self, _received: Received) -> Reply:
        return Reply(body=json.dumps(self.manifest).encode())

    def register(self, received: Received) -> Reply:
        """Handle the handshake as the clients' library does."""
        assert received.method == "POST"
        assert received.headers["content-type"] == "application/json"
        handshake = Handshake(
            json.loads(received.body)["auth_token"],
            received.headers[f"{self.vendor.lower()}-api-url"],
            received.headers,
        )
        self.handshakes.append(handshake)
        return self.decide(handshake)


@contextmanager
def app_server(vendor: str = "Saleor", **manifest: object) -> Iterator[AppServer]:
    """Run an app; ``manifest`` changes members of its manifest, ``...`` removes one."""
    with http_server() as server:
        well = {
            "id": "example.app",
            "version": "1.0.0",
            "name": "An app",
            "permissions": ["MANAGE_PRODUCTS"],
            "appUrl": f"{server.url}/dashboard/",
            "tokenTargetUrl": f"{server.url}/register",
            "extensions": [
                {
                    "label": "Edit",
                    "mount": "PRODUCT_DETAILS_MORE_ACTIONS",
                    "target": "POPUP",
                    "url": "/edit",
                    "permissions": ["MANAGE_PRODUCTS"],
                }
            ],
            # Nothing is delivered there: a target on this machine would be refused.
            "webhooks": [{"name": "Staff", "targetUrl": TARGET, "query": QUERY}],
        }
        present = {name: value for name, value in (well | manifest).items() if value is not ...}
        app = AppServer(server, vendor, present)
        server.routes |= {"/manifest": app.serve_manifest, "/register": app.register}
        yield app


def ask_api(handshake: Handshake, query: str) -> dict[str, Any]:
    """Run an operation with the app's token, as the clients' library does."""
    response = requests.post(
        handshake.api_url,
        json={"query": query},
        headers={"Authorization-Bearer": handshake.token},
        timeout=_SECONDS,
    )
    body: dict[str, Any] = response.json()
    return body


def fetch_key_set(handshake: Handshake) -> list[dict[str, str]]:
    """Fetch the keys that the app verifies signatures with."""
    base = handshake.api_url.removesuffix("/graphql/")
    response = requests.get(f"{base}/.well-known/jwks.json", timeout=_SECONDS)
    keys: list[dict[str, str]] = response.json()["keys"]
    return keys
