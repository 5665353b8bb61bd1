"""Calls to other people's servers: where they must not go, and how long they must not take."""

import ipaddress
import socket
import ssl
import threading
from pathlib import Path

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.adapters.http.tls import TrustedAuthorities
from app.domain.values.installation import VERSION
from app.ports.http import CallFailed, CallFault, HttpRequest
from tests.adapters.http_calls import fault_of
from tests.fakes.dns_resolver import resolve
from tests.fakes.strict_http import LOOPBACK
from tests.fixtures.cases import cases
from tests.fixtures.network import take_attempts
from tests.servers.certificates import certificate_for
from tests.servers.http import HttpServer, Received, Reply, http_server

INTERNAL = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",  # noqa: S104 - an address to refuse, not to listen at
    "0",
    "localhost",
    "LOCALHOST",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "100.64.0.1",
    "192.0.0.8",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[fe80::1]",
    "[fd00::1]",
    "[fec0::1]",
    "[ff02::1]",
]


@pytest.fixture
def guarded() -> GuardedHttp:
    """As in production: no private network is listed."""
    return GuardedHttp()


@cases("host", INTERNAL)
def test_internal_address_is_refused_in_every_spelling(
    guarded: GuardedHttp, server: HttpServer, host: str
) -> None:
    port = server.url.rpartition(":")[2]
    for scheme in ("http", "https"):
        request = HttpRequest(f"{scheme}://{host}:{port}/")
        assert fault_of(guarded, request) is CallFault.FORBIDDEN
    assert server.received == []
    assert take_attempts() == []


@cases(
    "url",
    [
        "",
        "no address",
        "/keys",
        "//id.example.com/keys",
        "ftp://127.0.0.1/keys",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://",
        "http:///keys",
        "http://user:secret@127.0.0.1/",
        "http://127.0.0.1@id.example.com/",
        "http://127.0.0.1\\@id.example.com/",
        "http://127.0.0.1/\r\nHost: other",
        "http://127.0.0.1 /",
        "http://127.0.0.1:port/",
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "http://127.0.0.1/\ud800",
        f"http://127.0.0.1/{'x' * 2048}",
    ],
)
def test_ambiguous_url_is_refused(local: GuardedHttp, url: str) -> None:
    assert fault_of(local, HttpRequest(url)) is CallFault.ADDRESS


def test_listed_network_can_be_reached(local: GuardedHttp, server: HttpServer) -> None:
    url = server.answer("/keys", Reply(200, b'{"keys": []}', {"X-Kind": "keys"}))
    response = local.send(HttpRequest(url, headers={"Accept": "application/json"}))
    assert (response.status, response.body, response.headers["x-kind"]) == (
        200,
        b'{"keys": []}',
        "keys",
    )
    (received,) = server.received
    assert received.headers["host"] == server.url.removeprefix("http://")
    assert received.headers["user-agent"] == f"Latchkey/{VERSION}"
    assert received.headers["accept"] == "application/json"


def test_listing_one_private_network_allows_no_other(local: GuardedHttp) -> None:
    assert fault_of(local, HttpRequest("http://10.0.0.1/")) is CallFault.FORBIDDEN
    assert take_attempts() == []


def test_ipv4_mapped_address_matches_its_ipv4_network(
    local: GuardedHttp, server: HttpServer
) -> None:
    port = server.url.rpartition(":")[2]
    server.answer("/", Reply(204))
    assert local.send(HttpRequest(f"http://[::ffff:127.0.0.1]:{port}/")).status == 204


def test_address_of_version_6_can_be_listed(local: GuardedHttp) -> None:
    with http_server(host="::1") as server:
        url = server.answer("/", Reply(204))
        assert local.send(HttpRequest(url)).status == 204
        assert server.received[0].headers["host"] == server.url.removeprefix("http://")


def test_body_is_posted_unchanged(local: GuardedHttp, server: HttpServer) -> None:
    url = server.answer("/hook", Reply(200))
    body = bytes(range(256)) * 400
    local.send(HttpRequest(url, "POST", {"Content-Type": "application/octet-stream"}, body))
    assert server.received == [Received("POST", "/hook", server.received[0].headers, body)]


@cases(
    ("name", "value"),
    [
        ("X-Shop", "1\r\nX-Forged: 1"),
        ("X-Shop", "1\nX-Forged: 1"),
        ("X-Shop", "1\n"),
        ("X-Shop", " folded"),
        ("X-Shop\r\nX-Forged", "1"),
        ("X-Shop\n", "1"),
        ("X-Forged: 1\r\nX-Shop", "1"),
        ("X-Forged: 1", "1"),
        ("", "1"),
    ],
)
def test_header_that_could_be_read_as_several_is_not_sent(
    local: GuardedHttp, server: HttpServer, name: str, value: str
) -> None:
    url = server.answer("/", Reply(204))
    assert fault_of(local, HttpRequest(url, headers={name: value})) is CallFault.ADDRESS
    assert server.received == []


def test_header_of_any_other_text_is_sent(local: GuardedHttp, server: HttpServer) -> None:
    url = server.answer("/", Reply(204))
    assert local.send(HttpRequest(url, headers={"X-Shop": "1\t; é"})).status == 204
    assert server.received[0].headers["x-shop"] == "1\t; é"


