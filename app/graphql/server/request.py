"""A parsed request: its operations, its form, the accepted media type, and uploads.

Uploads follow the GraphQL multipart request specification, version 2, for one operation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.datastructures import FileStorage, MIMEAccept
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import MultiPartParser
from werkzeug.http import parse_accept_header, parse_options_header

from app.domain.values.inputs import Upload
from app.domain.values.unchanging import unchanging
from app.graphql.server.bodies import (
    NO_PERSISTED_QUERIES,
    BadRequest,
    read_body,
    read_json,
    too_large,
)
from app.web.bodies import PART_HEADERS, check_part_headers, encoding_problem

MAX_PARTS = 32
MAX_FILE_PATHS = 100
_MAX_INDEX_DIGITS = 6


def read_multipart(
    body: bytes, boundary: str, *, text_max: int, files_max: int, values_max: int
) -> Any:
    """The ``operations`` of a form, with its files where ``map`` says that they belong.

    ``text_max`` and ``files_max`` are in bytes: for each text part, and for all files together.
    ``values_max`` is the number of values in the JSON of each.
    Raises ``BadRequest`` with what is wrong.
    """
    form, files = _parts(body, boundary, text_max)
    if sum(len(upload.data) for upload in files.values()) > files_max:
        raise too_large("The files together are", files_max)
    operations = _json_part(form, "operations", values_max)
    if not isinstance(operations, dict):
        raise BadRequest("An upload carries one operation: `operations` must be an object.")
    file_paths = _json_part(form, "map", values_max)
    if not isinstance(file_paths, dict):
        raise BadRequest("`map` must be an object of file names, each with a list of paths.")
    for name, path in _pairs(file_paths):
        upload = files.get(name)
        if upload is None:
            raise BadRequest(f"`map` names file {name!r}, which isn't in the form.")
        _put(operations, path, upload)
    return operations


def _parts(body: bytes, boundary: str, text_max: int) -> tuple[dict[str, str], dict[str, Upload]]:
    if not boundary.isascii() or not boundary:
        raise BadRequest("The form has no boundary.")
    try:
        check_part_headers(body, boundary.encode(), MAX_PARTS)
    except RequestEntityTooLarge:
        message = (
            f"A form can have at most {MAX_PARTS} parts, with headers of at most {PART_HEADERS} "
            "bytes each."
        )
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    parser = MultiPartParser(
        stream_factory=_in_memory, max_form_memory_size=text_max, max_form_parts=MAX_PARTS
    )
    try:
        form, files = parser.parse(BytesIO(body), boundary.encode(), len(body))
    except RequestEntityTooLarge:
        message = (
            f"A form can have at most {MAX_PARTS} parts, with at most {text_max} bytes of text "
            "each."
        )
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    except ValueError:
        raise BadRequest("The form isn't valid multipart/form-data.") from None
    uploads = {name: _upload(stored) for name, stored in files.items()}
    return dict(form.items()), uploads


def _in_memory(
    total_content_length: int | None,
    content_type: str | None,
    filename: str | None,
    content_length: int | None = None,
) -> BytesIO:
    # The whole body has been read already, and its size is limited.
    return BytesIO()


def _upload(stored: FileStorage) -> Upload:
    name = PurePosixPath((stored.filename or "").replace("\\", "/")).name
    return Upload(name, stored.content_type or "", stored.stream.read())


def _json_part(form: dict[str, str], name: str, values_max: int) -> Any:
    if name not in form:
        raise BadRequest(f"The form has no part `{name}`.")
    return read_json(form[name], f"`{name}`", values_max)


def _pairs(file_paths: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    for name, paths in file_paths.items():
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise BadRequest("`map` must be an object of file names, each with a list of paths.")
        pairs += [(name, path) for path in paths]
    if len(pairs) > MAX_FILE_PATHS:
        raise BadRequest(f"`map` may name {MAX_FILE_PATHS} places.")
    return pairs


def _put(operations: Any, path: str, upload: Upload) -> None:
    """Put ``upload`` at a place such as ``variables.input.files.0``, where a null waits for it."""
    *way, last = path.split(".")
    holder: Any = operations if way[:1] == ["variables"] else None
    for step in way:
        key = _key(holder, step)
        holder = None if key is None else holder[key]
    key = _key(holder, last)
    if key is None or holder[key] is not None:
        raise BadRequest(f"`map` names {path!r}, where `operations` holds no null.")
    holder[key] = upload


def _key(holder: Any, step: str) -> str | int | None:
    if isinstance(holder, dict) and step in holder:
        return step
    if isinstance(holder, list) and len(step) <= _MAX_INDEX_DIGITS and step.isdecimal():
        return int(step) if int(step) < len(holder) else None
    return None


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
            body, boundary, text_max=sizes.body, files_max=sizes.upload, values_max=sizes.values
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
        message, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, Accept_Post=f"{JSON}, {GRAPHQL}, {MULTIPART}"
    )
