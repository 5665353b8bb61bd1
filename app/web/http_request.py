"""What is known of the HTTP request that is being handled, for logs, metrics and traces."""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from werkzeug.datastructures import EnvironHeaders
from werkzeug.wsgi import get_path_info

from app.domain.authorization.actor import Actor
from app.domain.values.ip_addresses import Network
from app.web.client_ip import client_address, is_trusted_proxy

UNMATCHED = "unmatched"
"""The route of a path that no route matches; paths themselves can hold IDs and secrets."""


class OperationOutcome(StrEnum):
    """The result of a GraphQL operation: ERROR if fields failed, REFUSED if it wasn't executed."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"
    CLOSED = "closed"
    UNAVAILABLE = "unavailable"
    FAULT = "fault"


class OperationRun(NamedTuple):
    """A GraphQL operation of a request; ``root_fields`` are names of the schema."""

    root_fields: tuple[str, ...]
    outcome: OperationOutcome
    seconds: float = 0.0


@dataclass(slots=True)
class HttpRequest:
    """One request as a hook sees it.

    ``id`` is in the log lines of the request, in its response's ``X-Request-ID`` and in the answer
    to an unexpected fault. ``route`` is the pattern that its path matched. ``actor`` is the caller
    once known, anonymous ones included. ``status``, ``bytes_sent`` and ``seconds`` are set once
    the response has been handed to the server.
    """

    id: str
    environ: dict[str, Any] = field(repr=False)
    trusted_proxies: Sequence[Network] = ()
    status: int = 0
    seconds: float = 0.0
    bytes_sent: int = 0
    route: str = UNMATCHED
    actor: Actor | None = None
    operations: list[OperationRun] = field(default_factory=list)

    @property
    def method(self) -> str:
        method: str = self.environ["REQUEST_METHOD"]
        return method

    @property
    def path(self) -> str:
        """The path without query string, which can hold secrets."""
        return f"{self.environ.get('SCRIPT_NAME', '')}{get_path_info(self.environ)}"

    @property
    def headers(self) -> EnvironHeaders:
        return EnvironHeaders(self.environ)

    @property
    def traceparent(self) -> str:
        """The span that a trusted proxy made of this request; empty if there is none."""
        given: str = self.environ.get("HTTP_TRACEPARENT", "")
        peer = self.environ.get("REMOTE_ADDR")
        return given if given and is_trusted_proxy(peer, self.trusted_proxies) else ""

    @property
    def client_ip(self) -> str | None:
        forwarded_for = self.environ.get("HTTP_X_FORWARDED_FOR")
        return client_address(self.environ.get("REMOTE_ADDR"), forwarded_for, self.trusted_proxies)


CURRENT_REQUEST: ContextVar[HttpRequest | None] = ContextVar("http_request", default=None)


def current_request() -> HttpRequest | None:
    """Return the request that is being handled, or ``None`` if no hook wants to know of it."""
    return CURRENT_REQUEST.get()


def note_actor(actor: Actor) -> None:
    """Note who the caller of the current request is."""
    request = CURRENT_REQUEST.get()
    if request is not None:
        request.actor = actor
