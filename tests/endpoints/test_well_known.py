"""The key set: what verifiers, browsers and caches get at ``/.well-known/jwks.json``."""

from dataclasses import replace

import jwt
import pytest
from flask.testing import FlaskClient

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.keys import ring, rotate_keys
from tests.fakes.clock import FakeClock
from tests.fakes.known_keys import KnownKeyStore
from tests.fixtures.cases import cases
from tests.fixtures.flask_app import LiveServer
from tests.fixtures.ports import fake_ports

PATH = "/.well-known/jwks.json"
SHOP = "https://shop.example.com"
STRANGER = "https://evil.example.com"


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    with_fakes = fake_ports(sqlite_url, clock)
    return replace(with_fakes, keys=KnownKeyStore())


def client_of(ports: Ports, *origins: str) -> FlaskClient:
    """A client of another process of the installation."""
    settings = Settings(allowed_graphql_origins=origins or ("*",))
    return create_app(ports, settings).test_client()


def test_key_set_lists_the_public_members_and_no_private_one(
    ports: Ports, client: FlaskClient
) -> None:
    response = client.get(PATH)
    assert response.status_code == 200
    assert response.content_type == "application/json"
    document = response.get_json()
    assert list(document) == ["keys"]
    assert [sorted(key) for key in document["keys"]] == [
        ["alg", "e", "kid", "kty", "n", "use"],
        ["alg", "e", "kid", "kty", "n", "use"],
    ]
    for key in document["keys"]:
        assert (key["kty"], key["use"], key["alg"], key["e"]) == ("RSA", "sig", "RS256", "AQAB")
    assert [key["kid"] for key in document["keys"]] == list(ring(ports).ring.published)


def test_token_verifies_with_only_the_key_set(ports: Ports, client: FlaskClient) -> None:
    claims = {"exp": 4102444800}
    before = ports.keys.sign(ring(ports).signer, claims)
    rotate_keys(ports, OPERATOR, force=True)
    after = ports.keys.sign(ring(ports).signer, claims)
    keys = jwt.PyJWKSet.from_json(client.get(PATH).text)
    for token in (before, after):
        key = keys[jwt.get_unverified_header(token)["kid"]]
        assert jwt.decode(token, key, ["RS256"]) == claims


def test_token_verifies_by_the_key_set_that_pyjwt_fetches(
    ports: Ports, live_server: LiveServer
) -> None:
    token = ports.keys.sign(ring(ports).signer, {"exp": 4102444800})

    key = jwt.PyJWKClient(live_server.url(PATH)).get_signing_key_from_jwt(token)

    assert jwt.decode(token, key, ["RS256"]) == {"exp": 4102444800}


def test_active_key_is_listed_first(ports: Ports, client: FlaskClient) -> None:
    rotate_keys(ports, OPERATOR, force=True)
    keys = client.get(PATH).get_json()["keys"]
    assert len(keys) == 3
    assert keys[0]["kid"] == ring(ports).ring.active_kid


def test_key_set_is_cacheable_for_five_minutes(client: FlaskClient) -> None:
    response = client.get(PATH)
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert response.get_etag()[0]
    assert response.get_etag()[1] is False, "a strong tag"
    assert "Set-Cookie" not in response.headers


@cases("form", ["{}", "W/{}", '"other", {}', "*"])
def test_matching_etag_is_304(client: FlaskClient, form: str) -> None:
    etag = client.get(PATH).headers["ETag"]
    response = client.get(PATH, headers={"If-None-Match": form.format(etag)})
    assert response.status_code == 304
    assert response.data == b""
    assert response.headers["ETag"] == etag
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Content-Type" not in response.headers


@cases("header", ['"other"', "", "W/", "nonsense", '"'])
def test_other_etag_gets_the_key_set(client: FlaskClient, header: str) -> None:
    response = client.get(PATH, headers={"If-None-Match": header})
    assert (response.status_code, len(response.get_json()["keys"])) == (200, 2)


def test_rotation_is_visible_on_the_next_request_in_every_process(
    ports: Ports, sqlite_url: str, clock: FakeClock
) -> None:
    other = replace(fake_ports(sqlite_url, clock), keys=KnownKeyStore(100))
    second_process = client_of(other)
    before = second_process.get(PATH)
    rotate_keys(ports, OPERATOR, force=True)
    after = second_process.get(PATH, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert [key["kid"] for key in after.get_json()["keys"]] == list(ring(ports).ring.published)
    assert client_of(ports).get(PATH).headers["ETag"] == after.headers["ETag"]
    other.database.close()


def test_head_has_the_same_headers_without_a_body(client: FlaskClient) -> None:
    got, head = client.get(PATH), client.head(PATH)
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers.pop("X-Request-ID") != got.headers.pop("X-Request-ID")
    assert head.headers == got.headers


@cases("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE"])
def test_other_methods_are_not_allowed(client: FlaskClient, method: str) -> None:
    response = client.open(PATH, method=method)
    assert response.status_code == 405
    assert sorted(response.headers["Allow"].split(", ")) == ["GET", "HEAD", "OPTIONS"]


def test_only_allowed_origins_can_read_it(ports: Ports) -> None:
    client = client_of(ports, SHOP)
    for path_headers, allowed in (
        ({"Origin": SHOP}, SHOP),
        ({"Origin": STRANGER}, None),
        ({}, None),
    ):
        response = client.get(PATH, headers=path_headers)
        assert response.status_code == 200
        assert response.headers.get("Access-Control-Allow-Origin") == allowed
        assert response.headers["Vary"] == "Origin"
        by_name = response.headers.get("Access-Control-Allow-Credentials")
        assert by_name == (None if allowed is None else "true")


def test_a_preflight_is_answered_without_a_body(ports: Ports) -> None:
    client = client_of(ports, SHOP)
    response = client.options(PATH, headers={"Origin": SHOP})
    assert (response.status_code, response.data) == (204, b"")
    assert "Content-Type" not in response.headers
    assert response.headers["Access-Control-Allow-Origin"] == SHOP
    assert response.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    refused = client.options(PATH, headers={"Origin": STRANGER})
    assert refused.status_code == 204
    assert "Access-Control-Allow-Origin" not in refused.headers


def test_any_origin_can_read_it_without_configured_origins(client: FlaskClient) -> None:
    response = client.get(PATH, headers={"Origin": STRANGER})
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Vary" not in response.headers
