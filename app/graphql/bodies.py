"""Reading a request's body, no further and no deeper than is allowed."""

from http import HTTPStatus
from typing import Any

import orjson
from werkzeug.exceptions import RequestEntityTooLarge

DEEPEST_JSON = 100
"""How far a body may nest: variables and a batch need far less, and every reader recurses."""

_LONGEST_LENGTH = 18
_MIB = 1024 * 1024


class BadRequest(Exception):
    """A request that is refused before anybody asks who sent it; ``message`` is for the client."""

    def __init__(
        self, message: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST, **headers: str
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.headers = tuple((name.replace("_", "-"), value) for name, value in headers.items())


def read_body(environ: dict[str, Any], most: int) -> bytes:
    """The whole body, at most ``most`` bytes; a longer one is 413.

    An announced length is judged before anything is read. A body without one (chunked) is read
    only where the server says that it ends by itself, and never beyond the limit.
    """
    announced = _announced(environ.get("CONTENT_LENGTH") or "", most)
    if announced is None and not environ.get("wsgi.input_terminated"):
        return b""
    wanted = most + 1 if announced is None else announced
    try:
        body = _read(environ["wsgi.input"], wanted)
    except RequestEntityTooLarge:
        # The server's own limit, which is lower for clients without a credential.
        message = "The body is larger than this client can send."
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    if len(body) > most:
        raise too_large("The body is", most)
    if announced is not None and len(body) < announced:
        raise BadRequest("The body ended before its announced length.")
    return body


def _announced(text: str, most: int) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise BadRequest("The Content-Length is no number.")
    length = int(text[:_LONGEST_LENGTH])
    if length > most:
        raise too_large("The body is", most)
    return length


def _read(stream: Any, wanted: int) -> bytes:
    chunks = []
    while wanted > 0:
        chunk = stream.read(wanted)
        if not chunk:
            break
        chunks.append(chunk)
        wanted -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def too_large(what: str, most: int) -> BadRequest:
    """The refusal of something that is larger than ``most`` bytes."""
    told = f"{most // _MIB} MiB" if most % _MIB == 0 else f"{most} bytes"
    return BadRequest(f"{what} larger than {told}.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)


def read_json(text: bytes | str, what: str) -> Any:
    """The value that ``text`` spells in JSON; ``what`` it is stands in the refusal.

    Strict: UTF-8 alone, no ``NaN``, no lone surrogates, nothing behind the value.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{what} is not valid JSON: {error}.") from None
    if _may_be_deep(text) and _depth(value) > DEEPEST_JSON:
        raise BadRequest(f"{what} nests more than {DEEPEST_JSON} levels deep.")
    return value


def _may_be_deep(text: bytes | str) -> bool:
    # Counting brackets is a hundred times quicker than following them.
    raw = text if isinstance(text, bytes) else text.encode()
    return raw.count(b"[") + raw.count(b"{") > DEEPEST_JSON


def _depth(value: Any) -> int:
    depth = 0
    level = [value]
    while level and depth <= DEEPEST_JSON:
        depth += 1
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return depth
