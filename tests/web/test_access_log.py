"""The access log: one line per request, without secrets, paths or emails."""

from typing import Any

import orjson
import pytest
from flask import Flask

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import Actor, ActorKind, describe_actor
from app.ports import Ports
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

CLIENT = "203.0.113.7"
KEY_SET = "/.well-known/jwks.json"


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


def application(ports: Ports, **settings: Any) -> Flask:
    chosen = {"app_env": "production", "access_log": True, "public_url": "https://shop.test"}
    made = create_app(ports, Settings(**{**chosen, **settings}))

    @made.get("/broken/<int:number>")
    def broken(number: int) -> str:
        raise LookupError(number)

    return made


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    written = [orjson.loads(line) for line in capsys.readouterr().err.splitlines()]
    return [line for line in written if line["event"] == "request"]


@pytest.mark.parametrize("enabled", [True, False])
def test_access_log_has_a_line_for_each_request(
    ports: Ports, capsys: pytest.CaptureFixture[str], enabled: bool
) -> None:
    client = application(ports, access_log=enabled).test_client()
    environ = {"REMOTE_ADDR": CLIENT}
    response = client.get(f"{KEY_SET}?secret=x", environ_base=environ, buffered=True)
    written = lines(capsys)
    assert len(written) == enabled
    for line in written:
        assert (line["method"], line["route"], line["status"]) == ("GET", KEY_SET, 200)
        assert (line["client_ip"], line["bytes"]) == (CLIENT, len(response.data))
        assert line["request_id"] == response.headers["X-Request-ID"]
        assert (line["level"], line["logger"]) == ("info", "latchkey.access")
        assert line["milliseconds"] >= 0
        assert "caller" not in line


def test_line_of_an_operation_has_root_fields_and_caller(
    ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "{ ...on Query { a: shop { name } } me { email } b: shop { name } }"
    application(ports).test_client().post("/graphql/", json={"query": query})
    [line] = lines(capsys)
    assert sorted(line["root_fields"]) == ["me", "shop"]
    assert (line["route"], line["caller_kind"]) == ("/graphql/", "anonymous")


def test_invalid_operation_has_no_root_fields(
    ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    application(ports).test_client().post("/graphql/", json={"query": "{ mySecretField }"})
    [line] = lines(capsys)
    assert "root_fields" not in line


def test_sampling_keeps_failed_requests(ports: Ports, capsys: pytest.CaptureFixture[str]) -> None:
    client = application(ports, access_log_sample=0.0).test_client()
    for target in (KEY_SET, "/nothing", "/broken/7"):
        client.get(target, buffered=True)
    assert [(line["route"], line["status"], line["level"]) for line in lines(capsys)] == [
        ("unmatched", 404, "info"),
        ("/broken/<int:number>", 500, "error"),
    ]


def test_sampling_keeps_about_its_share(ports: Ports, capsys: pytest.CaptureFixture[str]) -> None:
    client = application(ports, access_log_sample=0.5).test_client()
    for _ in range(200):
        client.get(KEY_SET, buffered=True)
    assert 60 < len(lines(capsys)) < 140


def test_level_warning_keeps_server_errors_only(
    ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    client = application(ports, log_level="WARNING").test_client()
    for target in (KEY_SET, "/nothing", "/broken/7"):
        client.get(target, buffered=True)
    assert [line["status"] for line in lines(capsys)] == [500]


def test_successful_probes_are_not_logged(
    ports: Ports, capsys: pytest.CaptureFixture[str]
) -> None:
    client = application(ports).test_client()
    for target in ("/healthz", "/readyz", KEY_SET):
        assert client.get(target, buffered=True).status_code == 200
    assert [line["route"] for line in lines(capsys)] == [KEY_SET]


def test_development_log_is_readable(ports: Ports, capsys: pytest.CaptureFixture[str]) -> None:
    application(ports, app_env="development").test_client().get(KEY_SET, buffered=True)
    [line] = [line for line in capsys.readouterr().err.splitlines() if " request " in line]
    assert f"route={KEY_SET}" in line


@cases(
    ("actor", "described"),
    [
        (None, {}),
        (Actor(ActorKind.ANONYMOUS), {"caller_kind": "anonymous"}),
        (
            Actor(ActorKind.USER, user_id=7, name="ann@example.com"),
            {"caller_kind": "user", "caller": "User:7"},
        ),
        (
            Actor(ActorKind.USER, user_id=7, app_id=3),
            {"caller_kind": "user", "caller": "User:7", "via_app": "App:3"},
        ),
        (Actor(ActorKind.APP, app_id=3), {"caller_kind": "app", "caller": "App:3"}),
    ],
)
def test_callers_are_named_by_kind_and_id(actor: Actor | None, described: dict[str, str]) -> None:
    assert describe_actor(actor) == described
