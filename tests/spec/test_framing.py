"""Contract, part 2: "HTTP", as it holds for bodies that arrive in unusual ways."""

import socket
from urllib.parse import urlsplit

import pytest

from tests.spec.client import JSON, Client

pytestmark = pytest.mark.xdist_group("spec")

BODY = b'{"query": "{ __typename }"}'
ANSWER = b'{"data":{"__typename":"Query"}}'
_SECONDS = 180


def test_body_in_one_byte_chunks_is_accepted(client: Client) -> None:
    response = client.http.post(
        f"{client.server.url}/graphql/",
        data=(bytes([byte]) for byte in BODY),
        headers=JSON,
        timeout=_SECONDS,
    )
    assert response.request.headers["Transfer-Encoding"] == "chunked"
    assert (response.status_code, response.content) == (200, ANSWER)


def test_body_in_chunks_is_limited_too(client: Client) -> None:
    response = client.http.post(
        f"{client.server.url}/graphql/",
        data=(b" " * 64 * 1024 for _ in range(17)),
        headers=JSON,
        timeout=_SECONDS,
    )
    assert response.status_code == 413


def test_requests_in_a_row_are_answered_in_their_order(client: Client) -> None:
    other = b'{"query": "{ two: __typename }"}'
    first, second = _request(BODY), _request(other, "Connection: close")
    answers = _exchange(client, first + second)
    assert answers.index(ANSWER) < answers.index(b'{"data":{"two":"Query"}}')


def test_client_of_http_1_0_is_answered(client: Client) -> None:
    response = _exchange(client, _request(BODY).replace(b"HTTP/1.1", b"HTTP/1.0"))
    assert response.startswith(b"HTTP/1.0 200 ")
    assert response.endswith(ANSWER)


def test_truncated_body_is_400(client: Client) -> None:
    response = _exchange(client, _request(BODY, "Connection: close")[:-5], is_all=True)
    assert response.startswith(b"HTTP/1.1 400 ")
    assert b"errors" in response


@pytest.mark.parametrize("length", ["-1", "ten", "1" * 30, "3\r\nContent-Length: 4"])
def test_invalid_content_length_is_400(client: Client, length: str) -> None:
    head = f"POST /graphql/ HTTP/1.1\r\nHost: shop\r\nContent-Length: {length}\r\n\r\n"
    assert _exchange(client, head.encode()).startswith(b"HTTP/1.1 400 ")


def test_content_length_over_the_limit_is_413_before_the_body(client: Client) -> None:
    head = _request(b"", "Connection: close").replace(b"Length: 0", b"Length: 999999999999")
    with _connect(client) as wire:
        wire.sendall(head)
        assert wire.recv(13) == b"HTTP/1.1 413 "


def _request(body: bytes, *headers: str) -> bytes:
    lines = [
        "POST /graphql/ HTTP/1.1",
        "Host: shop",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _exchange(client: Client, sent: bytes, *, is_all: bool = False) -> bytes:
    """Everything that comes back; ``is_all`` tells the server that nothing will follow."""
    received = b""
    with _connect(client) as wire:
        wire.sendall(sent)
        if is_all:
            wire.shutdown(socket.SHUT_WR)
        while chunk := wire.recv(65536):
            received += chunk
    return received


def _connect(client: Client) -> socket.socket:
    parts = urlsplit(client.server.url)
    return socket.create_connection((parts.hostname, parts.port), timeout=_SECONDS)
