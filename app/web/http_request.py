"""What is known of the HTTP request that is being handled, for logs, metrics and traces."""

from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from werkzeug.datastructures import EnvironHeaders

from app.domain.authorization.actor import Actor

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


@dataclass(frozen=True, slots=True)
class OperationRun:
    """A GraphQL operation of a request; ``root_fields`` are names of the schema."""

    root_fields: tuple[str, ...]
    outcome: OperationOutcome
    seconds: float = 0.0


@dataclass(slots=True)
class HttpRequest:
    """One request as a hook sees it.

    ``id`` is in the log lines of the request, in its response's ``X-Request-ID`` and in the answer
    to an unexpected fault. ``path`` has no query string, which can hold secrets; ``route`` is the
    pattern that it matched. ``actor`` is the caller once known, anonymous ones included.
    ``status``, ``bytes_sent`` and ``seconds`` are set once the response has been handed to the
    server.
    """

    id: str
    method: str
    path: str
    client_ip: str | None
    headers: EnvironHeaders
    status: int = 0
    seconds: float = 0.0
    bytes_sent: int = 0
    route: str = UNMATCHED
    actor: Actor | None = None
    operations: list[OperationRun] = field(default_factory=list)


CURRENT_REQUEST: ContextVar[HttpRequest | None] = ContextVar("http_request", default=None)


def current_request() -> HttpRequest | None:
    """Return the request that is being handled, or ``None`` if no hook wants to know of it."""
    return CURRENT_REQUEST.get()


def note_actor(actor: Actor) -> None:
    """Note who the caller of the current request is."""
    request = CURRENT_REQUEST.get()
    if request is not None:
        request.actor = actor
