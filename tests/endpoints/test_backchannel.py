"""What a provider gets at the back-channel logout address (Back-Channel Logout 1.0, 2.8)."""

import pytest
from flask.testing import FlaskClient

from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.people import visit
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.servers.http import Reply
from tests.servers.own_provider import OwnProvider
from tests.services.provider_logins import sign_in

PATH = "/oidc/default/backchannel-logout"


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


def test_valid_logout_token_ends_the_session(
    client: FlaskClient, ports: Ports, provider: OwnProvider
) -> None:
    tokens = sign_in(ports, provider)
    logout = provider.sign(provider.logout_claims(sid="session-of-alice"))

    response = client.post(PATH, data={"logout_token": logout})

    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Cache-Control"] == "no-store"
    assert not identify(ports, visit(tokens.access)).actor.is_user


@cases("data", [{}, {"logout_token": ""}, {"logout_token": "garbage"}, {"other": "x"}])
def test_other_input_is_an_invalid_request(
    client: FlaskClient, provider: OwnProvider, data: dict[str, str]
) -> None:
    response = client.post(PATH, data=data)
    assert (response.status_code, response.json["error"]) == (400, "invalid_request")  # type: ignore[index]
    assert response.headers["Cache-Control"] == "no-store"


def test_provider_that_is_not_active_is_not_found(client: FlaskClient) -> None:
    assert client.post(PATH, data={"logout_token": "x"}).status_code == 404


def test_unreachable_keys_are_fetched_again_later(
    client: FlaskClient, provider: OwnProvider
) -> None:
    provider.server.answer("/keys", Reply(503))
    logout = provider.sign(provider.logout_claims(sub="alice"))
    assert client.post(PATH, data={"logout_token": logout}).status_code == 503


def test_oversized_body_is_not_read(client: FlaskClient, provider: OwnProvider) -> None:
    assert client.post(PATH, data={"logout_token": "x" * 100_000}).status_code == 413


@cases("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_other_methods_are_refused(client: FlaskClient, method: str) -> None:
    response = client.open(PATH, method=method)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
