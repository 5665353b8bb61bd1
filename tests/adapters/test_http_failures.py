"""What outgoing calls do about several addresses and interim responses, and why they fail."""

import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.adapters.http.tls import TrustedAuthorities
from app.ports.http import CallFailed, CallFault, HttpRequest
from tests.fakes.strict_http import LOOPBACK
from tests.fixtures.cases import cases
from tests.servers.certificates import certificate_for
from tests.servers.http import HttpServer, Reply, http_server


def resolve_all(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Resolve names below ``.example`` to ``addresses``, in this order."""
    real = socket.getaddrinfo

    def resolver(host: str, port: int, *args: int, **options: int) -> list[object]:
        hosts = addresses if host.endswith(".example") else (host,)
        return [entry for one in hosts for entry in real(one, port, *args, **options)]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)


def send_raw(data: bytes) -> Callable[[socket.socket], None]:
    return lambda connection: connection.sendall(data)


def reason_of(http: GuardedHttp, url: str) -> str:
    with pytest.raises(CallFailed) as failed:
        http.send(HttpRequest(url, timeout=10))
    return str(failed.value)


def port_of(server: HttpServer) -> str:
    return server.url.rpartition(":")[2]


def test_every_address_of_a_host_is_tried(
    local: GuardedHttp, server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve_all(monkeypatch, "::1", "127.0.0.2", "127.0.0.1")
    server.answer("/", Reply(204))
    assert local.send(HttpRequest(f"http://app.example:{port_of(server)}/")).status == 204
    assert len(server.received) == 1


def test_forbidden_address_is_passed_over(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two addresses of one host, only the listed one is called."""
    resolve_all(monkeypatch, "10.0.0.1", "127.0.0.1")
    server.answer("/", Reply(204))
    url = f"http://app.example:{port_of(server)}/"
    assert GuardedHttp(LOOPBACK).send(HttpRequest(url)).status == 204
    with pytest.raises(CallFailed) as failed:
        GuardedHttp().send(HttpRequest(url))
    assert failed.value.fault is CallFault.FORBIDDEN
    assert len(server.received) == 1


def test_request_is_sent_to_one_address_only(
    local: GuardedHttp, server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that was made may have carried the request, so no other is tried."""
    resolve_all(monkeypatch, "127.0.0.1", "127.0.0.2")
    server.answer("/", Reply(raw=lambda connection: connection.close()))
    reason = reason_of(local, f"http://app.example:{port_of(server)}/")
    assert reason.endswith("closed the connection without a response.")
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "interim",
    [
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
    ],
)
def test_interim_responses_are_skipped(
    local: GuardedHttp, server: HttpServer, interim: bytes
) -> None:
    final = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"
    url = server.answer("/", Reply(raw=send_raw(interim + final)))
    response = local.send(HttpRequest(url))
    assert (response.status, response.body, response.headers) == (
        200,
        b"done",
        {"content-length": "4"},
    )


def test_endless_interim_responses_end_the_call(local: GuardedHttp, server: HttpServer) -> None:
    endless = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 200
    url = server.answer("/", Reply(raw=send_raw(endless)))
    assert reason_of(local, url).endswith("sent an invalid HTTP response.")


@cases(
    ("raw", "reason"),
    [
        (b"", "closed the connection without a response."),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "closed the connection before the end of its response.",
        ),
        (b"\x15\x03\x01\x00\x02\x02\x16", "expects TLS on this port. Use https://."),
        (b"220 mail.example ESMTP\r\n", "sent an invalid HTTP response."),
    ],
)
def test_reason_of_a_failed_call_is_true(
    local: GuardedHttp, server: HttpServer, raw: bytes, reason: str
) -> None:
    url = server.answer("/", Reply(raw=send_raw(raw)))
    assert reason_of(local, url) == f"127.0.0.1:{port_of(server)} {reason}"


def test_https_to_a_plain_port_is_named(local: GuardedHttp, server: HttpServer) -> None:
    reason = reason_of(local, f"https://127.0.0.1:{port_of(server)}/")
    assert "doesn't use TLS on this port" in reason


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, TrustedAuthorities]:
    """A server's TLS for ``id.example``, and what trusts its certificate."""
    authority, chain = certificate_for(tmp_path, "id.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context, TrustedAuthorities(additional=str(authority))


Tls = tuple[ssl.SSLContext, TrustedAuthorities]


def test_certificate_for_another_name_is_named(tls: Tls, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_all(monkeypatch, "127.0.0.1")
    with http_server(tls[0]) as server:
        url = f"https://other.example:{port_of(server)}/"
        assert reason_of(GuardedHttp(LOOPBACK, tls[1]), url).endswith("for another name.")


def test_certificate_of_an_unknown_authority_is_not_trusted(
    tls: Tls, monkeypatch: pytest.MonkeyPatch, local: GuardedHttp
) -> None:
    resolve_all(monkeypatch, "127.0.0.1")
    with http_server(tls[0]) as server:
        url = f"https://id.example:{port_of(server)}/"
        assert reason_of(local, url).endswith("doesn't have a trusted certificate.")


def test_missing_common_cipher_is_named(tls: Tls, monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_all(monkeypatch, "127.0.0.1")
    tls[0].maximum_version = ssl.TLSVersion.TLSv1_2
    tls[0].set_ciphers("ECDHE-RSA-AES256-GCM-SHA384")
    with http_server(tls[0]) as server:
        url = f"https://id.example:{port_of(server)}/"
        reason = reason_of(GuardedHttp(LOOPBACK, tls[1]), url)
    assert reason.endswith("have no TLS version or cipher in common.")
