"""The application as a whole: what every answer carries, and what a request gets that fails."""

from dataclasses import replace
from itertools import product

import pytest
from flask import Flask, request, session
from flask.testing import FlaskClient

import app as package
from app.adapters.activity import SqlActivity
from app.adapters.system import SystemClock
from app.composition.factory import create_app
from app.composition.settings import Settings, SettingsError
from app.ports import Ports
from app.web.installation import installation
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
POST = {"json": {"query": "{ shop { name } }"}}


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def application(ports: Ports) -> Flask:
    made = create_app(ports, Settings())

    @made.get("/console/visits")
    def visits() -> str:
        session["visits"] = session.get("visits", 0) + 1
        return str(session["visits"])

    @made.get("/outside")
    def outside() -> str:
        return str(session.get("visits", "no session"))

    @made.get("/broken")
    def broken() -> str:
        raise LookupError("geheim")

    return made


@pytest.fixture
def visitor(application: Flask) -> FlaskClient:
    return application.test_client()


def test_application_is_created_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, sqlite_url: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", sqlite_url)
    made: Flask = package.create_app()
    response = made.test_client().post("/graphql/", **POST)
    assert response.get_json() == {"data": {"shop": {"name": "Latchkey shop"}}}
    with made.app_context():
        ports = installation().ports
        assert isinstance(ports.activity, SqlActivity)
        ports.activity.close()
        ports.database.close()


def test_unknown_package_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="create_ap"):
        package.create_ap  # noqa: B018 - asking is the point


