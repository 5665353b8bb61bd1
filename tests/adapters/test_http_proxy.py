"""Calls through the operator's proxy, and certificates of the operator's own authorities."""

import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.adapters.http.guarded_http import GuardedHttp
from app.adapters.http.tls import TrustedAuthorities
from app.ports.http import CallFailed, CallFault, HttpRequest
from tests.adapters.http_calls import fault_of
from tests.fakes.dns_resolver import resolve
from tests.fakes.strict_http import LOOPBACK
from tests.fixtures.cases import cases
from tests.servers.certificates import certificate_for
from tests.servers.http import Received, Reply, http_server
from tests.servers.proxy import Proxy, http_proxy

OTHER_NETWORK = (ipaddress.ip_network("192.0.2.0/24"),)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with http_proxy() as running:
        yield running


@pytest.fixture(autouse=True)
def _public_dns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let names resolve to an address that is public, and that no request may reach."""
    resolve(monkeypatch, lambda: "8.8.8.8")


def test_https_goes_through_a_tunnel_with_the_certificate_of_the_host(
    proxy: Proxy, tmp_path: Path
) -> None:
    authority, chain = certificate_for(tmp_path, "id.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    company = TrustedAuthorities(additional=str(authority))
    with http_server(tls) as server:
        port = server.url.rpartition(":")[2]
        server.routes["/"] = lambda received: Reply(200, received.body)
        http = GuardedHttp(authorities=company, proxy=f"http://ann:p%40ss@{proxy.address}")
        request = HttpRequest(f"https://id.example:{port}/", method="POST", body=b"hello")
        assert http.send(request).body == b"hello"
        assert server.received[0].headers["host"] == f"id.example:{port}"
        assert "proxy-authorization" not in server.received[0].headers
        assert proxy.targets == [f"id.example:{port}"]
        assert proxy.credentials == {"ann:p@ss"}
        usual = GuardedHttp(proxy=proxy.url)
        assert fault_of(usual, request) is CallFault.CERTIFICATE


def test_http_is_passed_on_by_the_proxy(proxy: Proxy) -> None:
    with http_server() as server:
        port = server.url.rpartition(":")[2]
        server.routes["/hook"] = lambda received: Reply(200, received.body)
        url = f"http://app.example:{port}/hook"
        http = GuardedHttp(proxy=proxy.url)
        assert http.send(HttpRequest(url, method="POST", body=b"hello")).body == b"hello"
        assert proxy.targets == [url]


@cases("host", ["127.0.0.1", "localhost", "10.0.0.1", "[::1]", "2130706433"])
def test_private_address_is_refused_before_the_proxy_is_asked(proxy: Proxy, host: str) -> None:
    http = GuardedHttp(proxy=proxy.url)
    assert fault_of(http, HttpRequest(f"http://{host}/")) is CallFault.FORBIDDEN
    assert proxy.targets == []


def test_name_of_a_private_address_is_refused_before_the_proxy_is_asked(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, lambda: "169.254.169.254")
    http = GuardedHttp(proxy=proxy.url, direct=OTHER_NETWORK)
    assert fault_of(http, HttpRequest("https://metadata.example/")) is CallFault.FORBIDDEN
    assert proxy.targets == []


def test_direct_networks_are_called_without_the_proxy(proxy: Proxy) -> None:
    with http_server() as server:
        url = server.answer("/", Reply(204))
        http = GuardedHttp(LOOPBACK, proxy=proxy.url, direct=LOOPBACK)
        assert http.send(HttpRequest(url)).status == 204
        assert proxy.targets == []


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxy_that_does_not_connect_is_named_without_its_password(
    proxy: Proxy, scheme: str
) -> None:
    proxy.refuses = scheme == "https"
    address = proxy.address if proxy.refuses else "127.0.0.1:1"
    http = GuardedHttp(proxy=f"http://ann:a-secret@{address}")
    with pytest.raises(CallFailed) as failed:
        http.send(HttpRequest(f"{scheme}://app.example/"))
    assert failed.value.fault is CallFault.UNREACHABLE
    assert str(failed.value) == "The proxy set by OUTGOING_PROXY didn't connect to app.example."


def test_authorities_can_replace_the_usual_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, lambda: "127.0.0.1")
    (tmp_path / "other").mkdir()
    authority, chain = certificate_for(tmp_path, "id.example")
    other, _ = certificate_for(tmp_path / "other", "id.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    with http_server(tls) as server:
        server.routes["/"] = _no_content
        request = HttpRequest(f"https://id.example:{server.url.rpartition(':')[2]}/")
        for authorities in (
            TrustedAuthorities(replacing=str(authority)),
            TrustedAuthorities(replacing=str(other), additional=str(authority)),
        ):
            assert GuardedHttp(LOOPBACK, authorities).send(request).status == 204
        wrong = GuardedHttp(LOOPBACK, TrustedAuthorities(replacing=str(other)))
        assert fault_of(wrong, request) is CallFault.CERTIFICATE


def _no_content(_received: Received) -> Reply:
    return Reply(204)


def test_many_calls_use_the_certificates_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, lambda: "127.0.0.1")
    authority, chain = certificate_for(tmp_path, "id.example")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    trusted = TrustedAuthorities(additional=str(authority))
    http = GuardedHttp(LOOPBACK, trusted)
    authority.unlink()
    with http_server(tls) as server:
        server.routes["/"] = _no_content
        request = HttpRequest(f"https://id.example:{server.url.rpartition(':')[2]}/")
        assert [http.send(request).status for _ in range(3)] == [204] * 3
        assert GuardedHttp(LOOPBACK, trusted).send(request).status == 204
