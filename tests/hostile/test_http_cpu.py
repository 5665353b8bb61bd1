"""Headers, uploads and forms of an anonymous client take no more CPU than any other request."""

import io
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest
from flask import Flask
from werkzeug.test import run_wsgi_app

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.ports import Ports
from tests.builders.people import ADDRESS
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.hostile.cpu import BOUND, slowest

HEADER = 256 * 1024
"""Characters; more than servers let through."""

FORM = 512 * 1024
UPLOAD = 6_000_000
QUERY = b'{"query": "{ shop { name } }"}'
JSON = "application/json"
URLENCODED = "application/x-www-form-urlencoded"
BOTH_KINDS = "application/graphql-response+json"

Request = dict[str, Any]

PARAMETERS = (
    b'--b\r\nContent-Disposition: form-data; name="a"; ' + b'a="b"; ' * 26_000 + b"\r\n\r\nx\r\n"
)
SHORT_PARAMETERS = (
    b'--b\r\nContent-Disposition: form-data; name="a"; ' + b'a="b"; ' * 280 + b"\r\n\r\nx\r\n"
)


def api(content_type: str = JSON, **headers: str) -> Request:
    return {"path": "/graphql/", "type": content_type, "body": QUERY, **headers}


def form(body: bytes, content_type: str = URLENCODED) -> Request:
    return {"path": "/console/sign-in", "type": content_type, "body": body}


def upload(body: bytes, boundary: str = "b") -> Request:
    kind = f"multipart/form-data; boundary={boundary}"
    return {**api(kind, HTTP_GRAPHQL_REQUIRE_PREFLIGHT="1"), "body": body}


def part(name: str, data: bytes, filename: str = "") -> bytes:
    file = f'; filename="{filename}"' if filename else ""
    head = f'--b\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
    return head.encode() + data + b"\r\n"


def mapped(variables: object, places: object) -> Request:
    operation = {"query": "{ shop { name } }", "variables": variables}
    parts = [part("operations", orjson.dumps(operation)), part("map", orjson.dumps(places))]
    return upload(b"".join([*parts, part("0", b"x" * 4_000_000, "a.png"), b"--b--\r\n"]))


