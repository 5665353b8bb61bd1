"""Coming back from a provider: in the browser in which one left, as whoever one was."""

from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from app.domain.authorization.permissions import Permission
from app.factory import create_app
from app.ports import Ports
from app.settings import Settings
from tests.builders.people import PASSWORD, make_staff, sessions_of
from tests.builders.providers import set_up
from tests.console.staff_client import Desk
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import OwnProvider, own_provider

WITH = "/console/sign-in/with/latchkey.authentication.openidconnect"
INSIDE = "/console/account/"
FOREIGN = "This sign-in did not begin in this browser"


@pytest.fixture
def alice(shop: Ports) -> int:
    return make_staff(shop, "alice@sso.example", Permission.MANAGE_SETTINGS)


@pytest.fixture
def provider(shop: Ports, clock: FakeClock, alice: int) -> Iterator[OwnProvider]:
    with own_provider(clock) as running:
        set_up(shop, running)
        yield running


def leave(desk: Desk, provider: OwnProvider, sub: str = "alice", wanted: str = INSIDE) -> str:
    """Go to the provider, sign in there, and be sent back to the address that is returned."""
    asked = parse_qs(urlsplit(desk.open(f"{WITH}?next={quote(wanted)}").leads_to).query)
    provider.grant("a code", id_token=provider.sign(provider.id_claims(asked["nonce"][0], sub)))
    return f"{WITH}/callback?code=a+code&state={asked['state'][0]}"


def another_browser(shop: Ports) -> Desk:
    return Desk(create_app(shop, Settings()).test_client(), shop)


@pytest.mark.parametrize("has_begun", [False, True])
def test_callback_of_another_browser_is_refused(
    nobody: Desk, shop: Ports, alice: int, provider: OwnProvider, *, has_begun: bool
) -> None:
    """Whoever follows it would sit in an account that is not theirs."""
    if has_begun:
        leave(nobody, provider)
    refused = nobody.open(leave(another_browser(shop), provider))
    assert refused.status == 422
    assert FOREIGN in refused.text
    assert sessions_of(shop, alice) == []
    assert nobody.open(INSIDE).status == 303


def test_signing_in_once_more_ends_the_session_that_was(
    nobody: Desk, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    nobody.open(leave(nobody, provider))
    [first] = sessions_of(shop, alice)
    assert nobody.open(leave(nobody, provider)).leads_to == INSIDE
    [second] = sessions_of(shop, alice)
    assert first.id != second.id
    assert nobody.open(INSIDE).status == 200


def test_reauthentication_as_another_user_is_refused(
    nobody: Desk, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    bob = make_staff(shop, "bob@sso.example", Permission.MANAGE_SETTINGS)
    nobody.open(leave(nobody, provider))
    assert nobody.open(leave(nobody, provider, "bob")).status == 422
    assert len(sessions_of(shop, alice)) == 1
    assert sessions_of(shop, bob) == []
    assert "alice@sso.example" in nobody.open(INSIDE).text


def test_sso_session_reauthenticates_at_the_provider(
    nobody: Desk, provider: OwnProvider, clock: FakeClock
) -> None:
    nobody.open(leave(nobody, provider))
    clock.pass_(minutes=6)
    asked = nobody.open("/console/access/?ask=storefront&open=false").leads_to
    assert asked.startswith("/console/prove?next=")
    assert nobody.send(asked, {"proof_password": PASSWORD}, seen_at=INSIDE).status == 422
    assert nobody.open("/console/access/?ask=storefront&open=false").leads_to == asked


@pytest.mark.parametrize("elsewhere", ["//evil.example/", "https://evil.example/", "/graphql/"])
def test_callback_ignores_a_foreign_next_url(
    nobody: Desk, provider: OwnProvider, elsewhere: str
) -> None:
    assert nobody.open(leave(nobody, provider, wanted=elsewhere)).leads_to == "/console/"
