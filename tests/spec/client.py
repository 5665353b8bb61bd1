"""An HTTP client of the API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import requests
from requests.structures import CaseInsensitiveDict

from tests.spec.server import Server

Headers = Mapping[str, str | bytes]
JSON = {"Content-Type": "application/json"}
_SECONDS = 180
_addresses = count(1)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; ``body`` is decoded if it is JSON."""

    status: int
    headers: CaseInsensitiveDict[str]
    body: Any

    @property
    def data(self) -> Any:
        """Return ``data``; fails the test on an error."""
        assert self.status == 200, self
        assert "errors" not in self.body, self.body
        return self.body["data"]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """Return the top-level errors."""
        found: list[dict[str, Any]] = self.body["errors"]
        return found

    @property
    def code(self) -> str:
        """Return the code of the only top-level error."""
        (error,) = self.errors
        found: str = error["extensions"]["exception"]["code"]
        return found


def new_address() -> str:
    """Return an IP address that no other test uses, so that failures don't delay others."""
    number = next(_addresses)
    return f"198.18.{number // 250}.{number % 250 + 1}"


@dataclass(slots=True)
class Client:
    """Calls from one IP address; ``credential`` goes into ``Authorization``."""

    server: Server
    http: requests.Session
    address: str = field(default_factory=new_address)

    def send(
        self,
        method: str = "POST",
        path: str = "/graphql/",
        body: object = None,
        headers: Headers | None = None,
    ) -> Answer:
        """Send a request: text and bytes unchanged, anything else as JSON."""
        raw = body if isinstance(body, bytes | None) else _encoded(body)
        response = self.http.request(
            method,
            f"{self.server.url}{path}",
            data=raw,
            headers={"X-Forwarded-For": self.address, **(headers or {})},
            timeout=_SECONDS,
            allow_redirects=False,
        )
        return Answer(response.status_code, response.headers, _decoded(response))

    def post(
        self, body: object, credential: str | None = None, headers: Headers | None = None
    ) -> Answer:
        """Post a JSON body to the API."""
        carried = {"Authorization": f"Bearer {credential}"} if credential is not None else {}
        return self.send(body=body, headers={**JSON, **carried, **(headers or {})})

    def run(self, query: str, credential: str | None = None, **variables: object) -> Answer:
        """Run an operation."""
        body = {"query": query, "variables": variables} if variables else {"query": query}
        return self.post(body, credential)

    def key_set(self) -> list[dict[str, str]]:
        """Return the public key set."""
        keys: list[dict[str, str]] = self.send("GET", "/.well-known/jwks.json").body["keys"]
        return keys

    def kids(self) -> set[str]:
        return {key["kid"] for key in self.key_set()}


def _encoded(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _decoded(response: requests.Response) -> object:
    if response.content and "json" in response.headers.get("Content-Type", ""):
        return response.json()
    return response.text
