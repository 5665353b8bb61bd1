"""Clients that send or read slowly hold up nobody else, with no proxy in front."""

import json
import resource
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from graphql import get_introspection_query

from tests.hostile.cpu import busyness
from tests.spec.server import Server, running

CLIENTS = 500
SECONDS = 1.0
"""Within which everybody else must be answered, on a free machine as fast as the reference."""

DEADLINE = 5.0
"""Seconds after which a silent body is refused, and gives back what it has."""

WHOLE = b'{"query": "{ shop { name } }"}'
ME = b'{"query": "{ me { id } }"}'
LARGE = json.dumps({"query": get_introspection_query()}).encode()

pytestmark = pytest.mark.xdist_group("slow clients")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Iterator[Server]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * CLIENTS)), hard))
    folder = tmp_path_factory.mktemp("slow")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    with running(folder, f"sqlite:///{copied}") as started:
        yield started
        assert not started.new_errors()


def test_silent_bodies_do_not_delay_others(server: Server) -> None:
    with idle_connections(server, post("/graphql/", length=100) + b"{"):
        assert slowest_answer(server) < allowed()


def test_silent_chunked_bodies_do_not_delay_others(server: Server) -> None:
    head = post("/graphql/", length=0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    with idle_connections(server, head + b"5\r\n{"):
        assert slowest_answer(server) < allowed()


def test_silent_forms_do_not_delay_others(server: Server) -> None:
    with idle_connections(server, post("/console/sign-in", length=100) + b"e"):
        assert slowest_answer(server) < allowed()


def test_dripping_headers_do_not_delay_others(server: Server) -> None:
    with idle_connections(server, b"POST /graphql/ HTTP/1.1\r\nHost: shop\r\nX-Long: ") as sockets:
        for connection in sockets:
            connection.sendall(b"a")
        assert slowest_answer(server) < allowed()


def test_slow_readers_of_large_responses_do_not_delay_others(server: Server) -> None:
    request = post("/graphql/", length=len(LARGE)) + LARGE
    with idle_connections(server, request, receives=4096) as sockets:
        for connection in sockets:
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert slowest_answer(server) < allowed()


def test_deadlines_end_silent_bodies_only(server: Server) -> None:
    with ThreadPoolExecutor() as pool:
        silent = pool.submit(until_the_end, server, post("/graphql/", length=100) + b"{")
        steady = pool.submit(send_steadily, server, WHOLE, seconds=7.0)
    response, took = silent.result()
    assert response.startswith(b"HTTP/1.1 408 ")
    assert DEADLINE - 1 < took < 2 * DEADLINE
    assert steady.result().endswith(b'{"data":{"shop":{"name":"Latchkey shop"}}}')


EARLY: dict[str, Callable[[], tuple[str, dict[str, str], bytes]]] = {
    "413": lambda: ("/graphql/", {"Content-Type": "application/json"}, b" " * 1_200_000),
    "413 form": lambda: ("/console/sign-in", {}, b"a" * 6_000_000),
    "415": lambda: ("/graphql/", {"Content-Type": "text/plain"}, b"x" * 300_000),
    "404": lambda: ("/nothing", {"Content-Type": "application/json"}, b"x" * 300_000),
    "405": lambda: ("/.well-known/jwks.json", {}, b"x" * 300_000),
}


@pytest.mark.parametrize("status", EARLY)
def test_request_after_an_early_answer_succeeds(server: Server, status: str) -> None:
    path, headers, body = EARLY[status]()
    connection = connect(server)
    for _ in range(15):
        connection.request("POST", path, body, headers)
        assert drained(connection.getresponse()) == int(status[:3])
        connection.request("POST", "/graphql/", ME, {"Content-Type": "application/json"})
        assert drained(connection.getresponse()) == 200
    connection.close()


def test_too_large_a_body_in_chunks_is_answered_before_the_connection_closes(
    server: Server,
) -> None:
    connection = connect(server)
    for _ in range(5):
        chunks = (b" " * 65536 for _ in range(40))
        headers = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        connection.request("POST", "/graphql/", chunks, headers, encode_chunked=True)
        assert drained(connection.getresponse()) == 413
    connection.close()


def test_large_body_without_credential_is_not_kept(server: Server) -> None:
    connection = connect(server)
    connection.request("POST", "/nothing", b"x" * 3_000_000)
    response = connection.getresponse()
    assert response.status == 404
    assert response.headers["Connection"] == "close"
    connection.close()


@contextmanager
def idle_connections(
    server: Server, sent: bytes, *, receives: int = 0
) -> Iterator[list[socket.socket]]:
    """``CLIENTS`` connections that have each sent that, and then neither send nor read."""
    with ExitStack() as stack:
        sockets = []
        for _ in range(CLIENTS):
            one = stack.enter_context(socket.socket())
            if receives:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
            one.settimeout(30)
            one.connect(address(server))
            one.sendall(sent)
            sockets.append(one)
        yield sockets


def allowed() -> float:
    """Return ``SECONDS`` scaled by how slow and busy the machine is, below the deadline."""
    return min(SECONDS * busyness(), 0.8 * DEADLINE)


def slowest_answer(server: Server) -> float:
    """Seconds that the slowest of key set, ``me`` and sign-in page takes."""
    return max(
        seconds(server, "GET", "/.well-known/jwks.json"),
        seconds(server, "POST", "/graphql/", ME),
        seconds(server, "GET", "/console/sign-in"),
    )


def seconds(server: Server, method: str, path: str, body: bytes | None = None) -> float:
    began = time.perf_counter()
    connection = HTTPConnection(*address(server), timeout=10)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    assert drained(connection.getresponse()) == 200
    connection.close()
    return time.perf_counter() - began


def send_steadily(server: Server, body: bytes, *, seconds: float) -> bytes:
    with socket.create_connection(address(server), timeout=30) as wire:
        wire.sendall(post("/graphql/", length=len(body), last=True))
        for place in range(len(body)):
            time.sleep(seconds / len(body))
            wire.sendall(body[place : place + 1])
        return received(wire)


def until_the_end(server: Server, sent: bytes) -> tuple[bytes, float]:
    """What comes back until the server closes the connection, and after how many seconds."""
    began = time.perf_counter()
    with socket.create_connection(address(server), timeout=30) as wire:
        wire.sendall(sent)
        return received(wire), time.perf_counter() - began


def received(wire: socket.socket) -> bytes:
    return b"".join(iter(lambda: wire.recv(65536), b""))


def post(path: str, *, length: int, last: bool = False) -> bytes:
    kind = "application/json" if path == "/graphql/" else "application/x-www-form-urlencoded"
    lines = [f"POST {path} HTTP/1.1", "Host: shop", f"Content-Type: {kind}"]
    lines += [f"Content-Length: {length}", *(["Connection: close"] if last else [])]
    return "\r\n".join([*lines, "", ""]).encode()


def connect(server: Server) -> HTTPConnection:
    return HTTPConnection(*address(server), timeout=30)


def drained(response: HTTPResponse) -> int:
    response.read()
    return response.status


def address(server: Server) -> tuple[str, int]:
    parts = urlsplit(server.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
