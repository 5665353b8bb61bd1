"""Reading a request's body, no further and no deeper than is allowed."""

import re
from http import HTTPStatus
from typing import Any

import orjson
from werkzeug.exceptions import RequestEntityTooLarge

from app.domain.values.json_values import BOM, UTF_16_MARKS

DEEPEST_JSON = 100
"""How far a body may nest: variables and a batch need far less, and every reader recurses."""

_CONTAINERS = (dict, list)
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A JSON string; one without an end reaches to the end of the text."""

_MAX_LENGTH_DIGITS = 18
_MIB = 1024 * 1024


class BadRequest(Exception):
    """A request refused before anything is executed; ``message`` is for the client.

    ``code`` is what clients test for, if it's more than that the request is wrong.
    """

    def __init__(
        self,
        message: str,
        status: HTTPStatus = HTTPStatus.BAD_REQUEST,
        code: str = "",
        **headers: str,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.headers = tuple((name.replace("_", "-"), value) for name, value in headers.items())


NO_PERSISTED_QUERIES = BadRequest(
    "PersistedQueryNotSupported", HTTPStatus.OK, "PERSISTED_QUERY_NOT_SUPPORTED"
)
"""The refusal of a hash without a query: clients then send the query itself."""


def read_body(environ: dict[str, Any], max_size: int) -> bytes:
    """Read the whole body, at most ``max_size`` bytes; a longer one is 413.

    An announced length is checked before anything is read. A chunked body is read only where the
    server marks its end, and never beyond the limit.
    """
    announced = _announced(environ.get("CONTENT_LENGTH") or "", max_size)
    if announced is None and not environ.get("wsgi.input_terminated"):
        return b""
    size = max_size + 1 if announced is None else announced
    try:
        body = _read(environ["wsgi.input"], size)
    except RequestEntityTooLarge:
        # The server's own limit, which is lower for clients without a credential.
        message = "The body is larger than this client can send."
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    if len(body) > max_size:
        raise too_large("The body is", max_size)
    if announced is not None and len(body) < announced:
        raise BadRequest("The body ended before its announced length.")
    return body


def _announced(text: str, max_size: int) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise BadRequest("Content-Length must be a number.")
    length = int(text[:_MAX_LENGTH_DIGITS])
    if length > max_size:
        raise too_large("The body is", max_size)
    return length


def _read(stream: Any, size: int) -> bytes:
    chunks = []
    while size > 0:
        chunk = stream.read(size)
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def too_large(what: str, max_size: int) -> BadRequest:
    """The refusal of something that is larger than ``most`` bytes."""
    limit = f"{max_size // _MIB} MiB" if max_size % _MIB == 0 else f"{max_size} bytes"
    return BadRequest(f"{what} larger than {limit}.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


def read_json(text: bytes | str, what: str, values_max: int) -> Any:
    """Parse ``text`` as strict JSON; ``what`` names it in the error.

    Strict: UTF-8 only, no ``NaN``, no lone surrogates, no text after the value. A byte order mark
    is skipped. Each string, number, object, list and constant counts as a value, of which there
    can be ``values_max``, because parsing them is slow, and coercing them to GraphQL input even
    slower.
    """
    raw = (text if isinstance(text, bytes) else text.encode()).removeprefix(BOM)
    if _values_in(raw) > values_max and _values_in(_STRING.sub(b"", raw)) > values_max:
        raise BadRequest(
            f"{what} contains more than {values_max} values; the limit is {values_max}."
        )
    if raw.startswith(UTF_16_MARKS):
        raise BadRequest(f"{what} must be UTF-8, got UTF-16.")
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{what} is not valid JSON: {error}.") from None
    if _containers_in(raw) > DEEPEST_JSON and _depth(value) > DEEPEST_JSON:
        raise BadRequest(f"{what} nests more than {DEEPEST_JSON} levels deep.")
    return value


def _values_in(raw: bytes) -> int:
    # Every value but the first of a list or an object follows a comma. Strings can hold commas
    # and brackets as well, so that there may be fewer, but never more.
    return 1 + raw.count(b",") + _containers_in(raw)


def _containers_in(raw: bytes) -> int:
    # Counting brackets is a hundred times quicker than following them.
    return raw.count(b"[") + raw.count(b"{")


def _depth(value: Any) -> int:
    depth = 0
    level = [value]
    while level and depth <= DEEPEST_JSON:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
    return depth
