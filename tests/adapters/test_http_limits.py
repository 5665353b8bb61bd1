"""How long a call to somebody else's server must not take, and what it must not swallow."""

import socket
import time
from collections.abc import Callable

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.ports.http import CallFailed, CallFault, HttpRequest, json_members
from tests.adapters.http_calls import fault_of
from tests.fixtures.cases import cases
from tests.servers.http import HttpServer, Reply

PATIENCE = 0.5
"""Seconds that a call may take where a test is about one that takes too long."""


def test_body_of_maximum_size_is_read_and_a_larger_one_refused(
    local: GuardedHttp, server: HttpServer
) -> None:
    url = server.answer("/", Reply(200, b"x" * 1000))
    assert len(local.send(HttpRequest(url, max_size=1000)).body) == 1000
    assert fault_of(local, HttpRequest(url, max_size=999)) is CallFault.TOO_LARGE


def test_endless_body_is_cut(local: GuardedHttp, server: HttpServer) -> None:
    url = server.answer("/", Reply(raw=_endless))
    assert fault_of(local, HttpRequest(url, max_size=100_000)) is CallFault.TOO_LARGE


def test_body_is_cut_or_omitted_when_only_the_status_counts(
    local: GuardedHttp, server: HttpServer
) -> None:
    long = HttpRequest(
        server.answer("/long", Reply(200, b"x" * 200_000)), max_size=1000, status_suffices=True
    )
    cut = local.send(long)
    assert (cut.status, cut.body) == (200, b"x" * 1000)
    packed = Reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})
    response = local.send(HttpRequest(server.answer("/packed", packed), status_suffices=True))
    assert (response.status, response.body, response.headers["content-encoding"]) == (
        200,
        b"",
        "gzip",
    )


def test_unrequested_compression_is_not_decoded(local: GuardedHttp, server: HttpServer) -> None:
    url = server.answer("/", Reply(200, b"\x1f\x8b", {"Content-Encoding": "gzip"}))
    assert fault_of(local, HttpRequest(url)) is CallFault.MALFORMED
    assert server.received[0].headers["accept-encoding"] == "identity"


def _endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")


def _trickle(beginning: bytes, piece: bytes) -> Callable[[socket.socket], None]:
    def send(connection: socket.socket) -> None:
        connection.sendall(beginning)
        while True:
            connection.sendall(piece)
            time.sleep(0.02)

    return send


@pytest.mark.parametrize(
    "slow",
    [
        lambda connection: connection.recv(1),
        _trickle(b"", b"H"),
        _trickle(b"HTTP/1.1 200 OK\r\n", b"X-More: yes\r\n"),
        _trickle(b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
        _trickle(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        _trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x"),
        _trickle(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        _trickle(b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    ],
    ids=["silence", "status", "headers", "header", "continue", "body", "chunks", "until it ends"],
)
def test_call_ends_at_its_deadline_during_a_slow_response(
    local: GuardedHttp, server: HttpServer, slow: Callable[[socket.socket], None]
) -> None:
    url = server.answer("/", Reply(raw=slow))
    began = time.monotonic()
    # Without its deadline it wouldn't end.
    assert fault_of(local, HttpRequest(url, timeout=PATIENCE)) is CallFault.TIMEOUT
    assert time.monotonic() - began >= PATIENCE * 0.5


def test_call_ends_at_its_deadline_while_the_server_reads_nothing(local: GuardedHttp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        request = HttpRequest(url, "POST", body=b"x" * 20_000_000, timeout=PATIENCE)
        assert fault_of(local, request) is CallFault.TIMEOUT


@cases(
    "nonsense",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.7\r\n",
        b"HTTP/1.1 twohundred OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_non_http_server_is_reported(
    local: GuardedHttp, server: HttpServer, nonsense: bytes
) -> None:
    url = server.answer("/", Reply(raw=lambda connection: connection.sendall(nonsense)))
    assert fault_of(local, HttpRequest(url)) in (CallFault.MALFORMED, CallFault.INTERRUPTED)


@cases("body", [b"", b"[]", b"<html>", b'{"a": 1, "a": 2}', b"\xff", b"NaN"])
def test_non_json_response_is_reported(
    local: GuardedHttp, server: HttpServer, body: bytes
) -> None:
    response = local.send(HttpRequest(server.answer("/", Reply(200, body))))
    with pytest.raises(CallFailed) as failed:
        json_members(response, "The key set")
    assert failed.value.fault is CallFault.MALFORMED


def test_error_status_is_not_read_as_json(local: GuardedHttp, server: HttpServer) -> None:
    response = local.send(HttpRequest(server.answer("/", Reply(500, b"{}"))))
    with pytest.raises(CallFailed, match="HTTP 500") as failed:
        json_members(response, "The key set")
    assert failed.value.fault is CallFault.STATUS
