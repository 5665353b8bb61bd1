"""A parsed request: its operations, its form, and the accepted media type."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header, parse_options_header

from app.domain.values.unchanging import unchanging
from app.graphql.server.bodies import NO_PERSISTED_QUERIES, BadRequest, read_body, read_json
from app.graphql.server.multipart import read_multipart
from app.web.bodies import encoding_problem

JSON = "application/json"
GRAPHQL = "application/graphql"
GRAPHQL_RESPONSE = "application/graphql-response+json"
MULTIPART = "multipart/form-data"
HTML = "text/html"
MAX_URL = 8 * 1024
"""Bytes of path and query string of a ``GET`` request."""

_MAX_HEADER = 4096
"""Characters of a header that are parsed: parsing takes more than linear time."""

_UTF_8 = ("utf-8", "utf8")
_PARAMETERS = frozenset(("query", "variables", "operationName", "extensions"))
_MAX_PARAMETERS = 100


@unchanging
class Entry:
    """One operation to execute; not validated yet. With ``read_only`` it can't be a mutation."""

    query: str
    variables: dict[str, Any]
    operation_name: str | None
    read_only: bool = False


@unchanging
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
    if problem := encoding_problem(environ):
        status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        raise BadRequest(problem, status, Accept_Encoding="identity")
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
        document = {"query": _text(read_body(environ, sizes.body))}
        return Request((_entry(document, sizes.values),))
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
        return Request((_entry(operations, sizes.values),))
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
    best = _qualities(accept)
    return best[GRAPHQL_RESPONSE] > 0 and best[GRAPHQL_RESPONSE] >= best[JSON]


@lru_cache(maxsize=256)
def names_json(accept: str) -> bool:
    """Return whether ``Accept`` names a type of JSON and doesn't prefer a page to it.

    A wildcard names none: browsers and old clients send it for whatever there is.
    """
    best = _qualities(accept[:_MAX_HEADER])
    quality = max(best[GRAPHQL_RESPONSE], best[JSON])
    return quality > 0 and quality >= best[HTML]


def _qualities(accept: str) -> Mapping[str, float]:
    best = {GRAPHQL_RESPONSE: 0.0, JSON: 0.0, HTML: 0.0}
    for kind, quality in parse_accept_header(accept.lower(), MIMEAccept):
        name = kind.partition(";")[0]
        best[name] = max(quality, best.get(name, 0.0))
    return best


def read_query_string(environ: dict[str, Any], sizes: Sizes) -> Request:
    """Read the operation of a ``GET`` from its URL; raises ``BadRequest`` (contract, part 3)."""
    text: str = environ.get("QUERY_STRING") or ""
    if len(environ["PATH_INFO"]) + len(text) > MAX_URL:
        raise BadRequest(
            f"The URL is longer than {MAX_URL} bytes. Send the query with POST.",
            HTTPStatus.REQUEST_URI_TOO_LONG,
        )
    try:
        text.encode("ascii")
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=_MAX_PARAMETERS
        )
    except ValueError:
        raise BadRequest("The query string is not valid UTF-8, URL-encoded.") from None
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise BadRequest(f"The parameter `{name}` appears twice.")
        if name in _PARAMETERS and value:
            members[name] = value
    if "extensions" in members:
        members["extensions"] = read_json(members["extensions"], "`extensions`", sizes.values)
    return Request((_entry(members, sizes.values, read_only=True),))


def _from_json(value: Any, sizes: Sizes) -> Request:
    if isinstance(value, dict):
        return Request((_entry(value, sizes.values),))
    if not isinstance(value, list):
        raise BadRequest("The body must be an object, or a list of them.")
    if len(value) > sizes.batch:
        raise BadRequest(
            f"A batch can have at most {sizes.batch} operations; this one has {len(value)}."
        )
    if not all(isinstance(entry, dict) for entry in value):
        raise BadRequest("Every entry of a batch must be an object.")
    # What variables in a string contain has not been counted as values of the body.
    values_max = sizes.values // max(len(value), 1)
    return Request(tuple(_entry_or_refusal(entry, values_max) for entry in value), is_batch=True)


def _entry_or_refusal(value: dict[str, Any], values_max: int) -> Entry | BadRequest:
    try:
        return _entry(value, values_max)
    except BadRequest as refusal:
        return refusal


def _entry(
    value: dict[str, Any], values_max: int, *, read_only: bool = False
) -> Entry | BadRequest:
    query, variables = value.get("query"), value.get("variables")
    name, extensions = value.get("operationName"), value.get("extensions")
    if isinstance(variables, str):
        variables = read_json(variables, "`variables`", values_max)
        if variables is None:
            raise BadRequest("`variables` must be an object.")
    if variables is not None and not isinstance(variables, dict):
        raise BadRequest("`variables` must be an object.")
    if name is not None and not isinstance(name, str):
        raise BadRequest("`operationName` must be a string.")
    if extensions is not None and not isinstance(extensions, dict):
        raise BadRequest("`extensions` must be an object.")
    if query is None and isinstance((extensions or {}).get("persistedQuery"), dict):
        return NO_PERSISTED_QUERIES
    if not isinstance(query, str) or not query:
        raise BadRequest("`query` must be the text of a document.")
    # Some clients send an empty name for "the only one".
    return Entry(query, variables or {}, name or None, read_only)


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
