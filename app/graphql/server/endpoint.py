"""``/graphql/`` as a separate WSGI application, in front of Flask, and its playground page."""

import re
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from graphql import GraphQLSchema
from jinja2 import Environment, FileSystemLoader

from app.domain.authorization.actor import Actor
from app.domain.values.unchanging import unchanging
from app.graphql.server.bodies import BadRequest
from app.graphql.server.limits import Limits
from app.graphql.server.request import (
    GRAPHQL_RESPONSE,
    JSON,
    Request,
    Sizes,
    names_json,
    read_query_string,
    read_request,
    wants_graphql_response,
)
from app.graphql.server.request_execution import CountStored, Exchange, Identify
from app.graphql.server.responses import Outcome, faulty, joined, malformed
from app.ports import Ports
from app.services.identity.identify import Visitor
from app.services.identity.identify import identify as identify_caller
from app.web.caller import visitor_from
from app.web.headers import (
    Headers,
    cors_headers,
    data_headers,
    preflight_headers,
    security_headers,
)
from app.web.installation import Installation
from app.web.request_hooks import current_request

_APP = Path(__file__).parents[2]
EDITOR = _APP / "static" / "vendor" / "graphiql" / "graphiql.min.js"
"""GraphiQL, where ``make playground`` has put it; without it a plain page does the same job."""

_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
)
_PLAIN_POLICY = _POLICY + "style-src 'self'"
_EDITOR_POLICY = _POLICY + "style-src 'self' 'unsafe-inline'"
"""GraphiQL places its panes by style attributes; this page alone allows them."""

_pages = Environment(loader=FileSystemLoader(_APP / "templates"), autoescape=True)


Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Read = Callable[[Environ, Visitor], Request]

_METHODS = ("GET", "POST", "OPTIONS")
_PAGE_METHODS = ("GET", "HEAD")
_VARIES = (("Vary", "Accept, Authorization, Authorization-Bearer, Origin"),)
"""What the response to a query in a URL depends on."""

_HEADERS_BY_STATUS: Mapping[HTTPStatus, Headers] = {
    HTTPStatus.METHOD_NOT_ALLOWED: (("Allow", "POST"),),
    HTTPStatus.UNAUTHORIZED: (("WWW-Authenticate", "Bearer"),),
}

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


def _count_nothing(_ports: Ports, _actor: Actor) -> Mapping[str, int]:
    return {}


