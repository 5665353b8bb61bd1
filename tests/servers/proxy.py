"""An HTTP proxy (RFC 9110, 9.3.6 and RFC 9112, 3.2.2) that resolves every name to this machine."""

import base64
import select
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection
from urllib.parse import urlsplit

from tests.servers.listener import Listener, QuietHandler

_LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class Proxy:
    """A running proxy: what it was asked for, and the credentials that came along."""

    address: str
    targets: list[str] = field(default_factory=list)
    credentials: set[str] = field(default_factory=set)
    refuses: bool = False

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@contextmanager
def http_proxy() -> Iterator[Proxy]:
    """Run a proxy until the end of the block."""
    listening = _Listener((_LOOPBACK, 0), _Handler)
    listening.proxy = Proxy(f"{_LOOPBACK}:{listening.server_address[1]}")
    with listening.serving():
        yield listening.proxy


class _Listener(Listener):
    proxy: Proxy


class _Handler(QuietHandler):
    server: _Listener

    def do_CONNECT(self) -> None:  # noqa: N802 - the server's name for it
        if self._is_refused():
            return
        port = int(self.path.rpartition(":")[2])
        with socket.create_connection((_LOOPBACK, port)) as target:
            self.send_response(200)
            self.end_headers()
            _relay(self.connection, target)
        self.close_connection = True

    def do_POST(self) -> None:  # noqa: N802
        if self._is_refused():
            return
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with closing(HTTPConnection(_LOOPBACK, url.port or 80)) as connection:
            connection.request("POST", url.path, body, {"Host": self.headers["Host"]})
            response = connection.getresponse()
            content = response.read()
        self.send_response(response.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _is_refused(self) -> bool:
        self.server.proxy.targets.append(self.path)
        _, _, encoded = self.headers.get("Proxy-Authorization", "").partition(" ")
        self.server.proxy.credentials.add(base64.b64decode(encoded).decode())
        if self.server.proxy.refuses:
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()
        return self.server.proxy.refuses


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Pass on what either side sends until one of them ends."""
    ends = {one: other, other: one}
    with suppress(ConnectionError):
        while True:
            for ready in select.select([one, other], [], [])[0]:
                data = ready.recv(65536)
                if not data:
                    return
                ends[ready].sendall(data)
