"""What ``flask doctor`` finds out about the proxies in front."""

import ipaddress
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.values.installation import CheckResult, CheckState
from app.ports import Ports
from app.services.operations.environment_checks import ProxySettings, check_proxies
from tests.builders.sign_in_events import make_sign_in
from tests.servers.certificates import certificate_for
from tests.servers.http import Received, Reply, http_server
from tests.spec.server import running

PROXIES = (ipaddress.ip_network("10.0.0.0/8"),)
PROXY, CLIENT = "10.0.0.5", "203.0.113.7"
BODY_MAX = 1024 * 1024
UPLOAD_MAX = 5 * BODY_MAX


def found(
    ports: Ports, subject: str, body_max: int = BODY_MAX, upload_max: int = UPLOAD_MAX
) -> list[CheckResult]:
    findings = check_proxies(ports, OPERATOR, ProxySettings(PROXIES, body_max, upload_max))
    return [finding for finding in findings if finding.subject == subject]


def in_production(ports: Ports, public_url: str) -> Ports:
    configuration = replace(ports.configuration, development=False, public_url=public_url)
    return replace(ports, configuration=configuration)


def test_trusted_proxy_that_forwards_no_client_addresses_is_a_warning(ports: Ports) -> None:
    for _ in range(3):
        make_sign_in(ports, address=PROXY)
    [finding] = found(ports, "proxies")
    assert finding.state is CheckState.WARNING
    assert PROXY in finding.message
    assert "X-Forwarded-For" in finding.remedy


@pytest.mark.parametrize("addresses", [[], [PROXY], [PROXY, PROXY, CLIENT], [CLIENT] * 3])
def test_forwarded_addresses_are_healthy(ports: Ports, addresses: list[str]) -> None:
    for address in addresses:
        make_sign_in(ports, address=address)
    [finding] = found(ports, "proxies")
    assert finding == CheckResult(
        "proxies", CheckState.FINE, "X-Forwarded-For is trusted from 10.0.0.0/8."
    )


def test_buffered_requests_without_a_trusted_proxy_are_a_warning(ports: Ports) -> None:
    def warned(settings: ProxySettings) -> bool:
        findings = check_proxies(ports, OPERATOR, settings)
        return any("REQUESTS_ARE_BUFFERED" in finding.message for finding in findings)

    assert warned(ProxySettings((), BODY_MAX, UPLOAD_MAX, requests_are_buffered=True))
    assert not warned(ProxySettings(PROXIES, BODY_MAX, UPLOAD_MAX, requests_are_buffered=True))
    assert not warned(ProxySettings((), BODY_MAX, UPLOAD_MAX))


def test_proxy_with_a_smaller_limit_than_ours_fails(ports: Ports) -> None:
    def nginx(received: Received) -> Reply:
        return Reply(413 if len(received.body) > 1000 else 200)

    with http_server() as server:
        server.routes["/graphql/"] = nginx
        [finding] = found(in_production(ports, server.url), "request size")
        assert finding.state is CheckState.FAILED
        assert "1,048,576 bytes" in finding.message
        small = {"body_max": 1000, "upload_max": 400}
        [finding] = found(in_production(ports, server.url), "request size", **small)
        assert finding.state is CheckState.FINE


@pytest.mark.first
def test_largest_request_is_accepted_without_a_proxy(
    ports: Ports, database_url: str, tmp_path: Path
) -> None:
    with running(tmp_path, database_url) as shop:
        [finding] = found(in_production(ports, shop.url), "request size")
        message = "PUBLIC_URL accepts 1,048,576 bytes and a picture of 5,242,880 bytes."
        assert finding == CheckResult("request size", CheckState.FINE, message)
        [finding] = found(in_production(ports, shop.url), "request size", body_max=BODY_MAX + 1)
        assert finding.state is CheckState.FAILED


def test_public_url_that_cannot_be_reached_from_here_is_a_warning(ports: Ports) -> None:
    [finding] = found(in_production(ports, "http://127.0.0.1:1"), "request size")
    assert finding.state is CheckState.WARNING
    assert "Can't connect to 127.0.0.1:1." in finding.message


def test_proxy_that_refuses_the_largest_picture_fails(ports: Ports) -> None:
    def nginx(received: Received) -> Reply:
        return Reply(413 if len(received.body) > 2 * BODY_MAX else 200)

    with http_server() as server:
        server.routes["/graphql/"] = nginx
        [finding] = found(in_production(ports, server.url), "request size")
        assert finding.state is CheckState.FAILED
        assert "a picture of 5,242,880 bytes" in finding.message
        assert "client_max_body_size" in finding.remedy
        [finding] = found(in_production(ports, server.url), "request size", upload_max=BODY_MAX)
        assert finding.state is CheckState.FINE


def test_untrusted_certificate_has_its_own_remedy(ports: Ports, tmp_path: Path) -> None:
    _authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    with http_server(tls) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        [finding] = found(in_production(ports, url), "request size")
    assert finding.state is CheckState.WARNING
    assert "trusted certificate" in finding.message
    assert "OUTGOING_CA_FILE" in finding.remedy
    assert "OUTGOING_ALLOWED_NETWORKS" not in finding.remedy
