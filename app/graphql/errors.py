"""What clients read when something went wrong: at the top of an answer, or inside a payload."""

from collections.abc import Callable
from itertools import islice
from typing import Any

import structlog
from graphql import GraphQLError, GraphQLSyntaxError, SourceLocation

from app.domain.values.errors import (
    PermissionDenied,
    Refused,
    TokenRejected,
    TooManyRequests,
    TrafficClosed,
)
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from app.web.errors import UNAVAILABLE, UNAVAILABLE_CODE
from app.web.request_hooks import current_request_id

Description = dict[str, Any]
"""One entry of a top-level ``errors`` list."""

SYNTAX_ERROR = "GraphQLSyntaxError"
REQUEST_ERROR = "GraphQLError"
MASKED = "Internal Server Error"

_MAX_MESSAGE = 1000
_MAX_LOCATIONS = 10
_log = structlog.get_logger(__name__)


def describe_request_error(error: GraphQLError) -> Description:
    """Why a request was refused before anything was executed; the client can mend it."""
    code = SYNTAX_ERROR if isinstance(error, GraphQLSyntaxError) else REQUEST_ERROR
    return _located(
        error, error.message, {"exception": {"code": code}, **(error.extensions or {})}
    )


def describe_field_error(error: GraphQLError, ports: Ports) -> Description:
    """Why a field has no value. Whatever no rule has raised is masked and logged."""
    cause = cause_of(error)
    if cause is None:
        return describe_request_error(error)
    if isinstance(cause, DatabaseUnavailable):
        return _located(error, UNAVAILABLE, {"code": UNAVAILABLE_CODE})
    for kind, extensions_of in _DESCRIPTIONS.items():
        if isinstance(cause, kind):
            return _located(error, str(cause), extensions_of(cause))
    return _located(error, MASKED, _masked(cause, ports, error.path))


def describe_fault(fault: Exception, ports: Ports) -> Description:
    """An unexpected fault outside any field, masked and logged."""
    return {"message": MASKED, "extensions": _masked(fault, ports, None)}


def describe_outage() -> Description:
    """The database is away (contract, part 3)."""
    return {"message": UNAVAILABLE, "extensions": {"code": UNAVAILABLE_CODE}}


def cause_of(error: GraphQLError) -> Exception | None:
    """What a resolver raised, or ``None`` when GraphQL itself, or a resolver in its name, did."""
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    return cause


def describe_limit(limited: TooManyRequests) -> Description:
    """A limit that was reached before any document was looked at."""
    return {"message": str(limited), "extensions": _too_many_requests(limited)}


def describe_closed_traffic() -> Description:
    """The single error of a closed storefront (contract, "Storefront traffic")."""
    return {"message": TrafficClosed.MESSAGE, "extensions": {"code": TrafficClosed.CODE}}


def _permission_denied(denied: PermissionDenied) -> Description:
    return {
        "exception": {"code": "PermissionDenied"},
        "requiredPermissions": [str(name) for name in denied.required],
    }


def _too_many_requests(limited: TooManyRequests) -> Description:
    return {
        "code": TooManyRequests.CODE,
        "retryAfter": limited.retry_after,
        "exception": {"code": TooManyRequests.CODE},
    }


_DESCRIPTIONS: dict[type[Exception], Callable[[Any], Description]] = {
    PermissionDenied: _permission_denied,
    TokenRejected: lambda rejected: {"exception": {"code": rejected.fault.code}},
    TooManyRequests: _too_many_requests,
    TrafficClosed: lambda _closed: {"code": TrafficClosed.CODE},
    Refused: lambda _refused: {"exception": {"code": REQUEST_ERROR}},
}


def _masked(fault: Exception, ports: Ports, path: list[str | int] | None) -> Description:
    # Clients only get the request ID, by which the log has the rest.
    request_id = current_request_id(ports)
    _log.error("graphql.fault", request_id=request_id, path=path, exc_info=fault)
    return {"requestId": request_id}


def _located(error: GraphQLError, message: str, extensions: Description) -> Description:
    # A client chooses the names in its document, and how often they are at fault.
    shortened = message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}…"
    description: Description = {"message": shortened}
    locations = locations_of(error)
    if locations:
        description["locations"] = [
            {"line": location.line, "column": location.column} for location in locations
        ]
    if error.path:
        description["path"] = error.path
    description["extensions"] = extensions
    return description


def locations_of(error: GraphQLError) -> list[SourceLocation]:
    """Return where in the document ``error`` is, at most ``_MAX_LOCATIONS`` places."""
    if error.source is None:
        return []
    positions = islice(error.positions or (), _MAX_LOCATIONS)
    return [error.source.get_location(position) for position in positions]
