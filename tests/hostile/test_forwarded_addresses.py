"""Clients that invent an IP address behind the nginx of ``deploy/``."""

import http.client
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from app.web.caller import client_address
from tests.servers.certificates import certificate_for
from tests.servers.free_ports import free_port
from tests.servers.http import HttpServer, Reply, http_server
from tests.servers.run import ROOT
from tests.servers.sandbox import wait_until

NGINX = shutil.which("nginx") or ""
LOOPBACK = "127.0.0.1"
# As Docker's gateway, the client has an address in TRUSTED_PROXIES.
TRUSTED = [ip_network("127.0.0.0/8")]
INVENTED = "203.0.113.66"


def is_listening(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port)).close()
    except ConnectionRefusedError:
        return False
    return True


@pytest.fixture
def shop() -> Iterator[HttpServer]:
    with http_server() as server:
        server.answer("/", Reply(200))
        yield server


@pytest.fixture
def proxy(shop: HttpServer, tmp_path: Path) -> Iterator[int]:
    """The port of nginx with TLS, in front of ``shop``."""
    port = free_port()
    _, chain = certificate_for(tmp_path, "localhost")
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for old, new in (
        ("web:8000", shop.url.removeprefix("http://")),
        ("/run/secrets/certificate_key", str(chain)),
        ("/run/secrets/certificate", str(chain)),
        ("listen 443", f"listen {LOOPBACK}:{port}"),
        ("        listen [::]:443 ssl http2;\n", ""),
        ("listen 80", f"listen {LOOPBACK}:{free_port()}"),
        ("        listen [::]:80;\n", ""),
        ("/tmp/nginx.pid", str(tmp_path / "nginx.pid")),  # noqa: S108 - of the container
    ):
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "nginx.conf"
    file.write_text(text)
    command = [NGINX, "-e", "stderr", "-c", str(file), "-g", "daemon off;"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: is_listening(port), process)
        yield port
    finally:
        process.terminate()
        process.wait(180)


@pytest.mark.skipif(not NGINX, reason="nginx isn't installed")
def test_clients_cannot_invent_their_address(shop: HttpServer, proxy: int) -> None:
    # Control: appended to what the client sent, its address would lead to the invented one.
    appended = f"{INVENTED}, {LOOPBACK}"
    assert client_address(LOOPBACK, appended, TRUSTED) == INVENTED
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connection = http.client.HTTPSConnection(LOOPBACK, proxy, context=context)
    headers = {"X-Forwarded-For": INVENTED, "X-Request-ID": "invented"}
    connection.request("GET", "/", headers=headers)
    assert connection.getresponse().status == 200
    connection.close()
    [received] = shop.received
    assert client_address(LOOPBACK, received.headers["x-forwarded-for"], TRUSTED) == LOOPBACK
    assert received.headers["x-request-id"] != "invented"
