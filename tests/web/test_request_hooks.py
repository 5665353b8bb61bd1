"""Request hooks see every HTTP request once, whichever part of the application responds."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from ipaddress import ip_network
from typing import Any

import orjson
import pytest
import structlog
from flask import Flask
from werkzeug.test import Client

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.ports import Ports
from app.web.dispatch import Application, StartResponse
from app.web.logs import set_up_logs
from app.web.request_hooks import HttpRequest, RequestHooks, add_request_hook, request_hooks
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

PROXY, CLIENT = "192.0.2.1", "203.0.113.7"
ID = re.compile(r"[0-9a-f]{16}")


class Recorder:
    """A hook that keeps each request as it was when the hook was left."""

    def __init__(self) -> None:
        self.entered: list[HttpRequest] = []
        self.left: list[HttpRequest] = []

    @contextmanager
    def __call__(self, request: HttpRequest) -> Iterator[None]:
        self.entered.append(replace(request))
        yield
        self.left.append(replace(request))


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def application(ports: Ports) -> Flask:
    made = create_app(ports, Settings(trusted_proxies=(ip_network(PROXY),)))

    @made.get("/broken")
    def broken() -> str:
        raise LookupError("not to be shown")

    return made


@pytest.fixture
def recorder(application: Flask) -> Recorder:
    made = Recorder()
    add_request_hook(application, made)
    return made


@cases(
    ("method", "target", "body", "status"),
    [
        ("POST", "/graphql/", {"query": "{ shop { name } }"}, 200),
        ("POST", "/graphql/", {"query": "{ nothing }"}, 400),
        ("OPTIONS", "/graphql/", None, 200),
        ("DELETE", "/graphql/", None, 405),
        ("GET", "/graphql/", None, 200),
        ("GET", "/.well-known/jwks.json", None, 200),
        ("GET", "/console/?token=hidden", None, 303),
        ("GET", "/console/sign-in", None, 200),
        ("GET", "/nothing", None, 404),
        ("GET", "/broken", None, 500),
    ],
)
def test_hook_sees_every_request_once(
    application: Flask, recorder: Recorder, method: str, target: str, body: object, status: int
) -> None:
    path = target.partition("?")[0]
    environ = {"REMOTE_ADDR": PROXY}
    headers = {"X-Forwarded-For": CLIENT, "Traceparent": "00-1-2-01"}
    client = application.test_client()
    response = client.open(
        target, method=method, json=body, headers=headers, environ_base=environ, buffered=True
    )
    assert response.status_code == status
    [seen] = recorder.left
    assert (seen.method, seen.path, seen.status) == (method, path, status)
    assert seen.client_ip == CLIENT
    assert 0 < seen.seconds < 60
    assert ID.fullmatch(seen.id)
    assert seen.headers["traceparent"] == "00-1-2-01"
    assert [request.id for request in recorder.entered] == [seen.id]
    recorder.entered.clear()
    recorder.left.clear()


def test_hook_sees_requests_refused_by_the_server(application: Flask, recorder: Recorder) -> None:
    environ = Client(application).get("/graphql/").request.environ
    recorder.left.clear()
    request_hooks(application).refused(environ, HTTPStatus.REQUEST_TIMEOUT)
    [seen] = recorder.left
    assert (seen.method, seen.path, seen.status) == ("GET", "/graphql/", 408)


def test_each_request_has_its_own_id(application: Flask, recorder: Recorder) -> None:
    client = application.test_client()
    for _ in range(3):
        client.get("/.well-known/jwks.json", buffered=True)
    assert len({seen.id for seen in recorder.left}) == 3


def test_fault_is_answered_with_the_id_of_its_request(
    application: Flask, recorder: Recorder
) -> None:
    [error] = application.test_client().get("/broken", buffered=True).get_json()["errors"]
    assert error["extensions"] == {"requestId": recorder.left[0].id}


def test_log_lines_have_the_id_while_the_request_lasts(
    application: Flask, recorder: Recorder, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(level="INFO", development=False)
    log = structlog.get_logger("app")

    @application.get("/logging")
    def logging() -> str:
        log.info("inside")
        return ""

    application.test_client().get("/logging", buffered=True)
    log.info("outside")
    lines = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    ids = {line["event"]: line.get("request_id") for line in lines}
    assert ids == {"inside": recorder.left[0].id, "outside": None}


def test_later_hooks_run_inside_earlier_ones(application: Flask) -> None:
    order: list[str] = []

    def named(name: str) -> Any:
        @contextmanager
        def hook(_request: HttpRequest) -> Iterator[None]:
            order.append(f"enter {name}")
            yield
            order.append(f"leave {name}")

        return hook

    add_request_hook(application, named("outer"))
    add_request_hook(application, named("inner"))
    application.test_client().get("/nothing", buffered=True)
    assert order == ["enter outer", "enter inner", "leave inner", "leave outer"]


def test_request_lasts_until_a_streamed_response_is_closed(ports: Ports) -> None:
    def streaming(environ: dict[str, Any], start: StartResponse, /) -> Iterable[bytes]:
        start("200 OK", [])
        return iter([b"a", b"b"])

    hooks, recorder = _hooks_around(streaming, ports)
    response = Client(hooks).get("/", buffered=False)
    assert recorder.left == []
    response.close()
    assert [seen.status for seen in recorder.left] == [200]


def test_hook_sees_an_application_error_as_a_fault(ports: Ports) -> None:
    def failing(environ: dict[str, Any], start: StartResponse, /) -> Iterable[bytes]:
        raise LookupError("on purpose")

    hooks, recorder = _hooks_around(failing, ports)
    with pytest.raises(LookupError):
        Client(hooks).get("/")
    assert [seen.status for seen in recorder.left] == [500]


@cases("hooked", [False, True])
@cases(
    ("method", "target"),
    [
        ("POST", "/graphql/"),
        ("GET", "/console/sign-in"),
        ("GET", "/console/assets/console.css"),
        ("GET", "/healthz"),
        ("GET", "/nothing"),
        ("GET", "/broken"),
    ],
)
def test_every_response_has_the_id(
    application: Flask, method: str, target: str, hooked: bool
) -> None:
    if hooked:
        add_request_hook(application, Recorder())
    response = application.test_client().open(target, method=method, buffered=True)
    assert ID.fullmatch(response.headers["X-Request-ID"])


@cases(
    ("given", "is_used"),
    [
        ("0b6f8f0e-6d3c-4a5e-9b1e-2f6f9a3a9d11", True),
        ("Root=1-67891233-abcdef012345678912345678", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("with space", False),
        ('"quoted"', False),
        ("é", False),
        ("", False),
    ],
)
def test_id_of_a_trusted_proxy_is_used(
    application: Flask, recorder: Recorder, given: str, is_used: bool
) -> None:
    response = application.test_client().get(
        "/broken",
        headers={"X-Request-ID": given},
        environ_base={"REMOTE_ADDR": PROXY},
        buffered=True,
    )
    named = response.headers["X-Request-ID"]
    assert (named == given) is is_used
    assert recorder.left[-1].id == named
    assert response.get_json()["errors"][0]["extensions"] == {"requestId": named}


def test_id_of_an_unknown_proxy_is_not_used(application: Flask) -> None:
    response = application.test_client().get(
        "/nothing", headers={"X-Request-ID": "theirs"}, environ_base={"REMOTE_ADDR": CLIENT}
    )
    assert ID.fullmatch(response.headers["X-Request-ID"])
    assert "requestId" not in response.get_data(as_text=True)


@cases(
    ("method", "target", "route"),
    [
        ("POST", "/graphql/", "/graphql/"),
        ("GET", "/graphql/", "/graphql/"),
        ("GET", "/media/avatars/secret-name", "/media/avatars/<slug:file>"),
        ("GET", "/console/none/at-all", "/console/<path:address>"),
        ("GET", "/not/here", "unmatched"),
    ],
)
def test_route_is_a_pattern(
    application: Flask, recorder: Recorder, method: str, target: str, route: str
) -> None:
    environ = application.test_client().open(target, method=method, buffered=True).request.environ
    request_hooks(application).refused(environ, HTTPStatus.REQUEST_TIMEOUT)
    assert [seen.route for seen in recorder.left] == [route, route]
    recorder.left.clear()


def test_bytes_of_a_streamed_response_are_counted(ports: Ports) -> None:
    closed = []

    class Streamed:
        def __iter__(self) -> Iterator[bytes]:
            return iter([b"a", b"bc"])

        def close(self) -> None:
            closed.append(True)

    def streaming(environ: dict[str, Any], start: StartResponse, /) -> Iterable[bytes]:
        start("200 OK", [])
        return Streamed()

    hooks, recorder = _hooks_around(streaming, ports)
    Client(hooks).get("/", buffered=True)
    assert [seen.bytes_sent for seen in recorder.left] == [3]
    assert closed == [True]


def _hooks_around(application: Application, ports: Ports) -> tuple[RequestHooks, Recorder]:
    hooks, recorder = RequestHooks(application, make_installation(ports, Settings())), Recorder()
    hooks.hooks.append(recorder)
    return hooks, recorder
