"""A test client for an endpoint: sends requests, returns status and JSON."""

from typing import Any

import orjson
from graphql import GraphQLSchema
from typing_extensions import override
from werkzeug.test import Client, TestResponse

from app.graphql.server.endpoint import GraphqlEndpoint
from app.web.dispatch import Dispatch
from app.web.installation import Installation
from tests.graphql.fake_identity import Callers
from tests.graphql.sample_schema import LIBRARY

JSON = "application/json"


class Reply(TestResponse):
    """A response with its JSON already decoded."""

    @property
    @override
    def json(self) -> Any:
        return orjson.loads(self.data)


class EndpointClient:
    """An endpoint with its client."""

    def __init__(
        self, installation: Installation, callers: Callers, schema: GraphQLSchema = LIBRARY
    ) -> None:
        self.endpoint = GraphqlEndpoint(installation, schema, identify=callers.identify)
        self.application = Dispatch(
            self.endpoint.page, {"/graphql/": self.endpoint}, is_page=self.endpoint.is_page
        )
        self.client = Client(self.application, response_wrapper=Reply)

    @property
    def documents_read(self) -> int:
        """Return how many documents were parsed and validated."""
        return self.endpoint.exchange.documents.read

    def send(
        self,
        body: bytes | str = b"",
        *,
        method: str = "POST",
        content_type: str | None = JSON,
        credential: str | None = None,
        **headers: str,
    ) -> Reply:
        """Send ``body`` as it is; keywords are headers, with underscores for dashes."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if credential is not None:
            named["Authorization"] = f"Bearer {credential}"
        response = self.client.open(
            "/graphql/", method=method, data=body, content_type=content_type, headers=named
        )
        assert isinstance(response, Reply)
        return response

    def post(self, value: Any, *, credential: str | None = None, **headers: str) -> Reply:
        """Send ``value`` as JSON."""
        return self.send(orjson.dumps(value), credential=credential, **headers)

    def run(
        self, query: str, variables: Any = None, *, credential: str | None = None, **headers: str
    ) -> Reply:
        """Send one operation."""
        return self.post(
            {"query": query, "variables": variables}, credential=credential, **headers
        )


def codes(response: Reply) -> list[str]:
    """Return the codes of the response's errors."""
    return [error["extensions"]["exception"]["code"] for error in response.json["errors"]]


def messages(response: Reply) -> list[str]:
    """Return the messages of the response's errors."""
    return [error["message"] for error in response.json["errors"]]
