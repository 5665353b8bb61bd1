"""The WSGI application behind granian, for real."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.servers.free_ports import free_port
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE
from tests.web.sample_app import MOST, PIECE, PIECES, WHOLE


@contextmanager
def serving() -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """The port of the toy, and its process, which ends with 0 when it is told to."""
    free = free_port()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "granian", "--interface", "rsgi", "--loop", "asyncio"),
            *("--http", "1", "--no-ws", "--host", "127.0.0.1", "--port", str(free)),
            *("--log-level", "error", "tests.web.sample_app:server"),
        ],
        cwd=ROOT,
    )
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", free)).close()
            break
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    try:
        yield free, process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as (free, _process):
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


def test_header_with_an_underscore_cannot_pass_for_another(port: int) -> None:
    found = environ(port, request("X-Forwarded-For: 192.0.2.1", "X_Forwarded_For: 192.0.2.2"))
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


def test_many_tiny_chunks_are_refused(port: int) -> None:
    head, _, body = exchange(port, chunks(2_100)).partition(b"\r\n\r\n")
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


def test_dripping_body_ends_at_its_total_deadline(port: int) -> None:
    head = request("Content-Length: 100", line="POST / HTTP/1.1")
    began = time.monotonic()
    assert exchange(port, head, *[b"x"] * 30, pause=0.3).startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began > WHOLE - 1


def test_silent_body_ends_at_its_idle_deadline(port: int) -> None:
    head = request("Content-Length: 100", line="POST / HTTP/1.1")
    began = time.monotonic()
    assert exchange(port, head + b"x").startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - began < WHOLE


def test_refusal_is_reported(port: int) -> None:
    head = request("Content-Length: 100", line="POST /silent HTTP/1.1")
    refusal = exchange(port, head)
    assert refusal.startswith(b"HTTP/1.1 408 ")
    assert b"x-refused: 408" in refusal.lower()
    forwarded = request("X-Forwarded-For: é", line="POST /forwarded HTTP/1.1")
    assert exchange(port, forwarded).startswith(b"HTTP/1.1 400 ")
    refused = environ(port, request())["refused"]
    assert [entry for entry in refused if entry[0] != "/"] == [
        ["/silent", 408],
        ["/forwarded", 400],
    ]


@pytest.mark.parametrize(
    ("headers", "status"),
    [([], 413), (["Authorization: Bearer x"], 200), (["Cookie: a=b"], 200)],
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


def test_slow_readers_of_a_stream_block_no_thread(port: int) -> None:
    readers = [HTTPConnection("127.0.0.1", port, timeout=PATIENCE) for _ in range(20)]
    for reader in readers:
        reader.request("GET", "/stream")
        assert reader.getresponse().status == 200
    assert environ(port, request())["body"] == ""
    for reader in readers:
        reader.close()


def test_application_error_is_500_and_ends_no_thread(port: int) -> None:
    for _ in range(20):
        assert exchange(port, request(line="GET /fault HTTP/1.1")).startswith(b"HTTP/1.1 500 ")
    assert environ(port, request())["body"] == ""


def test_running_request_is_answered_during_shutdown() -> None:
    with serving() as (own_port, process):
        connection = HTTPConnection("127.0.0.1", own_port, timeout=PATIENCE)
        connection.request("GET", "/slow")
        while not environ(own_port, request())["begun"]:
            pass
        process.send_signal(signal.SIGTERM)
        assert connection.getresponse().status == 200
        connection.close()