HEADERS: dict[str, Callable[[], Request]] = {
    "token": lambda: api(HTTP_AUTHORIZATION="Bearer " + "a." * (HEADER // 2)),
    "app token": lambda: api(HTTP_AUTHORIZATION="Bearer lkapp_" + "a" * HEADER),
    "scheme": lambda: api(HTTP_AUTHORIZATION=" " * HEADER + "Bearer x"),
    "accept": lambda: api(HTTP_ACCEPT=BOTH_KINDS + ";a=b" * (HEADER // 4)),
    "accept, many": lambda: api(HTTP_ACCEPT=BOTH_KINDS + ",a/b;q=0.5" * (HEADER // 10)),
    "accept, blanks": lambda: api(HTTP_ACCEPT=BOTH_KINDS + ";q=" + " " * HEADER + "1"),
    "accept, quotes": lambda: api(HTTP_ACCEPT=BOTH_KINDS + ',"' * (HEADER // 2)),
    "content type": lambda: api(JSON + ";a=b" * (HEADER // 4)),
    "content type, blanks": lambda: api(JSON + ";" + " " * HEADER + "charset=utf-8"),
    "content type, quotes": lambda: api(JSON + ';a="' * (HEADER // 4)),
    "addresses": lambda: api(HTTP_X_FORWARDED_FOR="::1, " * (HEADER // 5)),
    "host": lambda: api(HTTP_HOST="[" * HEADER),
    "cookies": lambda: api(HTTP_COOKIE="a=b;" * (HEADER // 4)),
    "origin": lambda: api(HTTP_ORIGIN="https://" + "a." * (HEADER // 2)),
    "preflight": lambda: {
        **api(HTTP_ACCESS_CONTROL_REQUEST_HEADERS="a, " * (HEADER // 3)),
        "method": "OPTIONS",
    },
}

UPLOADS: dict[str, Callable[[], Request]] = {
    "line ends": lambda: upload(b"\r\n" * (UPLOAD // 2)),
    "boundaries": lambda: upload(b"--b\r\n" * (UPLOAD // 5)),
    "parts": lambda: upload(part("a", b"x") * (UPLOAD // 60)),
    "headers": lambda: upload(b"--b\r\n" + b"A: b\r\n" * (UPLOAD // 6)),
    "parameters": lambda: upload(
        b"--b\r\nContent-Disposition: form-data; " + b'a="b"; ' * (UPLOAD // 7) + b"\r\n\r\nx"
    ),
    "parameters of many parts": lambda: upload(PARAMETERS * (UPLOAD // len(PARAMETERS))),
    "parameters of parts just within the limit": lambda: upload(SHORT_PARAMETERS * 31 + b"--b--"),
    "headers of many parts": lambda: upload(
        (b"--b\r\n" + b"A: b\r\n" * 30_000 + b"\r\nx\r\n") * 31
    ),
    "folded headers": lambda: upload(b"--b\r\nA: b\r\n" + b" c\r\n" * (UPLOAD // 4)),
    "an encoded name": lambda: upload(
        b"--b\r\nContent-Disposition: form-data; name*=utf-8''" + b"%41" * 300_000 + b"\r\n\r\n"
    ),
    "blanks behind boundaries": lambda: upload((b"--b" + b" " * 100 + b"x\r\n") * (UPLOAD // 106)),
    "line ends of one kind": lambda: upload(part("0", b"\r" * UPLOAD, "a.png")),
    "almost boundaries in a file": lambda: upload(part("0", b"\r\n--" * 1_200_000, "a.png")),
    "a long boundary": lambda: upload(
        (b"\r\n--" + b"a" * 1_999) * (UPLOAD // 2_003), boundary="a" * 2_000
    ),
    "places": lambda: mapped({"f": [None] * 100}, {"0": [f"variables.f.{n}" for n in range(100)]}),
    "deep places": lambda: mapped({}, {"0": ["variables" + ".a" * 4_900] * 100}),
    "long places": lambda: mapped({}, {"0": ["variables." + "a" * 900_000]}),
}

FORMS: dict[str, Callable[[], Request]] = {
    "fields": lambda: form(b"&".join(b"k%d=" % number for number in range(60_000))),
    "empty fields": lambda: form(b"&" * FORM),
    "escapes": lambda: form(b"%41" * (FORM // 3)),
    "a form larger than any": lambda: form(b"a=b&" * (FORM // 2)),
    "credentials": lambda: form(b"email=" + b"a@" * 120_000 + b"&password=" + b"x" * 250_000),
    "CSRF token": lambda: form(b"csrf_token=" + b"a." * 250_000),
    "query string": lambda: {**form(b""), "method": "GET", "query": "next=/" + "%2F" * 80_000},
    "parts with parameters": lambda: form(
        (PARAMETERS[:500] + b"\r\n\r\nx\r\n") * (FORM // 510), "multipart/form-data; boundary=b"
    ),
    "a part with parameters": lambda: form(PARAMETERS * 2, "multipart/form-data; boundary=b"),
    "a logout's part with parameters": lambda: {
        **form(PARAMETERS * 2, "multipart/form-data; boundary=b"),
        "path": "/oidc/default/backchannel-logout",
    },
    "parts without a name": lambda: form(
        b"--b\r\n\r\n" * (FORM // 8), "multipart/form-data; boundary=b"
    ),
    "logout token": lambda: {
        **form(b"logout_token=" + b"a." * 250_000),
        "path": "/oidc/default/backchannel-logout",
    },
}


@pytest.fixture
def app(sqlite_url: str, clock: FakeClock) -> Iterator[Flask]:
    ports: Ports = fake_ports(sqlite_url, clock)
    yield create_app(ports, Settings())
    ports.database.close()


@pytest.mark.first
@pytest.mark.parametrize("cases", [HEADERS, UPLOADS, FORMS], ids=["headers", "uploads", "forms"])
def test_request_of_any_form_is_answered_within_the_allowed_cpu(
    app: Flask, cases: dict[str, Callable[[], Request]]
) -> None:
    # The first requests load pages, and make the signing keys.
    send(app, api(HTTP_AUTHORIZATION="Bearer x"))
    send(app, form(b""))
    taken = {}
    for name, make in cases.items():
        request = make()
        taken[name] = slowest(lambda request=request: send(app, request))  # type: ignore[misc]
    assert {name: seconds for name, seconds in taken.items() if seconds > BOUND} == {}


def test_form_larger_than_any_page_has_is_refused(app: Flask) -> None:
    assert send(app, form(b"email=" + b"a" * FORM)) == 413
    assert send(app, form(b"email=" + b"a" * (FORM - 100))) == 400


def send(app: Flask, request: Request) -> int:
    """Send ``request`` as it is, past what a client library would refuse to write."""
    body: bytes = request["body"]
    environ = {
        "REQUEST_METHOD": request.get("method", "POST"),
        "SCRIPT_NAME": "",
        "PATH_INFO": request["path"],
        "QUERY_STRING": request.get("query", ""),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": ADDRESS,
        "CONTENT_TYPE": request["type"],
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": io.StringIO(),
        **{name: value for name, value in request.items() if name.startswith("HTTP_")},
    }
    response, status, _ = run_wsgi_app(app.wsgi_app, environ)
    list(response)
    return int(status[:3])