def test_invalid_environment_creates_no_application(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JWT_TTL_ACCESS", "soon")
    monkeypatch.setenv("RSA_PRIVATE_KEY", "-----BEGIN nothing")
    with pytest.raises(SettingsError, match="JWT_TTL_ACCESS"):
        create_app()


def test_invalid_configured_key_creates_no_application() -> None:
    with pytest.raises(SettingsError, match="RSA_PRIVATE_KEY"):
        create_app(
            settings=Settings(database_url="sqlite://", rsa_private_key="-----BEGIN nothing")
        )


def test_settings_reach_the_edges(ports: Ports) -> None:
    made = create_app(ports, Settings(playground_enabled=False, graphql_batch_max=2))
    with made.app_context():
        assert installation().graphql_batch_max == 2
    assert made.test_client().get("/graphql/").status_code == 405


@cases("path", ["/graphql/", "/.well-known/jwks.json", "/nothing", "/broken"])
def test_every_response_sets_security_headers(visitor: FlaskClient, path: str) -> None:
    headers = visitor.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "script-src 'unsafe-inline'" not in headers["Content-Security-Policy"]
    assert "Strict-Transport-Security" not in headers


def test_hsts_is_sent_with_an_https_public_url(ports: Ports) -> None:
    secure = Settings(
        app_env="production", public_url="https://shop.example.com", secret_key="s" * 40
    )
    configured = replace(ports, configuration=secure.configuration)
    made = create_app(configured, secure)
    response = made.test_client().get("/.well-known/jwks.json")
    assert "max-age" in response.headers["Strict-Transport-Security"]
    assert made.config["SESSION_COOKIE_NAME"] == "__Host-latchkey"
    assert made.config["SESSION_COOKIE_SECURE"] is True


@cases("method", ["POST", "OPTIONS"])
def test_path_without_its_slash_answers_like_the_path_with_it(
    visitor: FlaskClient, method: str
) -> None:
    headers = {"Origin": "https://shop.example.com"}

    short, long = (
        visitor.open(path, method=method, headers=headers, json=POST["json"])
        for path in ("/graphql", "/graphql/")
    )

    assert (short.status_code, short.data) == (200, long.data)
    assert [header for header in short.headers if header[0] != "X-Request-ID"] == [
        header for header in long.headers if header[0] != "X-Request-ID"
    ]


@cases("query", ["", "?query={__typename}"])
@cases(("method", "status"), [("GET", 308), ("HEAD", 308), ("PUT", 404), ("DELETE", 404)])
def test_other_methods_without_the_slash_are_readable_by_pages(
    visitor: FlaskClient, method: str, status: int, query: str
) -> None:
    headers = {"Accept": "application/json", "Origin": "https://shop.example.com"}

    response = visitor.open(f"/graphql{query}", method=method, headers=headers)

    assert response.status_code == status
    assert ("Location" in response.headers) is (status == 308)
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_refused_methods_are_readable_by_allowed_origins_alone(ports: Ports) -> None:
    allowed = "https://shop.example.com"
    made = create_app(
        ports, Settings(allowed_graphql_origins=(allowed,), playground_enabled=False)
    )
    for path, method, origin in product(
        ["/graphql", "/graphql/"], ["GET", "PUT"], [allowed, "https://evil.example"]
    ):
        response = made.test_client().open(path, method=method, headers={"Origin": origin})

        asked = (path, method, origin)
        assert response.status_code in (308, 404, 405), asked
        assert "Origin" in response.vary, asked
        shared = response.headers.get("Access-Control-Allow-Origin")
        assert shared == (allowed if origin == allowed else None), asked


@cases("path", ["/console", "/console/deliveries", "/console//apps", "/graphql"])
def test_redirect_to_the_path_with_a_slash_names_no_host(visitor: FlaskClient, path: str) -> None:
    """A proxy that ends TLS is reached by https, this process by http."""
    response = visitor.get(f"{path}?q=1", headers={"Host": "shop.example.com"})
    assert response.status_code == 308
    assert response.headers["Location"] == f"{path.replace('//', '/')}/?q=1"


@cases("path", ["//evil.example/console", "/\\evil.example/console", "//console"])
def test_redirect_leads_to_no_other_host(visitor: FlaskClient, path: str) -> None:
    location = visitor.get(path, base_url="http://shop.example.com").headers.get("Location", "/")
    assert location[:2] not in ("//", "/\\")
    assert ":" not in location


def test_other_paths_have_no_cors_headers(visitor: FlaskClient) -> None:
    for path in ("/nothing", "/graphql/x", "/graphqlx"):
        response = visitor.get(path, headers={"Origin": "https://shop.example.com"})
        assert "Access-Control-Allow-Origin" not in response.headers


@cases("accept", [{}, {"Accept": "application/json"}, {"Accept": "*/*"}])
def test_errors_are_json_for_json_clients(visitor: FlaskClient, accept: dict[str, str]) -> None:
    response = visitor.get("/nothing", headers=accept)
    assert response.status_code == 404
    [error] = response.get_json()["errors"]
    assert error["extensions"] == {"exception": {"code": "NotFound"}}


def test_error_page_is_self_contained(visitor: FlaskClient) -> None:
    response = visitor.get("/nothing", headers=HTML)
    assert (response.status_code, response.mimetype) == (404, "text/html")
    assert "<h1>Not Found</h1>" in response.text
    assert "style-src 'sha256-" in response.headers["Content-Security-Policy"]


@cases("headers", [{}, HTML])
def test_wrong_method_is_405_with_allow(visitor: FlaskClient, headers: dict[str, str]) -> None:
    response = visitor.delete("/console/visits", headers=headers)
    assert response.status_code == 405
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_internal_error_shows_only_a_request_id(
    visitor: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    [error] = visitor.get("/broken").get_json()["errors"]
    number = error["extensions"]["requestId"]
    assert error == {"message": "Internal Server Error", "extensions": {"requestId": number}}
    page = visitor.get("/broken", headers=HTML)
    assert page.status_code == 500
    for text in (str(error), page.text):
        assert "geheim" not in text
        assert "Traceback" not in text
    assert number in caplog.text
    assert "LookupError" in caplog.text


def test_body_that_is_too_large_is_refused(ports: Ports) -> None:
    made = create_app(ports, Settings(upload_max=10))
    made.add_url_rule("/console/form", "form", lambda: request.form["a"], methods=["POST"])
    client = made.test_client()
    assert client.post("/console/form", data={"a": "x"}).text == "x"
    assert client.post("/console/form", data={"a": "x" * 100}).status_code == 413


def test_session_cookie_is_used_only_by_the_console(visitor: FlaskClient) -> None:
    first = visitor.get("/console/visits")
    cookie = first.headers["Set-Cookie"]
    assert cookie.startswith("latchkey=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert visitor.get("/console/visits").text == "2"
    outside = visitor.get("/outside")
    assert outside.text == "no session"
    assert "Set-Cookie" not in outside.headers
    assert "Cookie" not in visitor.post("/graphql/", **POST).headers.get("Vary", "")


def test_playground_is_limited_by_ip_address_and_the_api_is_not(ports: Ports) -> None:
    client = create_app(ports, Settings()).test_client()
    codes = [client.get("/graphql/").status_code for _ in range(61)]
    assert codes == [200] * 60 + [429]
    assert client.post("/graphql/", **POST).status_code == 200
    assert client.get("/.well-known/jwks.json").status_code == 200
    second_process = client.get("/graphql/", environ_base={"REMOTE_ADDR": "203.0.113.7"})
    assert second_process.status_code == 200


def test_processes_share_counts_in_redis(ports: Ports, redis_url: str) -> None:
    settings = Settings(redis_url=redis_url)
    real = replace(ports, clock=SystemClock())
    here, there = (create_app(real, settings).test_client() for _ in range(2))
    assert [here.get("/graphql/").status_code for _ in range(30)] == [200] * 30
    assert [there.get("/graphql/").status_code for _ in range(31)] == [200] * 30 + [429]


def test_pages_are_served_while_redis_is_unreachable(ports: Ports) -> None:
    client = create_app(ports, Settings(redis_url="redis://127.0.0.1:1/0")).test_client()
    assert client.get("/graphql/").status_code == 200


def test_only_limited_pages_are_counted(ports: Ports) -> None:
    application = create_app(ports, Settings())
    [limiter] = application.extensions["limiter"]
    for path, counted in (("/graphql/", 1), ("/.well-known/jwks.json", 0), ("/nothing", 0)):
        application.test_client().get(path)
        assert limiter.storage.reset() == counted, path


@cases("path", ["/console/sign-in", "/oidc/default/backchannel-logout"])
def test_encoded_form_is_415_that_names_the_encoding(visitor: FlaskClient, path: str) -> None:
    form = {"logout_token": "x"}
    refused = visitor.post(path, data=form, headers={"Content-Encoding": "gzip"})
    assert refused.status_code == 415
    assert refused.headers["Accept-Encoding"] == "identity"
    assert "The Content-Encoding gzip isn" in refused.text
    plain = visitor.post(path, data=form, headers={"Content-Encoding": "identity"})
    assert plain.status_code in (400, 404, 422)
    assert visitor.get("/console/sign-in", headers={"Content-Encoding": "gzip"}).status_code == 200
