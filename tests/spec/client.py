"""A client of the API, as any program on the network is one."""

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
_SECONDS = 60
_addresses = count(1)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; ``body`` is decoded where it is JSON."""

    status: int
    headers: CaseInsensitiveDict[str]
    body: Any

    @property
    def data(self) -> Any:
        """What was asked for; a test that reads it expects no error."""
        assert self.status == 200, self
        assert "errors" not in self.body, self.body
        return self.body["data"]

    @property
    def errors(self) -> list[dict[str, Any]]:
        """The errors at the top of the answer."""
        found: list[dict[str, Any]] = self.body["errors"]
        return found

    @property
    def code(self) -> str:
        """The code of the one error at the top of the answer."""
        (error,) = self.errors
        found: str = error["extensions"]["exception"]["code"]
        return found


def new_address() -> str:
    """An address that no other test calls from, so that nobody waits for another's failures."""
    number = next(_addresses)
    return f"198.18.{number // 250}.{number % 250 + 1}"


@dataclass(slots=True)
class Client:
    """Calls from one address; ``credential`` goes into ``Authorization`` where one is given."""

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
        """One request as it stands: text and bytes go out unchanged, anything else as JSON."""
        raw = body if isinstance(body, bytes | None) else _encoded(body)
        answer = self.http.request(
            method,
            f"{self.server.url}{path}",
            data=raw,
            headers={"X-Forwarded-For": self.address, **(headers or {})},
            timeout=_SECONDS,
            allow_redirects=False,
        )
        return Answer(answer.status_code, answer.headers, _decoded(answer))

    def post(
        self, body: object, credential: str | None = None, headers: Headers | None = None
    ) -> Answer:
        """A JSON body to the API."""
        carried = {"Authorization": f"Bearer {credential}"} if credential is not None else {}
        return self.send(body=body, headers={**JSON, **carried, **(headers or {})})

    def run(self, query: str, credential: str | None = None, **variables: object) -> Answer:
        """One operation."""
        body = {"query": query, "variables": variables} if variables else {"query": query}
        return self.post(body, credential)

    def key_set(self) -> list[dict[str, str]]:
        """The keys that anybody may verify our signatures with."""
        keys: list[dict[str, str]] = self.send("GET", "/.well-known/jwks.json").body["keys"]
        return keys

    def kids(self) -> set[str]:
        return {key["kid"] for key in self.key_set()}


def _encoded(body: object) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def _decoded(answer: requests.Response) -> object:
    if answer.content and "json" in answer.headers.get("Content-Type", ""):
        return answer.json()
    return answer.text