@unchanging
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
        count_stored: CountStored = _count_nothing,
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
            entities=installation.graphql_entities_max,
            show_cost=installation.graphql_cost_shown,
        )
        self.exchange = Exchange(installation.ports, schema, limits, identify, count_stored)
        self._headers = data_headers(installation.ports.configuration)
        self._by_method = {
            "POST": self._post,
            "GET": self._get,
            "HEAD": self._get,
            "OPTIONS": self._options,
        }

    @staticmethod
    def is_page(environ: Environ) -> bool:
        """Whether a request asks for the playground, not for an operation's result.

        A URL without parameters is the playground's, whatever the client accepts.
        """
        if environ["REQUEST_METHOD"] not in _PAGE_METHODS:
            return False
        return not environ.get("QUERY_STRING") or not names_json(environ.get("HTTP_ACCEPT", ""))

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request that isn't for the page, see ``is_page``."""
        answer = self._by_method.get(environ["REQUEST_METHOD"], self._refuse_method)
        return self._send(environ, start_response, answer)

    def page(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request for the page, see ``is_page``."""
        return self._send(environ, start_response, self._playground)

    def _send(
        self, environ: Environ, start_response: StartResponse, answer: Callable[[Environ], Answer]
    ) -> Iterable[bytes]:
        request = current_request()
        if request is not None:
            request.route = environ["PATH_INFO"]
        response = answer(environ)
        start_response(
            f"{response.status:d} {response.status.phrase}",
            [*response.headers, ("Content-Length", str(len(response.body)))],
        )
        return [response.body] if environ["REQUEST_METHOD"] != "HEAD" else []

    def _post(self, environ: Environ) -> Answer:
        cors = cors_headers(environ.get("HTTP_ORIGIN"), self._installation.allowed_graphql_origins)
        return self._answer(environ, self._read_body, tuple(cors.items()))

    def _answer(self, environ: Environ, read: Read, headers: Headers) -> Answer:
        strict = wants_graphql_response(environ.get("HTTP_ACCEPT", ""))
        extra: Headers = ()
        try:
            outcome = self._outcome(environ, read)
        except BadRequest as refusal:
            outcome = malformed(refusal.message, refusal.status, refusal.code)
            extra = refusal.headers
        except Exception as fault:  # noqa: BLE001 - whatever it is, the client learns nothing of it
            outcome = faulty(fault, self._ports)
        status = outcome.status
        if strict and not outcome.is_executed and status is HTTPStatus.OK:
            status = HTTPStatus.BAD_REQUEST
        if strict and outcome.rejects_credential:
            status = HTTPStatus.UNAUTHORIZED
        extra = (*extra, *_HEADERS_BY_STATUS.get(status, ()))
        if outcome.retry_after is not None:
            extra = (*extra, ("Retry-After", str(outcome.retry_after)))
        media_type = GRAPHQL_RESPONSE if strict else JSON
        sent = (*self._headers, *headers, ("Content-Type", media_type), *extra)
        return Answer(status, sent, outcome.body)

    def _outcome(self, environ: Environ, read: Read) -> Outcome:
        visitor = visitor_from(environ, self._installation)
        request = read(environ, visitor)
        outcomes = self.exchange.outcomes(
            request.entries,
            visitor,
            tolerates_lag=self._ports.replica is not None and not _wants_current(environ),
        )
        return joined(outcomes) if request.is_batch else outcomes[0]

    def _read_body(self, environ: Environ, visitor: Visitor) -> Request:
        # Neither header can be set by a page of another site unless the browser asks us first.
        deliberate = visitor.credential is not None or "HTTP_GRAPHQL_REQUIRE_PREFLIGHT" in environ
        return read_request(environ, self._sizes, is_deliberate=deliberate)

    def _read_url(self, environ: Environ, _visitor: Visitor) -> Request:
        return read_query_string(environ, self._sizes)

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
        cors = cors_headers(environ.get("HTTP_ORIGIN"), self._installation.allowed_graphql_origins)
        kept = ((name, value) for name, value in cors.items() if name != "Vary")
        return self._answer(environ, self._read_url, (*kept, *_VARIES))

    def _playground(self, environ: Environ) -> Answer:
        if not self._installation.playground_enabled:
            allow = ("Allow", "OPTIONS, POST")
            return Answer(HTTPStatus.METHOD_NOT_ALLOWED, (*self._headers, allow))
        with_editor = EDITOR.exists()
        # The installation's mount path.
        root = environ.get("SCRIPT_NAME", "")
        page = _pages.get_template("playground.html").render(root=root, with_editor=with_editor)
        headers = (
            *security_headers(self._ports.configuration),
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Security-Policy", _EDITOR_POLICY if with_editor else _PLAIN_POLICY),
            ("Cache-Control", "no-cache"),
            ("Vary", "Accept"),
        )
        return Answer(HTTPStatus.OK, headers, page.encode())

    def _refuse_method(self, environ: Environ) -> Answer:
        cors = cors_headers(environ.get("HTTP_ORIGIN"), self._installation.allowed_graphql_origins)
        headers = (*self._headers, self._allow(), *cors.items())
        return Answer(HTTPStatus.METHOD_NOT_ALLOWED, headers)

    def _allow(self) -> tuple[str, str]:
        return "Allow", ", ".join(sorted(self._by_method))


def _wants_current(environ: Environ) -> bool:
    """Whether the client asks for lists as they are now (RFC 9111, 5.2.1.4)."""
    return "no-cache" in environ.get("HTTP_CACHE_CONTROL", "").lower()
