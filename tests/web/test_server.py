"""The WSGI application behind granian, for real."""

import json
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.servers.forked_commands import ForkedCommand, start_command
from tests.servers.free_ports import free_port
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE
from tests.web.sample_app import MOST, PIECE, PIECES

pytestmark = pytest.mark.first

KINDS = {"server": "rsgi", "buffered": "wsgi"}
"""The names of the sample application's servers, and the interface of granian that each has."""


@contextmanager
def serving(folder: Path, kind: str = "server") -> Iterator[tuple[int, ForkedCommand]]:
    """The port of the toy, and its process, which ends with 0 when it is told to."""
    free = free_port()
    arguments = (
        *("--interface", KINDS[kind], "--loop", "asyncio"),
        *("--http", "1", "--no-ws", "--host", "127.0.0.1", "--port", str(free)),
        *("--log-level", "error", f"tests.web.sample_app:{kind}"),
        *(("--blocking-threads", "16") if kind == "buffered" else ()),
    )
    process = start_command(
        arguments, ROOT, {"PATH": os.defpath}, folder / "granian.log", module="granian"
    )
    try:
        wait_until_open(process, free)
        yield free, process
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()


def wait_until_open(process: ForkedCommand, port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_open(port):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_open(port: int) -> bool:
    with socket.socket() as wire:
        return wire.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def bare_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Where clients connect without a proxy in between, however slow they are."""
    with serving(tmp_path_factory.mktemp("bare")) as (free, _process):
        yield free


@pytest.fixture(scope="module", params=KINDS)
def port(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, bare_port: int
) -> Iterator[int]:
    if request.param == "server":
        yield bare_port
        return
    with serving(tmp_path_factory.mktemp("buffered"), request.param) as (free, _process):
        yield free


def environ(port: int, sent: bytes) -> dict[str, Any]:
    head, _, body = exchange(port, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    found: dict[str, Any] = json.loads(body)
    return found


def exchange(port: int, *pieces: bytes, pause: float = 0.0) -> bytes:
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        try:
            for piece in pieces:
                wire.sendall(piece)
                time.sleep(pause)
        except OSError:
            pass  # it has been closed; what it said before is still there
        while chunk := wire.recv(65536):
            received += chunk
    return received


def request(*headers: str, line: str = "GET / HTTP/1.1") -> bytes:
    return "\r\n".join([line, "Host: shop:81", *headers, "Connection: close", "", ""]).encode()


def test_request_becomes_an_environment(port: int) -> None:
    line = "POST /a%20b/%C3%A9?q=%20 HTTP/1.1"
    found = environ(port, request("Content-Length: 2", "Content-Type: a/b", line=line) + b"ok")
    assert found["REQUEST_METHOD"] == "POST"
    assert found["PATH_INFO"].encode("latin1").decode() == "/a b/é"
    assert found["QUERY_STRING"] == "q=%20"
    assert found["HTTP_HOST"] == "shop:81"
    assert (found["CONTENT_TYPE"], found["CONTENT_LENGTH"]) == ("a/b", "2")
    assert (found["REMOTE_ADDR"], found["SERVER_PORT"]) == ("127.0.0.1", str(port))
    assert (found["SERVER_PROTOCOL"], found["wsgi.url_scheme"]) == ("HTTP/1.1", "http")
    assert found["body"] == "ok"


def test_process_environment_is_not_exposed(port: int) -> None:
    assert "PATH" not in environ(port, request())


def test_repeated_headers_are_joined(port: int) -> None:
    found = environ(port, request("X-A: 1", "X-A: 2", "Cookie: a=1", "Cookie: b=2"))
    assert found["HTTP_X_A"] == "1,2"
    assert found["HTTP_COOKIE"] == "a=1;b=2"


def test_header_with_an_underscore_cannot_pass_for_another(bare_port: int) -> None:
    """In front of ``BufferedServer`` the proxy drops such headers, as nginx does by itself."""
    found = environ(bare_port, request("X-Forwarded-For: 192.0.2.1", "X_Forwarded_For: 192.0.2.2"))
    assert found["HTTP_X_FORWARDED_FOR"] == "192.0.2.1"


def test_chunked_body_has_a_length(port: int) -> None:
    sent = request("Transfer-Encoding: chunked", line="POST / HTTP/1.1")
    found = environ(port, sent + b"2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n")
    assert (found["body"], found["CONTENT_LENGTH"]) == ("abcde", "5")
    assert "HTTP_TRANSFER_ENCODING" not in found


def chunks(count: int, size: int = 1) -> bytes:
    chunk = f"{size:x}\r\n".encode() + b"x" * size + b"\r\n"
    head = request("Transfer-Encoding: chunked", line="POST / HTTP/1.1")
    return head + chunk * count + b"0\r\n\r\n"


def test_many_tiny_chunks_are_refused(bare_port: int) -> None:
    head, _, body = exchange(bare_port, chunks(2_100)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["errors"][0]["message"] == (
        "The request body has too many small chunks. Send chunks of 4 KiB or more."
    )


@pytest.mark.parametrize(("count", "size"), [(1_900, 1), (200, 500), (24, 4096)])
def test_body_in_ordinary_chunks_is_read(port: int, count: int, size: int) -> None:
    assert len(environ(port, chunks(count, size))["body"]) == count * size


def test_body_of_known_length_is_read_in_however_small_pieces(port: int) -> None:
    head = request("Content-Length: 60", line="POST / HTTP/1.1")
    received = exchange(port, head, *[b"x"] * 60, pause=0.01)
    assert json.loads(received.partition(b"\r\n\r\n")[2])["body"] == "x" * 60


def test_dripping_body_is_refused(bare_port: int) -> None:
    """``test_request_bodies`` has when, and when a silent one is."""
    head = request("Content-Length: 10000", line="POST / HTTP/1.1")
    with socket.create_connection(("127.0.0.1", bare_port), timeout=PATIENCE) as wire:
        wire.sendall(head)
        while not select.select([wire], [], [], 0.3)[0]:
            wire.sendall(b"x")
        assert wire.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_silent_body_is_refused(bare_port: int) -> None:
    head = request("Content-Length: 100", line="POST / HTTP/1.1")
    assert exchange(bare_port, head + b"x").startswith(b"HTTP/1.1 408 ")


def test_refusal_is_reported(port: int) -> None:
    forwarded = request("X-Forwarded-For: é", line="POST /forwarded HTTP/1.1")
    refusal = exchange(port, forwarded)
    assert refusal.startswith(b"HTTP/1.1 400 ")
    assert b"x-refused: 400" in refusal.lower()
    refused = environ(port, request())["refused"]
    assert ["/forwarded", 400] in refused


def test_silent_body_is_reported(bare_port: int) -> None:
    head = request("Content-Length: 100", line="POST /silent HTTP/1.1")
    refusal = exchange(bare_port, head)
    assert refusal.startswith(b"HTTP/1.1 408 ")
    assert b"x-refused: 408" in refusal.lower()
    assert ["/silent", 408] in environ(bare_port, request())["refused"]


def test_body_that_ends_early_is_refused(port: int) -> None:
    head = request("Content-Length: 100", line="POST /half HTTP/1.1")
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as wire:
        wire.sendall(head + b"half")
        wire.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := wire.recv(65536):
            received += chunk
    assert not received.startswith(b"HTTP/1.1 200 ")


def test_body_over_the_limit_is_refused_without_its_announced_length(port: int) -> None:
    assert exchange(port, chunks(30, 4096)).startswith(b"HTTP/1.1 413 ")
    assert len(environ(port, chunks(24, 4096))["body"]) == 24 * 4096


@pytest.mark.parametrize(
    ("headers", "status"), [([], 413), (["Authorization: Bearer x"], 200), (["Cookie: a=b"], 200)]
)
def test_larger_bodies_need_a_credential(port: int, headers: list[str], status: int) -> None:
    body = b"x" * (MOST + 1)
    sent = request(f"Content-Length: {len(body)}", *headers, line="POST / HTTP/1.1") + body
    assert exchange(port, sent).startswith(f"HTTP/1.1 {status} ".encode())


def test_long_response_arrives_complete(port: int) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/stream")
    assert connection.getresponse().read() == PIECE * PIECES
    connection.close()


def test_slow_readers_of_a_stream_block_no_thread(bare_port: int) -> None:
    readers = [HTTPConnection("127.0.0.1", bare_port, timeout=PATIENCE) for _ in range(20)]
    for reader in readers:
        reader.request("GET", "/stream")
        assert reader.getresponse().status == 200
    assert environ(bare_port, request())["body"] == ""
    for reader in readers:
        reader.close()


def test_application_error_is_500_and_ends_no_thread(port: int) -> None:
    for _ in range(20):
        assert exchange(port, request(line="GET /fault HTTP/1.1")).startswith(b"HTTP/1.1 500 ")
    assert environ(port, request())["body"] == ""


@pytest.mark.parametrize("kind", KINDS)
def test_running_request_is_answered_during_shutdown(tmp_path: Path, kind: str) -> None:
    with serving(tmp_path, kind) as (own_port, process):
        connection = HTTPConnection("127.0.0.1", own_port, timeout=PATIENCE)
        connection.request("GET", "/slow")
        while not environ(own_port, request())["begun"]:
            pass
        process.send_signal(signal.SIGTERM)
        assert connection.getresponse().status == 200
        connection.close()
