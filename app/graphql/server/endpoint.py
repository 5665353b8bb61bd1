"""``/graphql/`` as a separate WSGI application, in front of Flask."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from graphql import GraphQLSchema

from app.domain.values.installation_errors import DatabaseUnavailable
from app.graphql.server.bodies import BadRequest
from app.graphql.server.limits import Limits
from app.graphql.server.playground import playground
from app.graphql.server.request import (
    GRAPHQL_RESPONSE,
    JSON,
    Sizes,
    read_request,
    wants_graphql_response,
)
from app.graphql.server.request_execution import Exchange, Identify
from app.graphql.server.responses import Outcome, faulty, joined, malformed
from app.services.identity.identify import identify as identify_caller
from app.web.caller import visitor_from
from app.web.cors import cors_headers, preflight_headers
from app.web.headers import Headers, data_headers
from app.web.installation import Installation

Environ = dict[str, Any]
StartResponse = Callable[..., Any]

_METHODS = ("POST", "OPTIONS")
_REQUEST_HEADERS = (
    "accept",
    "authorization",
    "authorization-bearer",
    "content-type",
    "graphql-require-preflight",
)
"""Headers that pages can send, in addition to those that a preflight asks for."""

_MAX_HEADER_NAMES = 50
_MAX_HEADER_NAMES_LENGTH = 8192
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer."""

    status: HTTPStatus
    headers: Headers
    body: bytes = b""


class GraphqlEndpoint:
    """Answers every method at ``/graphql/`` (contract, "HTTP").

    Independent of Flask: its request context costs more than a whole cached operation.
    """

    def __init__(
        self,
        installation: Installation,
        schema: GraphQLSchema,
        *,
        identify: Identify = identify_caller,
    ) -> None:
        self._installation = installation
        self._ports = installation.ports
        self._sizes = Sizes(
            body=installation.graphql_body_max,
            upload=installation.upload_max,
            batch=installation.graphql_batch_max,
            values=installation.graphql_values_max,
        )
        limits = Limits(
            tokens=installation.graphql_tokens_max,
            depth=installation.graphql_depth_max,
            aliases=installation.graphql_aliases_max,
            cost=installation.graphql_cost_max,
            mutations=installation.graphql_mutations_max,
        )
        self.exchange = Exchange(installation.ports, schema, limits, identify)
        self._headers = data_headers(installation.ports.configuration)
        self._by_method = {"POST": self._post, "OPTIONS": self._options}
        if installation.playground_enabled:
            self._by_method |= {"GET": self._get, "HEAD": self._get}

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        method: str = environ["REQUEST_METHOD"]
        response = self._by_method.get(method, self._refuse_method)(environ)
        start_response(
            f"{response.status.value} {response.status.phrase}",
            [*response.headers, ("Content-Length", str(len(response.body)))],
        )
        return [response.body] if method != "HEAD" else []

    def _post(self, environ: Environ) -> Answer:
        strict = wants_graphql_response(environ.get("HTTP_ACCEPT", ""))
        extra: Headers = ()
        try:
            outcome = self._outcome(environ)
        except BadRequest as refusal:
            outcome = malformed(refusal.message, refusal.status)
            extra = refusal.headers
        except Exception as fault:  # noqa: BLE001 - whatever it is, the client learns nothing of it
            outcome = faulty(fault, self._ports)
        status = outcome.status
        if strict and outcome.rejects_credential:
            status = HTTPStatus.UNAUTHORIZED
        if status is HTTPStatus.UNAUTHORIZED:
            extra = (*extra, ("WWW-Authenticate", "Bearer"))
        if status is HTTPStatus.SERVICE_UNAVAILABLE:
            extra = (*extra, ("Retry-After", str(DatabaseUnavailable.retry_after)))
        cors = cors_headers(environ.get("HTTP_ORIGIN"), self._installation.allowed_graphql_origins)
        media_type = GRAPHQL_RESPONSE if strict else JSON
        headers = (*self._headers, *cors.items(), ("Content-Type", media_type), *extra)
        return Answer(status, headers, outcome.body)

    def _outcome(self, environ: Environ) -> Outcome:
        visitor = visitor_from(environ, self._installation)
        # Neither header can be set by a page of another site unless the browser asks us first.
        deliberate = visitor.credential is not None or "HTTP_GRAPHQL_REQUIRE_PREFLIGHT" in environ
        request = read_request(environ, self._sizes, is_deliberate=deliberate)
        outcomes = self.exchange.outcomes(request.entries, visitor)
        return joined(outcomes) if request.is_batch else outcomes[0]

    def _options(self, environ: Environ) -> Answer:
        requested = environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS", "").lower()[
            :_MAX_HEADER_NAMES_LENGTH
        ]
        names = [name for name in re.split(r"[\s,]+", requested) if _HEADER_NAME.fullmatch(name)]
        preflight = preflight_headers(
            environ.get("HTTP_ORIGIN"),
            self._installation.allowed_graphql_origins,
            methods=_METHODS,
            request_headers=tuple(dict.fromkeys([*_REQUEST_HEADERS, *names[:_MAX_HEADER_NAMES]])),
        )
        return Answer(HTTPStatus.OK, (*self._headers, self._allow(), *preflight.items()))

    def _get(self, environ: Environ) -> Answer:
        page = playground(self._ports.configuration, root=environ.get("SCRIPT_NAME", ""))
        return Answer(HTTPStatus.OK, page.headers, page.body)

    def _refuse_method(self, environ: Environ) -> Answer:
        return Answer(HTTPStatus.METHOD_NOT_ALLOWED, (*self._headers, self._allow()))

    def _allow(self) -> tuple[str, str]:
        return "Allow", ", ".join(sorted(self._by_method))
