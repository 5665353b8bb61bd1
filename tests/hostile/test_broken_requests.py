"""Requests that break off or can't be read are refused, and never taken for others."""

import re
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import pytest
import requests

from tests.hostile.test_slow_clients import ME, address, connect, drained, post
from tests.spec.server import Server, running

CLIENT = "203.0.113.7"
JSON = {"Content-Type": "application/json"}
SIGN_IN = '{"query": "mutation { tokenCreate(email: \\"a@b.c\\", password: \\"x\\") { token } }"}'
QUERIES = (
    *("é".encode(), "ż".encode(), "😀=✓".encode()),
    *(b"\xc2\x85", b"\xff", b"\xe9", b"%ff=%00"),
)

pytestmark = [pytest.mark.xdist_group("broken requests"), pytest.mark.first]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("broken")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    with running(folder, f"sqlite:///{copied}") as started:
        yield started
        assert not started.new_errors()


def test_truncated_form_is_not_processed(server: Server) -> None:
    visitor = requests.Session()
    page = visitor.get(f"{server.url}/console/forgotten")
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert token is not None
    broken = urlencode({"csrf_token": token[1], "email": "broken@example.com"}).encode()
    cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
    break_off(server, broken, len(broken) + 4, cookie)
    form = {"csrf_token": token[1], "email": "whole@example.com"}
    assert visitor.post(page.url, form, headers={"Origin": server.url}).status_code == 200
    assert requested_resets(server) == ["whole@example.com"]


@pytest.mark.parametrize("junk", [b"\xe9", "é".encode()])
def test_unreadable_forwarded_address_does_not_pass_for_the_proxy(
    server: Server, junk: bytes
) -> None:
    """A proxy appends the client's address to whatever the client has sent."""
    forwarded = junk + b", " + CLIENT.encode()
    response = requests.post(
        f"{server.url}/graphql/",
        SIGN_IN,
        headers={**JSON, "X-Forwarded-For": forwarded},
        timeout=180,
    )
    assert response.status_code == 400
    assert response.headers["Connection"] == "close"


def test_invalid_entries_before_the_forwarded_address_are_ignored(server: Server) -> None:
    headers = {**JSON, "X-Forwarded-For": f"nonsense, {CLIENT}"}
    response = requests.post(f"{server.url}/graphql/", SIGN_IN, headers=headers, timeout=180)
    assert response.status_code == 200


def test_no_byte_of_a_query_string_causes_an_internal_error(server: Server) -> None:
    for path in (
        "/console/sign-in?next=/console/apps/&",
        "/console/apps/?",
        "/graphql/?",
        "/graphql/?query={__typename}&",
        "/.well-known/jwks.json?",
        "/healthz?",
        "/media/none.png?",
        "/demo-provider/authorize?",
        "/nothing?",
    ):
        for query in QUERIES:
            status = status_of(server, path.encode() + b"q=" + query + b"&" + query + b"=1")
            assert 200 <= status < 500, (path, query)


def test_unescaped_text_in_a_query_string_is_read_as_escaped(server: Server) -> None:
    asked = 'query=query($x:String!){__type(name:$x){name}}&variables={"x":"é"}'
    escaped = quote(asked, safe="=&")
    found = b'{"data":{"__type":null}}'
    assert answer_to(server, f"/graphql/?{escaped}".encode()).endswith(found)
    raw = escaped.replace(quote("é"), "é")
    assert answer_to(server, f"/graphql/?{raw}".encode()).endswith(found)


def test_deadlines_end_silent_bodies(server: Server) -> None:
    with socket.create_connection(address(server), timeout=180) as wire:
        wire.sendall(post("/graphql/", length=100) + b"{")
        response = b"".join(iter(lambda: wire.recv(65536), b""))
    assert response.startswith(b"HTTP/1.1 408 ")


EARLY: dict[str, Callable[[], tuple[str, dict[str, str], bytes]]] = {
    "413": lambda: ("/graphql/", {"Content-Type": "application/json"}, b" " * 1_200_000),
    "413 form": lambda: ("/console/sign-in", {}, b"a" * 6_000_000),
    "415": lambda: ("/graphql/", {"Content-Type": "text/plain"}, b"x" * 300_000),
    "404": lambda: ("/nothing", {"Content-Type": "application/json"}, b"x" * 300_000),
    "405": lambda: ("/.well-known/jwks.json", {}, b"x" * 300_000),
}


def test_request_after_an_early_answer_succeeds(server: Server) -> None:
    connection = connect(server)
    for status, make in EARLY.items():
        path, headers, body = make()
        for _ in range(6):
            connection.request("POST", path, body, headers)
            assert drained(connection.getresponse()) == int(status[:3]), status
            connection.request("POST", "/graphql/", ME, JSON)
            assert drained(connection.getresponse()) == 200, status
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


def answer_to(server: Server, target: bytes) -> bytes:
    """Return the whole answer to a GET of ``target``, sent as it is."""
    parts = urlsplit(server.url)
    head = [
        b"GET " + target + b" HTTP/1.1",
        f"Host: {parts.netloc}".encode(),
        b"Accept: application/json",
        b"Connection: close",
    ]
    answer = b""
    with socket.create_connection((parts.hostname, parts.port), timeout=180) as wire:
        wire.sendall(b"\r\n".join([*head, b"", b""]))
        while received := wire.recv(65536):
            answer += received
    return answer


def status_of(server: Server, target: bytes) -> int:
    return int(answer_to(server, target).split(b" ", 2)[1])


def break_off(server: Server, sent: bytes, announced: int, cookie: str) -> None:
    """Send ``sent`` of a form of ``announced`` bytes, and close the connection."""
    parts = urlsplit(server.url)
    head = [
        "POST /console/forgotten HTTP/1.1",
        f"Host: {parts.netloc}",
        f"Origin: {server.url}",
        f"Cookie: {cookie}",
        "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {announced}",
    ]
    with socket.create_connection((parts.hostname, parts.port), timeout=180) as wire:
        wire.sendall("\r\n".join([*head, "", ""]).encode() + sent)
        wire.shutdown(socket.SHUT_WR)
        while wire.recv(65536):
            pass


def requested_resets(server: Server) -> list[str]:
    with closing(sqlite3.connect(server.database_url.removeprefix("sqlite:///"))) as connection:
        rows = connection.execute("SELECT email FROM reset_requests ORDER BY id").fetchall()
    return [email for (email,) in rows]