def test_given_header_replaces_a_default_in_any_case(
    local: GuardedHttp, server: HttpServer
) -> None:
    url = server.answer("/", Reply(204))
    given = {"accept": "application/json", "HOST": "other.example", "user-agent": "other"}
    local.send(HttpRequest(url, "POST", {**given, "content-length": "7"}, b"body"))
    headers = server.received[0].headers
    assert headers["accept"] == "application/json"
    assert headers["host"] == server.url.removeprefix("http://")
    assert headers["user-agent"] == f"Latchkey/{VERSION}"
    assert headers["content-length"] == "4"


@cases(
    "answer",
    [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ],
)
def test_connection_is_kept_and_a_request_arrives_in_one_piece(
    local: GuardedHttp, answer: bytes
) -> None:
    pieces: list[bytes] = []

    def reply_twice(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            for _ in range(2):
                pieces.append(connection.recv(65536))
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        thread = threading.Thread(target=reply_twice, args=(listener,))
        thread.start()
        bodies = [local.send(HttpRequest(url, "POST", body=b"x" * 1000)).body for _ in range(2)]
        thread.join(180)
    assert bodies == [b"" if b"ok" not in answer else b"ok"] * 2
    assert [piece[-1003:] for piece in pieces] == [b"\n\r\n" + b"x" * 1000] * 2


@cases("status", [301, 302, 303, 307, 308])
def test_redirect_is_returned_and_never_followed(
    local: GuardedHttp, server: HttpServer, status: int
) -> None:
    server.answer("/inside", Reply(200, b"secret"))
    url = server.answer("/", Reply(status, headers={"Location": f"{server.url}/inside"}))
    assert local.send(HttpRequest(url)).status == status
    assert server.calls("/inside") == []


def test_rebound_dns_name_reaches_no_other_address(
    guarded: GuardedHttp, server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["93.184.215.14", "127.0.0.1", "127.0.0.1"]
    resolve(monkeypatch, lambda: answers.pop(0))
    port = server.url.rpartition(":")[2]
    with pytest.raises(CallFailed):
        guarded.send(HttpRequest(f"http://rebinding.example:{port}/"))
    assert take_attempts() == ["socket.connect to 93.184.215.14"]
    assert server.received == []
    assert (
        fault_of(guarded, HttpRequest(f"http://rebinding.example:{port}/")) is CallFault.FORBIDDEN
    )


def test_name_is_resolved_for_each_call_despite_an_open_connection(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    http = GuardedHttp((ipaddress.ip_network("127.0.0.1/32"),))
    answers = ["127.0.0.1", "127.0.0.2"]
    resolve(monkeypatch, lambda: answers.pop(0))
    server.answer("/", Reply(204))
    port = server.url.rpartition(":")[2]
    assert http.send(HttpRequest(f"http://rebinding.example:{port}/")).status == 204
    assert fault_of(http, HttpRequest(f"http://rebinding.example:{port}/")) is CallFault.FORBIDDEN


def test_name_that_does_not_exist_cannot_be_reached(local: GuardedHttp) -> None:
    request = HttpRequest("http://nowhere.invalid/")
    assert fault_of(local, request) is CallFault.UNREACHABLE


def test_closed_port_is_unreachable(local: GuardedHttp) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert fault_of(local, HttpRequest(f"http://127.0.0.1:{port}/")) is CallFault.UNREACHABLE


def test_url_host_is_used_for_sni_and_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, chain = certificate_for(tmp_path, "id.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    names: list[str | None] = []
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    resolve(monkeypatch, lambda: "127.0.0.1")
    http = GuardedHttp(LOOPBACK, TrustedAuthorities(additional=str(authority)))
    with http_server(tls) as server:
        port = server.url.rpartition(":")[2]
        server.answer("/", Reply(204))
        assert http.send(HttpRequest(f"https://id.example:{port}/")).status == 204
        assert names == ["id.example"]
        assert server.received[0].headers["host"] == f"id.example:{port}"
        other = HttpRequest(f"https://other.example:{port}/")
        assert fault_of(http, other) is CallFault.CERTIFICATE
        strict = GuardedHttp(LOOPBACK)
        unknown = HttpRequest(f"https://id.example:{port}/")
        assert fault_of(strict, unknown) is CallFault.CERTIFICATE


def test_environment_proxies_and_credentials_are_ignored(
    server: HttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = tmp_path / "netrc"
    secrets.write_text("machine 127.0.0.1 login somebody password secret\n")
    monkeypatch.setenv("NETRC", str(secrets))
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")
    monkeypatch.setenv("ALL_PROXY", "http://192.0.2.1:3128")
    url = server.answer("/", Reply(204, headers={"Set-Cookie": "visit=1"}))
    http = GuardedHttp(LOOPBACK)
    for _ in range(2):
        assert http.send(HttpRequest(url)).status == 204
    for received in server.received:
        assert "authorization" not in received.headers
        assert "cookie" not in received.headers


def test_many_threads_can_call_at_once(local: GuardedHttp, server: HttpServer) -> None:
    server.routes["/"] = lambda received: Reply(200, received.headers["x-number"].encode())
    found: list[bool] = []

    def call(number: int) -> None:
        request = HttpRequest(f"{server.url}/", headers={"X-Number": str(number)})
        found.append(local.send(request).body == str(number).encode())

    threads = [threading.Thread(target=call, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    assert found == [True] * 20
