"""What is fetched as a manifest may be anything; it is told what is wrong with it, and by whom."""

import socket
import threading
from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from app.adapters.http.guarded_http import GuardedHttp
from app.domain.apps.apps import JobStatus
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Http, Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.apps.app_changes import NewApp, create_app
from app.services.apps.installation_requests import MAX_SIZE, fetch_manifest, list_installations
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff, visit
from tests.fixtures.cases import cases
from tests.servers.apps import QUERY, AppServer, app_server
from tests.servers.http import Received, Reply
from tests.services.installation_helpers import WithTimeout, failed, left_behind, want, work


def problems(ports: Ports, url: str) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        fetch_manifest(ports, OPERATOR, url)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def trickle(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    for _ in range(100):
        threading.Event().wait(0.05)
        connection.sendall(b" ")


def be_silent(connection: socket.socket) -> None:
    connection.recv(1)


def test_manifest_can_be_read_before_installation(ports: Ports) -> None:
    with app_server() as app:
        manifest = fetch_manifest(ports, OPERATOR, app.manifest_url)
    assert (manifest.identifier, manifest.name) == ("example.app", "An app")
    assert manifest.permissions == {Permission.MANAGE_PRODUCTS}
    assert [webhook.events for webhook in manifest.webhooks] == [(EventType.STAFF_CREATED,)]
    [call] = app.server.received
    assert call.headers["latchkey-schema-version"] == "3.23"
    assert left_behind(ports) == {}


def test_byte_order_mark_of_a_manifest_is_skipped(ports: Ports) -> None:
    with app_server() as app:
        manifest = app.server.routes["/manifest"](Received("GET", "/manifest", {}, b""))
        app.server.answer("/manifest", Reply(body=b"\xef\xbb\xbf" + manifest.body))
        assert fetch_manifest(ports, OPERATOR, app.manifest_url).name == "An app"


@cases(
    ("reply", "code"),
    [
        (Reply(body=b"<html></html>"), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b""), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b"[]"), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b'"text"'), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b'{"id": "a", "id": "b"}'), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b"[" * 100_000), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b'{"id": "\xff"}'), "INVALID_MANIFEST_FORMAT"),
        (Reply(body=b" " * (MAX_SIZE + 1)), "INVALID_MANIFEST_FORMAT"),
        (Reply(404, b"{}"), "MANIFEST_URL_CANT_CONNECT"),
        (Reply(500, b"{}"), "MANIFEST_URL_CANT_CONNECT"),
        (Reply(raw=lambda connection: connection.sendall(b"HELLO")), "INVALID_MANIFEST_FORMAT"),
        (Reply(raw=trickle), "MANIFEST_URL_CANT_CONNECT"),
        (Reply(raw=be_silent), "MANIFEST_URL_CANT_CONNECT"),
    ],
)
def test_invalid_manifest_is_reported(ports: Ports, reply: Reply, code: str) -> None:
    is_in_time = code == "INVALID_MANIFEST_FORMAT"
    http = ports.http if is_in_time else WithTimeout(ports.http, "/manifest")
    with app_server() as app:
        app.server.routes["/manifest"] = lambda _received: reply
        assert problems(replace(ports, http=http), app.manifest_url) == [("manifestUrl", code)]


def test_redirect_is_not_followed(ports: Ports) -> None:
    with app_server() as app:
        away = Reply(302, headers={"Location": app.manifest_url})
        url = app.server.answer("/moved", away)
        assert problems(ports, url) == [("manifestUrl", "MANIFEST_URL_CANT_CONNECT")]
        assert app.server.calls("/manifest") == []


def test_unreachable_manifest_is_reported(ports: Ports) -> None:
    url = "http://127.0.0.1:9/manifest"
    assert problems(ports, url) == [("manifestUrl", "MANIFEST_URL_CANT_CONNECT")]
    url = "http://nowhere.invalid/manifest"
    assert problems(ports, url) == [("manifestUrl", "MANIFEST_URL_CANT_CONNECT")]


@cases(
    "url", ["nope", "", "javascript:alert(1)", "ftp://app.example/", "//app.example/", "/manifest"]
)
def test_invalid_manifest_url_is_not_called(ports: Ports, url: str) -> None:
    assert problems(ports, url) == [("manifestUrl", "INVALID_URL_FORMAT")]


