"""A test HTTP server on a free port with configurable responses."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from typing_extensions import override

from tests.servers.listener import Listener, QuietHandler


@dataclass(frozen=True, slots=True)
class Received:
    """A received request; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. ``raw`` writes to the connection itself instead."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    raw: Callable[[socket.socket], None] | None = None


Answering = Callable[[Received], Reply]


@dataclass(slots=True)
class HttpServer:
    """A running server: ``routes`` are by path without the query; other paths are 404."""

    url: str
    routes: dict[str, Answering] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)

    def answer(self, path: str, reply: Reply) -> str:
        """Respond to ``path`` with ``reply`` every time; return its URL."""
        self.routes[path] = lambda _received: reply
        return f"{self.url}{path}"

    def calls(self, path: str) -> list[Received]:
        """Return the requests received at ``path``."""
        return [request for request in self.received if request.path.partition("?")[0] == path]


@contextmanager
def http_server(
    tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> Iterator[HttpServer]:
    """Run a server on ``host`` until the end of the block."""
    listening = _Listener((host, 0), _Handler)
    if tls is not None:
        listening.socket = tls.wrap_socket(listening.socket, server_side=True)
    name = f"[{host}]" if ":" in host else host
    scheme = "http" if tls is None else "https"
    listening.server = HttpServer(f"{scheme}://{name}:{listening.server_address[1]}")
    with listening.serving():
        yield listening.server


class _Listener(Listener):
    server: HttpServer

    @override
    def server_bind(self) -> None:
        if ":" in str(self.server_address[0]):
            self.socket.close()
            self.socket = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        super().server_bind()

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, as some tests do on purpose."""


class _Handler(QuietHandler):
    wbufsize = -1  # one packet per response
    server: _Listener

    def _respond(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        received = Received(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length),
        )
        server = self.server.server
        server.received.append(received)
        answering = server.routes.get(self.path.partition("?")[0])
        self._send(Reply(404) if answering is None else answering(received))

    do_GET = do_POST = do_PUT = do_DELETE = _respond  # noqa: N815 - the server's names for them

    def _send(self, reply: Reply) -> None:
        if reply.raw is not None:
            self.close_connection = True
            reply.raw(self.connection)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
