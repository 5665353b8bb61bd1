"""A request as granian hands it over (RSGI), and the same as WSGI wants it."""

import sys
from collections.abc import Awaitable
from functools import lru_cache
from io import BytesIO
from typing import Any, Protocol

from app.web.response_bodies import SentFile


class Headers(Protocol):
    """The headers of a request; names in lower case, values that are not ASCII left out."""

    def __contains__(self, name: str, /) -> bool: ...
    def get(self, name: str, /) -> str | None: ...
    def items(self) -> list[tuple[str, str]]: ...


class Scope(Protocol):
    """A request without its body (RSGI)."""

    http_version: str
    client: str
    server: str
    scheme: str
    method: str
    path: str
    query_string: str
    headers: Headers


class Transport(Protocol):
    """Where an answer goes bit by bit (RSGI); waits while the client doesn't read."""

    def send_bytes(self, data: bytes) -> Awaitable[None]: ...


class Exchange(Protocol):
    """A request's body, chunk by chunk, and where its answer goes (RSGI); safe in any thread."""

    def __aiter__(self) -> "Exchange": ...
    def __anext__(self) -> Any: ...
    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None: ...
    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Transport": ...
    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None: ...


def environ_of(scope: Scope, body: object) -> dict[str, Any]:
    """The request as PEP 3333 wants it."""
    environ = _COMMON.copy()
    for name, value in scope.headers.items():
        key = _environ_name(name)
        if key in environ:
            joint = ";" if key == "HTTP_COOKIE" else ","
            environ[key] = f"{environ[key]}{joint}{value}"
        elif key:
            environ[key] = value
    if environ.pop("HTTP_TRANSFER_ENCODING", None) and isinstance(body, BytesIO):
        environ["CONTENT_LENGTH"] = str(body.getbuffer().nbytes)
    server, _, environ["SERVER_PORT"] = scope.server.rpartition(":")
    environ["SERVER_NAME"] = server.strip("[]")
    environ["REMOTE_ADDR"] = scope.client.rpartition(":")[0].strip("[]")
    environ["SERVER_PROTOCOL"] = f"HTTP/{scope.http_version}"
    environ["REQUEST_METHOD"] = scope.method
    environ["PATH_INFO"] = _as_latin1(scope.path)
    environ["QUERY_STRING"] = _as_latin1(scope.query_string)
    environ["wsgi.url_scheme"] = scope.scheme
    environ["wsgi.input"] = body
    return environ


_COMMON: dict[str, Any] = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.file_wrapper": SentFile,
    "wsgi.input_terminated": True,  # werkzeug's word for an input that ends where the body does
}


def _as_latin1(text: str) -> str:
    """Return the bytes of ``text`` in the form that PEP 3333 gives them."""
    return text if text.isascii() else text.encode().decode("latin1")


@lru_cache(maxsize=512)
def _environ_name(name: str) -> str:
    """Return the WSGI key of a header; empty for a name with an underscore, which is ambiguous."""
    if "_" in name:
        return ""
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"