@dataclass(slots=True)
class ByMethod(Http):
    """As if the manifest were at a listed address, and the token target at another."""

    real: dict[str, Http]

    @override
    def send(self, request: HttpRequest) -> HttpResponse:
        return self.real[request.method].send(request)


def internal_names(app: AppServer) -> list[str]:
    port = app.server.url.rpartition(":")[2]
    hosts = ("127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "127.1")
    return [f"http://{host}:{port}/manifest" for host in hosts]


def test_internal_address_is_not_called_unless_its_network_is_listed(ports: Ports) -> None:
    guarded = replace(ports, http=GuardedHttp())
    with app_server() as app:
        for url in internal_names(app):
            assert problems(guarded, url) == [("manifestUrl", "INVALID")], url
        assert app.server.received == []
        assert fetch_manifest(ports, OPERATOR, app.manifest_url).name == "An app"


def test_token_is_not_sent_to_an_internal_address(ports: Ports) -> None:
    with app_server() as app:
        want(ports, app)
        listed, guarded = ports.http, GuardedHttp()
        by_method = ByMethod({"GET": listed, "POST": guarded})
        assert work(replace(ports, http=by_method)) == 1
        assert app.handshakes == []
    assert "is in a private network" in failed(ports)
    assert left_behind(ports) == {}


PROBLEMS: tuple[tuple[dict[str, object], list[tuple[str, str]]], ...] = (
    ({"permissions": ["MANAGE_NOTHING"]}, [("permissions", "INVALID_PERMISSION")]),
    ({"tokenTargetUrl": "/register"}, [("tokenTargetUrl", "INVALID_URL_FORMAT")]),
    ({"appUrl": "javascript:alert(1)"}, [("appUrl", "INVALID_URL_FORMAT")]),
    ({"id": ..., "name": 5}, [("id", "REQUIRED"), ("name", "INVALID")]),
    (
        {"webhooks": [{"name": "x", "targetUrl": "https://app.example/", "query": "{shop}"}]},
        [("webhooks", "INVALID")],
    ),
    (
        {"webhooks": [{"name": "x", "targetUrl": "http://127.1:8/", "query": QUERY}]},
        [("webhooks", "INVALID")],
    ),
)
"""What the manifest has instead, and its problems by their keys."""


def test_manifest_problems_are_reported_by_key(ports: Ports) -> None:
    for changes, expected in PROBLEMS:
        with app_server("Latchkey", **changes) as app:
            assert problems(ports, app.manifest_url) == expected
            want(ports, app)
            assert work(ports) == 1
        newest = max(list_installations(ports, OPERATOR), key=lambda one: one.id)
        assert newest.status is JobStatus.FAILED
        assert expected[0][0] in newest.message
    assert left_behind(ports) == {}


def test_installed_app_is_refused(ports: Ports) -> None:
    create_app(ports, OPERATOR, NewApp("By hand", identifier="example.app"))
    with app_server() as app:
        assert problems(ports, app.manifest_url) == [("identifier", "UNIQUE")]


def test_webhook_events_take_precedence_over_its_query(ports: Ports) -> None:
    query = QUERY.replace("event {", "event { ... on StaffUpdated { user { id } }")
    webhook = {"name": "x", "targetUrl": "https://app.example/hook", "query": query}
    with app_server(webhooks=[webhook, webhook | {"asyncEvents": ["STAFF_UPDATED"]}]) as app:
        manifest = fetch_manifest(ports, OPERATOR, app.manifest_url)
    assert [webhook.events for webhook in manifest.webhooks] == [
        (EventType.STAFF_CREATED, EventType.STAFF_UPDATED),
        (EventType.STAFF_UPDATED,),
    ]


def test_app_cannot_fetch_a_manifest(ports: Ports) -> None:
    _, token = make_app(ports, "too mighty", *ALL_PERMISSIONS)
    with app_server() as app:
        with pytest.raises(PermissionDenied):
            fetch_manifest(ports, identify(ports, visit(token)).actor, app.manifest_url)
        staff = actor_of(ports, make_staff(ports, "b@example.com", Permission.MANAGE_ORDERS))
        with pytest.raises(PermissionDenied):
            fetch_manifest(ports, staff, app.manifest_url)
        assert app.server.received == []
