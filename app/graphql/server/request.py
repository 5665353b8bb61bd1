"""A parsed request: its operations, its form, and the accepted media type."""

from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header, parse_options_header

from app.graphql.server.bodies import BadRequest, read_body, read_json
from app.graphql.server.multipart import read_multipart

JSON = "application/json"
GRAPHQL = "application/graphql"
GRAPHQL_RESPONSE = "application/graphql-response+json"
MULTIPART = "multipart/form-data"
_MAX_HEADER = 4096
"""Characters of a header that are parsed: parsing takes more than linear time."""

_UTF_8 = ("utf-8", "utf8")


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation to execute; not validated yet."""

    query: str
    variables: dict[str, Any]
    operation_name: str | None


@dataclass(frozen=True, slots=True)
class Request:
    """Read a body's operations; a malformed entry of a batch becomes its refusal."""

    entries: tuple[Entry | BadRequest, ...]
    is_batch: bool = False


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a request can hold: bytes, the entries of a batch, and the values of its JSON."""

    body: int
    upload: int
    batch: int
    values: int


def read_request(environ: dict[str, Any], sizes: Sizes, *, is_deliberate: bool) -> Request:
    """What the body of a ``POST`` asks for; raises ``BadRequest`` (contract, "HTTP").

    ``is_deliberate``: no page of another site can have sent it with a plain form. Uploads ask for
    that, since a browser sends their content type without asking first.
    """
    content_type = environ.get("CONTENT_TYPE") or ""
    if content_type == JSON:
        return _from_json(_json(environ, sizes), sizes)
    kind, options = parse_options_header(content_type[:_MAX_HEADER])
    kind = kind.lower()
    if options.get("charset", _UTF_8[0]).lower() not in _UTF_8:
        raise _unsupported("The body must be UTF-8.")
    if kind == JSON:
        return _from_json(_json(environ, sizes), sizes)
    if kind == GRAPHQL:
        return Request((_entry({"query": _text(read_body(environ, sizes.body))}),))
    if kind == MULTIPART:
        if not is_deliberate:
            raise BadRequest(
                "An upload must come with a credential or the header GraphQL-Require-Preflight."
            )
        body = read_body(environ, sizes.body + sizes.upload)
        boundary = options.get("boundary", "")
        operations = read_multipart(
            body,
            boundary,
            text_max=sizes.body,
            files_max=sizes.upload,
            values_max=sizes.values,
        )
        return Request((_entry(operations),))
    raise _unsupported(f"The Content-Type must be {JSON}, {GRAPHQL} or {MULTIPART}.")


def _json(environ: dict[str, Any], sizes: Sizes) -> Any:
    return read_json(read_body(environ, sizes.body), "The body", sizes.values)


@lru_cache(maxsize=256)
def wants_graphql_response(accept: str) -> bool:
    """Return whether ``Accept`` prefers ``application/graphql-response+json`` to plain JSON.

    It is preferred where both are equally accepted, but never because of a wildcard, so that older
    clients get plain JSON.
    """
    accept = accept[:_MAX_HEADER]
    if not accept or GRAPHQL_RESPONSE not in accept.lower():
        return False
    accepted = parse_accept_header(accept.lower(), MIMEAccept)
    best = {GRAPHQL_RESPONSE: 0.0, JSON: 0.0}
    for kind, quality in accepted:
        name = kind.partition(";")[0]
        best[name] = max(quality, best.get(name, 0.0))
    return best[GRAPHQL_RESPONSE] > 0 and best[GRAPHQL_RESPONSE] >= best[JSON]


def _from_json(value: Any, sizes: Sizes) -> Request:
    if isinstance(value, dict):
        return Request((_entry(value),))
    if not isinstance(value, list):
        raise BadRequest("The body must be an object, or a list of them.")
    if len(value) > sizes.batch:
        raise BadRequest(
            f"A batch may hold {sizes.batch} operations; this one holds {len(value)}."
        )
    if not all(isinstance(entry, dict) for entry in value):
        raise BadRequest("Every entry of a batch must be an object.")
    return Request(tuple(map(_entry_or_refusal, value)), is_batch=True)


def _entry_or_refusal(value: dict[str, Any]) -> Entry | BadRequest:
    try:
        return _entry(value)
    except BadRequest as refusal:
        return refusal


def _entry(value: dict[str, Any]) -> Entry:
    query, variables = value.get("query"), value.get("variables")
    name, extensions = value.get("operationName"), value.get("extensions")
    if not isinstance(query, str) or not query:
        raise BadRequest("`query` must be the text of a document.")
    if variables is not None and not isinstance(variables, dict):
        raise BadRequest("`variables` must be an object.")
    if name is not None and not isinstance(name, str):
        raise BadRequest("`operationName` must be a string.")
    if extensions is not None and not isinstance(extensions, dict):
        raise BadRequest("`extensions` must be an object.")
    # Some clients send an empty name for "the only one".
    return Entry(query, variables or {}, name or None)


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise BadRequest("The body is not valid UTF-8.") from None


def _unsupported(message: str) -> BadRequest:
    return BadRequest(
        message,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        Accept_Post=f"{JSON}, {GRAPHQL}, {MULTIPART}",
    )
