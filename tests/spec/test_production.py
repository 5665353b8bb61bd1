"""A server as it stands on the open network: a public address, no playground, no loose talk."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import jwt
import pytest
import requests
from sqlalchemy import text

from tests.builders.people import PASSWORD
from tests.spec.client import Client
from tests.spec.documents import LOGIN, ME_QUERY, REFRESH, SHOP
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_shop import RecordedShop, make_recorded_shop
from tests.spec.server import running

pytestmark = pytest.mark.xdist_group("production")

PUBLIC_URL = "https://shop.example.com"
ISSUER = f"{PUBLIC_URL}/graphql/"


@pytest.fixture(scope="module")
def standing(
    _migrated_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Client, RecordedShop]]:
    folder = tmp_path_factory.mktemp("production")
    url = f"sqlite:///{shutil.copy(_migrated_file, folder / 'shop.sqlite3')}"
    shop = make_recorded_shop(url)
    shop.issuer = ISSUER
    settings = {
        "APP_ENV": "production",
        "MAIL_URL": f"file:{folder / 'mails.txt'}",
        "PUBLIC_URL": PUBLIC_URL,
        "PLAYGROUND_ENABLED": "false",
        "ALLOWED_GRAPHQL_ORIGINS": "https://shop.example.com",
        "JWT_TTL_ACCESS": "60",
        "JWT_TTL_REFRESH": "600",
        "GRAPHQL_BATCH_MAX": "2",
        "GRAPHQL_MUTATIONS_MAX": "1",
        "SINGLE_USE_REFRESH_TOKENS": "true",
    }
    with running(folder, url, **settings) as server, requests.Session() as http:
        yield Client(server, http), shop
    shop.close()


@pytest.fixture
def public(standing: tuple[Client, RecordedShop]) -> Client:
    standing[1].put_back()
    return standing[0]


@pytest.fixture
def people(standing: tuple[Client, RecordedShop]) -> RecordedShop:
    return standing[1]


def test_issuer_is_the_public_url_for_any_request(public: Client) -> None:
    response = public.run(LOGIN, email="customer@example.com", password=PASSWORD)
    payload = response.data["tokenCreate"]
    for token in (payload["token"], payload["refreshToken"]):
        claims = jwt.decode(token, options={"verify_signature": False})
        assert claims["iss"] == ISSUER


def test_only_the_public_url_is_accepted_as_issuer(public: Client, people: RecordedShop) -> None:
    forger = Forger(people)
    assert public.run(ME_QUERY, forger.sign(forger.claims())).data["me"]
    others = (public.server.issuer, "http://localhost:8000/graphql/", f"{PUBLIC_URL}/graphql")
    for issuer in others:
        response = public.run(ME_QUERY, forger.sign(forger.claims(iss=issuer)))
        assert response.code == "InvalidTokenError"


def test_lifetimes_are_settings(public: Client) -> None:
    response = public.run(LOGIN, email="customer@example.com", password=PASSWORD)
    payload = response.data["tokenCreate"]
    lifetimes = []
    for token in (payload["token"], payload["refreshToken"]):
        claims = jwt.decode(token, options={"verify_signature": False})
        lifetimes.append(claims["exp"] - claims["iat"])
    assert lifetimes == [60, 600]


def test_refresh_tokens_become_single_use_by_one_setting(
    public: Client, people: RecordedShop
) -> None:
    first = people.refresh("customer")
    query = "mutation ($t: String) { tokenRefresh(refreshToken: $t) { token refreshToken } }"
    payload = public.run(query, t=first).data["tokenRefresh"]
    assert public.run(ME_QUERY, payload["token"]).data["me"] == {"email": "customer@example.com"}
    assert payload["refreshToken"] not in (None, first)
    assert public.run(query, t=payload["refreshToken"]).data["tokenRefresh"]["token"]
    assert public.run(query, t=first).data["tokenRefresh"]["token"] is None


def test_get_is_405_without_the_playground(public: Client) -> None:
    response = public.send("GET", "/graphql/?query=%7B__typename%7D")
    assert response.status == 405
    assert "POST" in response.headers["Allow"]
    assert "__typename" not in response.body


def test_limits_of_a_request_are_settings(public: Client) -> None:
    assert public.post([{"query": SHOP}] * 2).status == 200
    assert public.post([{"query": SHOP}] * 3).status == 400
    verify = 'tokenVerify(token: "x") { isValid }'
    assert public.run(f"mutation {{ a: {verify} }}").status == 200
    assert public.run(f"mutation {{ a: {verify} b: {verify} }}").status == 400


@pytest.mark.parametrize(
    ("origin", "allowed"), [(PUBLIC_URL, PUBLIC_URL), ("https://evil.example", None)]
)
def test_only_allowed_origins_can_read_responses(
    public: Client, origin: str, allowed: str | None
) -> None:
    response = public.post({"query": SHOP}, headers={"Origin": origin})
    assert response.headers.get("Access-Control-Allow-Origin") == allowed
    assert "Origin" in response.headers["Vary"]


@contextmanager
def _broken_database(people: RecordedShop) -> Iterator[None]:
    with people.ports.database.transaction() as session:
        session.execute(text("ALTER TABLE sessions RENAME TO elsewhere"))
    yield
    with people.ports.database.transaction() as session:
        session.execute(text("ALTER TABLE elsewhere RENAME TO sessions"))


def test_unexpected_error_shows_only_a_request_id(public: Client, people: RecordedShop) -> None:
    token = people.access("customer")
    with _broken_database(people):
        response = public.run(ME_QUERY, token)
    (error,) = response.errors
    assert error["message"] == "Internal Server Error"
    assert error["extensions"].keys() == {"requestId"}
    for word in ("Traceback", "sqlite", "elsewhere", "sessions", ".py"):
        assert word not in str(response.body)
    assert error["extensions"]["requestId"] in public.server.new_errors()
    assert public.run(ME_QUERY, token).data["me"] == {"email": "customer@example.com"}


def test_error_log_has_the_traceback_without_secrets(public: Client, people: RecordedShop) -> None:
    refresh = people.refresh("customer")
    with _broken_database(people):
        login = public.run(LOGIN, email="customer@example.com", password=PASSWORD)
        refreshed = public.run(REFRESH, token=refresh)
    for response in (login, refreshed):
        assert response.errors[0]["message"] == "Internal Server Error"
    log = public.server.new_errors()
    assert "/app/services/sign_in/password_login.py" in log
    session = jwt.decode(refresh, options={"verify_signature": False})
    for secret in (PASSWORD, "$argon2", refresh, session["token"], session["csrf_token"]):
        assert secret not in log
