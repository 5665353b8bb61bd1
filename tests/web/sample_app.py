"""A small WSGI application behind ``app.web.server``, for granian to start in a test."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from werkzeug.exceptions import RequestEntityTooLarge

from app.composition.settings import environment_names
from app.web.bodies import Deadlines
from app.web.dispatch import StartResponse
from app.web.server import BodyLimits, BufferedServer, Server

PIECE = b"0123456789abcdef" * 4096
PIECES = 100
MOST = 100_000
begun: list[bool] = []
"""One item per request to ``/slow``."""

refused: list[tuple[str, int]] = []
"""Path and status of each request that the server refused."""


class _Streamed:
    """A streamed response."""

    def __iter__(self) -> Iterator[bytes]:
        return iter([PIECE] * PIECES)


def application(environ: dict[str, Any], start_response: StartResponse, /) -> Iterable[bytes]:
    """Answer with the environment, with a long stream, after a while, or not at all."""
    if environ["PATH_INFO"] == "/fault":
        raise RuntimeError("on purpose")
    if environ["PATH_INFO"] == "/slow":
        begun.append(True)
        time.sleep(1)
    if environ["PATH_INFO"] == "/stream":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return _Streamed()
    try:
        body = environ["wsgi.input"].read()
    except RequestEntityTooLarge:
        start_response("413 Too Large", [])
        return []
    start_response("200 OK", [("Content-Type", "application/json")])
    shown = {key: value for key, value in environ.items() if isinstance(value, str)}
    seen = {"begun": len(begun), "refused": refused}
    return [orjson.dumps({**shown, **seen, "body": body.decode()})]


def _note_refusal(environ: dict[str, Any], status: int) -> list[tuple[str, str]]:
    refused.append((environ["PATH_INFO"], status))
    return [("X-Refused", str(status))]


server = Server(
    application,
    BodyLimits(MOST, 2 * MOST),
    on_refusal=_note_refusal,
    deadlines=Deadlines(whole=6.0, silence=2.0),
)

buffered = BufferedServer(
    application,
    BodyLimits(MOST, 2 * MOST),
    on_refusal=_note_refusal,
    environment_names=environment_names(),
)
