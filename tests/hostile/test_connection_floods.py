"""A client that opens connections and reads nothing takes neither others' places nor the disk."""

import json
import os
import select
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from graphql import get_introspection_query

from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE
from tests.spec.server import Server, running

PER_CLIENT = 10
ATTACKER, OTHER, PROXY = "127.0.0.2", "127.0.0.3", "127.0.0.4"
BODY = json.dumps({"query": get_introspection_query()}).encode()
INTROSPECTION = (
    b"POST /graphql/ HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n"
    + f"Content-Length: {len(BODY)}\r\n\r\n".encode()
    + BODY
)
FILE = "vendor/graphiql/graphiql.min.js"
STATIC = f"GET /static/{FILE} HTTP/1.1\r\nHost: shop\r\n".encode()

pytestmark = pytest.mark.xdist_group("slow clients")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path, temporary: Path
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("floods")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    settings = {
        "CONNECTIONS_PER_CLIENT": str(PER_CLIENT),
        "RESPONSE_TIMEOUT": "2",
        "TRUSTED_PROXIES": f"{PROXY}/32",
        "TMPDIR": str(temporary),
    }
    with running(folder, f"sqlite:///{copied}", **settings) as started:
        yield started
        assert not started.new_errors()


@contextmanager
def unread(server: Server, count: int, address: str, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have each sent that, and read nothing."""
    with ExitStack() as stack:
        sockets = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(PATIENCE)
            one.bind((address, 0))
            one.connect(place_of(server))
            if sent:
                one.sendall(sent)
            sockets.append(one)
        yield sockets


def wait_until_closed(sockets: list[socket.socket], count: int) -> None:
    """Wait until so many were closed from the other side."""
    poll = select.poll()
    for one in sockets:
        poll.register(one, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
    closed: set[int] = set()
    while len(closed) < count:
        events = poll.poll(1000 * PATIENCE)
        assert events, f"{len(closed)} of {count} were closed"
        for fd, _ in events:
            poll.unregister(fd)
            closed.add(fd)


def get(server: Server, path: str, address: str) -> bytes:
    connection = HTTPConnection(*place_of(server), timeout=PATIENCE, source_address=(address, 0))
    connection.request("GET", path)
    response = connection.getresponse()
    body = response.read()
    assert response.status == 200
    connection.close()
    return body


def place_of(server: Server) -> tuple[str, int]:
    parts = urlsplit(server.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


@pytest.mark.first
def test_connections_beyond_a_clients_number_are_closed(server: Server) -> None:
    with unread(server, 3 * PER_CLIENT, ATTACKER, b"") as sockets:
        wait_until_closed(sockets, 2 * PER_CLIENT)
        assert get(server, "/.well-known/jwks.json", OTHER)


@pytest.mark.first
def test_clients_that_read_nothing_are_dropped(server: Server) -> None:
    with unread(server, PER_CLIENT, ATTACKER, INTROSPECTION) as sockets:
        assert get(server, "/.well-known/jwks.json", OTHER)
        wait_until_closed(sockets, PER_CLIENT)


@pytest.mark.first
def test_connections_of_a_trusted_proxy_stay(server: Server) -> None:
    with unread(server, 2 * PER_CLIENT, PROXY, b"") as sockets:
        with unread(server, 2 * PER_CLIENT, ATTACKER, b"") as attackers:
            wait_until_closed(attackers, PER_CLIENT)
        for one in sockets:
            one.sendall(b"GET /.well-known/jwks.json HTTP/1.1\r\nHost: shop\r\n\r\n")
            assert one.recv(12) == b"HTTP/1.1 200"


@pytest.mark.first
@pytest.mark.parametrize("header", [b"", b"Range: bytes=0-\r\n"])
def test_static_files_are_sent_from_where_they_are(
    server: Server, temporary: Path, header: bytes
) -> None:
    with unread(server, PER_CLIENT, ATTACKER, STATIC + header + b"\r\n") as sockets:
        for one in sockets:
            assert one.recv(12) == b"HTTP/1.1 200"
        assert [name for name in opened_files(server.process.pid) if str(temporary) in name] == []
    assert get(server, f"/static/{FILE}", OTHER) == (ROOT / "app/static" / FILE).read_bytes()


def opened_files(pid: int) -> Iterator[str]:
    """Yield the files that a process and those below it have open, deleted ones too."""
    folder = Path(f"/proc/{pid}")
    for fd in (folder / "fd").iterdir():
        try:
            yield os.readlink(fd)  # noqa: PTH115 - of a file that is gone
        except OSError:
            continue
    for child in (folder / "task" / str(pid) / "children").read_text().split():
        yield from opened_files(int(child))
