"""The shop's endpoint on a real database, and its client."""

from collections.abc import Mapping
from io import BytesIO
from types import MappingProxyType
from typing import Any

import orjson
from werkzeug.test import Client

from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.graphql.schema import create_endpoint
from app.ports import Ports
from tests.builders.people import ADDRESS
from tests.graphql.endpoint_client import Reply


class ApiClient:
    """Sends operations to the shop's endpoint; ``credential`` goes into the header."""

    def __init__(self, ports: Ports, settings: Settings | None = None) -> None:
        endpoint = create_endpoint(make_installation(ports, settings or Settings()))
        self._client = Client(endpoint, response_wrapper=Reply)

    def post(
        self,
        value: Any,
        credential: str | None = None,
        user_agent: str = "",
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Reply:
        """Send ``value`` as JSON."""
        return self.send(orjson.dumps(value), credential, user_agent, headers)

    def send(
        self,
        body: bytes,
        credential: str | None = None,
        user_agent: str = "",
        more_headers: Mapping[str, str] = MappingProxyType({}),
    ) -> Reply:
        """Send ``body`` as it is."""
        headers = {"User-Agent": user_agent, "Host": "localhost:8000", **more_headers}
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        response = self._client.post(
            "/graphql/",
            data=body,
            content_type="application/json",
            headers=headers,
            environ_overrides={"REMOTE_ADDR": ADDRESS},
        )
        assert isinstance(response, Reply)
        return response

    def upload(self, query: str, file: bytes, credential: str | None = None) -> Any:
        """Return the response of an operation whose variable ``$file`` is that file."""
        headers = {"GraphQL-Require-Preflight": "1", "Host": "localhost:8000"}
        if credential is not None:
            headers["Authorization"] = f"Bearer {credential}"
        form = {
            "operations": orjson.dumps({"query": query, "variables": {"file": None}}).decode(),
            "map": orjson.dumps({"0": ["variables.file"]}).decode(),
            "0": (BytesIO(file), "me.png", "image/png"),
        }
        response = self._client.post(
            "/graphql/", data=form, headers=headers, environ_overrides={"REMOTE_ADDR": ADDRESS}
        )
        assert isinstance(response, Reply)
        return response.json

    def ask(self, query: str, credential: str | None = None, **variables: Any) -> Any:
        """Return the response of an operation, including errors."""
        return self.post({"query": query, "variables": variables}, credential).json

    def run(self, query: str, credential: str | None = None, **variables: Any) -> Any:
        """Return the value of the only field of an operation without top-level errors."""
        response = self.ask(query, credential, **variables)
        assert "errors" not in response, response
        (value,) = response["data"].values()
        return value

    def code(self, query: str, credential: str | None = None, **variables: Any) -> str:
        """Return the code of the only top-level error."""
        (error,) = self.ask(query, credential, **variables)["errors"]
        code: str = error["extensions"]["exception"]["code"]
        return code
