"""Callers who want ``/auth/check`` to tell a service something else than who they are."""

from urllib.parse import unquote

import pytest
from flask.testing import FlaskClient
from werkzeug.test import Client

from app.composition.settings import Settings
from app.ports import Ports
from app.web.headers import IDENTITY_HEADERS
from tests.builders.people import change_user, make_staff, make_user, sign_in
from tests.fixtures.kept_application import AppOn

CHECK = "/auth/check"
HOST = {"Host": "localhost:8000"}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: the attacks are on headers."""
    return sqlite_url


@pytest.fixture
def proxy(ports: Ports, app_on: AppOn) -> FlaskClient:
    return app_on(ports, Settings(forward_auth=True)).test_client()


EMAILS = [
    "a\r\nX-Auth-Staff: true\r\nX: @example.com",
    "a\nx@example.com",
    "50%0d%0aX-Auth-Staff: true@example.com",
    "æøå@bücher.example",
    "\u0130\U0001f600@example.com",
    "a b\t\x00\x7f@example.com",
    '"a,b;c=d"@example.com',
]


def test_email_stays_one_ascii_value(ports: Ports, proxy: FlaskClient) -> None:
    user = make_user(ports)
    token = sign_in(ports, user).access
    for email in EMAILS:
        change_user(ports, user, email=email)

        response = proxy.get(CHECK, headers={**HOST, "Authorization": f"Bearer {token}"})

        assert response.status_code == 200, email
        shown = response.headers["X-Auth-Email"]
        assert shown.isascii(), email
        assert shown.isprintable(), email
        assert " " not in shown, email
        assert unquote(shown) == email
        assert response.headers.getlist("X-Auth-Staff") == ["false"], email


def test_longest_email_keeps_the_headers_small(ports: Ports, proxy: FlaskClient) -> None:
    user = make_user(ports, is_superuser=True)
    token = sign_in(ports, user).access
    change_user(ports, user, email="\U0001f600" * 254)
    response = proxy.get(CHECK, headers={**HOST, "Authorization": f"Bearer {token}"})
    told = sum(len(name) + len(response.headers[name]) for name in IDENTITY_HEADERS.values())
    assert told < 4096  # a page of memory, which is what nginx has for the headers of a response


def test_what_the_client_sends_is_never_told_back(ports: Ports, proxy: FlaskClient) -> None:
    token = sign_in(ports, make_user(ports)).access
    forged = dict.fromkeys(IDENTITY_HEADERS.values(), "MANAGE_ORDERS")
    headers = {**HOST, **forged, "Authorization": f"Bearer {token}"}
    response = proxy.get(f"{CHECK}?required=1", headers=headers)
    assert "MANAGE_ORDERS" not in str(response.headers)
    assert proxy.get(f"{CHECK}?require=MANAGE_ORDERS", headers=headers).status_code == 403


FORWARDED: list[dict[str, str]] = [
    {"X-Forwarded-Method": "OPTIONS"},
    {"X-Forwarded-Uri": "/auth/check?required=0"},
    {"X-Original-URL": "/healthz"},
    {"X-Rewrite-URL": "/healthz"},
    {"X-HTTP-Method-Override": "OPTIONS"},
    {"X-Forwarded-Prefix": "/.well-known"},
    {"X-Forwarded-Host": "evil.example.com"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"Cookie": "session=x; Authorization=Bearer x"},
]


def test_forwarded_headers_change_no_answer(ports: Ports, proxy: FlaskClient) -> None:
    token = sign_in(ports, make_user(ports)).access
    for forwarded in FORWARDED:
        headers = {**HOST, **forwarded}
        signed_in = {**headers, "Authorization": f"Bearer {token}"}
        for query, sent, status in (
            ("?required=1", signed_in, 200),
            ("?staff=1", signed_in, 403),
            ("?required=1", headers, 401),
        ):
            answer = proxy.get(f"{CHECK}{query}", headers=sent)
            assert answer.status_code == status, (forwarded, query)


def test_bad_credential_in_the_first_header_is_not_saved_by_the_second(
    ports: Ports, proxy: FlaskClient
) -> None:
    token = sign_in(ports, make_staff(ports)).access
    good, bad = f"Bearer {token}", "nonsense"
    headers = {**HOST, "Authorization": good, "Authorization-Bearer": bad}
    assert proxy.get(CHECK, headers=headers).status_code == 401
    assert proxy.get(CHECK, headers={**HOST, "Authorization": good}).status_code == 200


def test_another_scheme_is_no_credential(ports: Ports, proxy: FlaskClient) -> None:
    token = sign_in(ports, make_staff(ports)).access
    for scheme in ("Basic", "Digest", "Token", "Bearer,", "Bearer:"):
        headers = {**HOST, "Authorization": f"{scheme} {token}"}
        assert proxy.get(f"{CHECK}?required=1", headers=headers).status_code == 401, scheme


def test_repeated_credential_headers_are_no_credential(ports: Ports, app_on: AppOn) -> None:
    """A server joins repeated headers with a comma, by which no token can be told."""
    app = app_on(ports, Settings(forward_auth=True))
    tokens = [sign_in(ports, make_user(ports, f"{name}@example.com")).access for name in "ab"]
    joined = ",".join(f"Bearer {token}" for token in tokens)
    response = Client(app).get(CHECK, headers={**HOST, "Authorization": joined})
    assert response.status_code == 401


def test_other_spellings_of_the_path_never_pass(ports: Ports, proxy: FlaskClient) -> None:
    token = sign_in(ports, make_staff(ports)).access
    for path in ("/auth/check/", "/auth//check", "/Auth/Check", "/auth/check/..", "/auth/check;x"):
        response = proxy.get(path, headers={**HOST, "Authorization": f"Bearer {token}"})
        assert response.status_code in (301, 308, 404), path
        assert not set(IDENTITY_HEADERS.values()) & set(response.headers.keys()), path
