"""Clients that send or read slowly hold up nobody else, with no proxy in front."""

import json
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from graphql import get_introspection_query

from tests.hostile.patient_server import HOUR, PATIENT_SERVER
from tests.servers.sandbox import PATIENCE
from tests.spec.server import Server, running

CLIENTS = 500
READERS = 20
"""More than the server has threads; their responses together have room in one's share."""
ME = b'{"query": "{ me { id } }"}'
LARGE = json.dumps({"query": get_introspection_query()}).encode()

pytestmark = [pytest.mark.first, pytest.mark.xdist_group("slow clients")]


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Iterator[Server]:
    """A server that never ends slow clients: who is answered isn't held up by them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4 * CLIENTS)), hard))
    folder = tmp_path_factory.mktemp("patient")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    url, settings = f"sqlite:///{copied}", {"RESPONSE_TIMEOUT": f"{HOUR:.0f}"}
    with running(folder, url, module=PATIENT_SERVER, **settings) as started:
        yield started
        assert not started.new_errors()


def test_silent_bodies_do_not_delay_others(patient: Server) -> None:
    with idle_connections(patient, post("/graphql/", length=100) + b"{"):
        assert_others_are_answered(patient)


def test_silent_chunked_bodies_do_not_delay_others(patient: Server) -> None:
    head = post("/graphql/", length=0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    with idle_connections(patient, head + b"5\r\n{"):
        assert_others_are_answered(patient)


def test_silent_forms_do_not_delay_others(patient: Server) -> None:
    with idle_connections(patient, post("/console/sign-in", length=100) + b"e"):
        assert_others_are_answered(patient)


def test_dripping_headers_do_not_delay_others(patient: Server) -> None:
    with idle_connections(
        patient, b"POST /graphql/ HTTP/1.1\r\nHost: shop\r\nX-Long: "
    ) as sockets:
        for connection in sockets:
            connection.sendall(b"a")
        assert_others_are_answered(patient)


def test_slow_readers_of_large_responses_do_not_delay_others(patient: Server) -> None:
    request = post("/graphql/", length=len(LARGE)) + LARGE
    with idle_connections(patient, request, receives=4096, count=READERS) as sockets:
        for connection in sockets:
            assert connection.recv(12) == b"HTTP/1.1 200"
        assert_others_are_answered(patient)


@contextmanager
def idle_connections(
    server: Server, sent: bytes, *, receives: int = 0, count: int = CLIENTS
) -> Iterator[list[socket.socket]]:
    """``count`` connections that have each sent that, and then neither send nor read."""
    with ExitStack() as stack:
        sockets = []
        for _ in range(count):
            one = stack.enter_context(socket.socket())
            if receives:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receives)
            one.settimeout(PATIENCE)
            one.connect(address(server))
            one.sendall(sent)
            sockets.append(one)
        yield sockets


def assert_others_are_answered(server: Server) -> None:
    assert_answered(server, "GET", "/.well-known/jwks.json")
    assert_answered(server, "POST", "/graphql/", ME)
    assert_answered(server, "GET", "/console/sign-in")


def assert_answered(server: Server, method: str, path: str, body: bytes | None = None) -> None:
    connection = connect(server)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
    assert drained(connection.getresponse()) == 200
    connection.close()


def post(path: str, *, length: int) -> bytes:
    kind = "application/json" if path == "/graphql/" else "application/x-www-form-urlencoded"
    lines = [f"POST {path} HTTP/1.1", "Host: shop", f"Content-Type: {kind}"]
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def connect(server: Server) -> HTTPConnection:
    return HTTPConnection(*address(server), timeout=PATIENCE)


def drained(response: HTTPResponse) -> int:
    response.read()
    return response.status


def address(server: Server) -> tuple[str, int]:
    parts = urlsplit(server.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
