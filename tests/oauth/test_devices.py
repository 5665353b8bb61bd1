"""Device authorization over HTTP (RFC 8628), as a program without a browser speaks it."""

from collections.abc import Iterator
from typing import Any

import pytest

from app.domain.authorization.actor import Actor
from app.domain.oauth import COMMAND_LINE, DEFAULT_SCOPES, OFFLINE
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.oauth.devices import deny_device
from app.services.oauth.grants import find_client
from tests.builders.oauth import Registered, let_in, make_client
from tests.builders.people import NOBODY, actor_of, make_user, visit
from tests.builders.shop import close_storefront
from tests.fakes.clock import FakeClock
from tests.oauth.pages import BASE, Provider, provider_of
from tests.oauth.test_provider import id_token

GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: the use cases are tested on both."""
    return sqlite_url


@pytest.fixture
def provider(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


@pytest.fixture
def kiosk(ports: Ports) -> Registered:
    scopes = DEFAULT_SCOPES | {OFFLINE}
    return make_client(ports, "Kiosk", is_public=True, allows_devices=True, scopes=scopes)


@pytest.fixture
def person(ports: Ports) -> Actor:
    return actor_of(ports, make_user(ports))


def ask(provider: Provider, client: Registered, **form: str) -> Any:
    auth = (client.id, client.secret) if client.secret else None
    named = {} if auth else {"client_id": client.id}
    return provider.post("/oauth/device_authorization", {**named, **form}, auth=auth)


def poll(provider: Provider, client: Registered, codes: Any) -> Any:
    return provider.token(client, {"grant_type": GRANT, "device_code": codes["device_code"]})


def error(answer: Any) -> str:
    assert answer.status_code in (400, 401, 403), answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return str(answer.json()["error"])


def test_device_polls_until_its_person_has_decided(
    ports: Ports, provider: Provider, kiosk: Registered, person: Actor, clock: FakeClock
) -> None:
    described = provider.get("/.well-known/openid-configuration").json()
    assert described["device_authorization_endpoint"] == f"{BASE}/oauth/device_authorization"
    assert GRANT in described["grant_types_supported"]
    codes = ask(provider, kiosk).json()
    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert codes["verification_uri"] == f"{BASE}/oauth/device"
    assert codes["verification_uri_complete"].endswith(f"?user_code={codes['user_code']}")
    assert error(poll(provider, kiosk, codes)) == "authorization_pending"
    assert error(poll(provider, kiosk, codes)) == "slow_down"
    clock.pass_(seconds=9)
    assert error(poll(provider, kiosk, codes)) == "slow_down"
    clock.pass_(seconds=15)
    assert error(poll(provider, kiosk, codes)) == "authorization_pending"
    let_in(ports, person, codes["user_code"])
    answer = poll(provider, kiosk, codes)
    assert answer.status_code == 200, answer.text
    tokens = answer.json()
    assert identify(ports, visit(tokens["access_token"])).actor.user_id == person.user_id
    assert id_token(provider, tokens["id_token"], kiosk.id)["email"] == "customer@example.com"
    assert provider.refresh(kiosk, tokens["refresh_token"]).status_code == 200
    assert error(poll(provider, kiosk, codes)) == "invalid_grant"


def test_denied_and_expired_codes_say_so(
    ports: Ports, provider: Provider, kiosk: Registered, person: Actor, clock: FakeClock
) -> None:
    codes, late = ask(provider, kiosk).json(), ask(provider, kiosk).json()
    deny_device(ports, person, codes["user_code"])
    assert error(poll(provider, kiosk, codes)) == "access_denied"
    clock.pass_(minutes=10)
    assert error(poll(provider, kiosk, late)) == "expired_token"


def test_device_asks_for_scopes_of_its_client_alone(
    ports: Ports, provider: Provider, kiosk: Registered, person: Actor
) -> None:
    codes = ask(provider, kiosk, scope="openid staff").json()
    let_in(ports, person, codes["user_code"])
    tokens = poll(provider, kiosk, codes).json()
    assert tokens["scope"] == "openid"
    assert "refresh_token" not in tokens
    assert error(ask(provider, kiosk, scope="staff")) == "invalid_scope"
    confidential = make_client(ports, "Lobby", allows_devices=True)
    assert ask(provider, confidential).status_code == 200
    nobody = Registered(confidential.client, "")
    assert error(ask(provider, nobody)) == "invalid_client"
    for other in (make_client(ports, "Forum"), make_client(ports, "Page", is_public=True)):
        assert error(ask(provider, other)) == "unauthorized_client"


def test_devices_that_ask_for_staff_rights_are_led_to_the_console(
    ports: Ports, provider: Provider, kiosk: Registered
) -> None:
    """Whose sign-in is no storefront traffic: it works while the storefront is closed."""
    client = find_client(ports, NOBODY, COMMAND_LINE)
    assert client is not None
    command_line = Registered(client, "")
    close_storefront(ports)
    codes = ask(provider, command_line).json()
    assert codes["verification_uri"] == f"{BASE}/console/device"
    # No link fills in the code: its person reads it from the device.
    assert "verification_uri_complete" not in codes
    assert error(poll(provider, command_line, codes)) == "authorization_pending"
    assert error(ask(provider, kiosk)) == "temporarily_unavailable"
    customer = actor_of(ports, make_user(ports))
    with pytest.raises(Refused):
        let_in(ports, customer, codes["user_code"])
