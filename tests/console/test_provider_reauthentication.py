"""A provider that knows somebody's browser has not asked who sits before it."""

import html
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from flask import Flask

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import make_staff, sessions_of
from tests.builders.providers import set_up
from tests.builders.second_factors import make_authenticator_app, one_time_code
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.servers.own_provider import OwnProvider, own_provider

WITH = "/console/sign-in/with/latchkey.authentication.openidconnect"
ALICE = 1
CLOSING = "/console/access/?ask=storefront&open=false"


@pytest.fixture
def provider(shop: Ports, clock: FakeClock) -> Iterator[OwnProvider]:
    make_staff(shop, "alice@sso.example", Permission.MANAGE_SETTINGS)
    make_staff(shop, "boss@example.com", Permission.MANAGE_SETTINGS, Permission.MANAGE_STAFF)
    with own_provider(clock) as running:
        set_up(shop, running)
        yield running


def come_in(console: ConsoleClient, provider: OwnProvider, **claims: object) -> Page:
    """Go to the provider and come back with what it tells at once, asking nothing."""
    question = parse_qs(urlsplit(console.open(f"{WITH}?next={quote(CLOSING)}").leads_to).query)
    claims_of_token = provider.id_claims(question["nonce"][0], **claims)
    provider.grant("a code", id_token=provider.sign(claims_of_token))
    return console.open(f"{WITH}/callback?code=a+code&state={question['state'][0]}")


@cases("unclear", [..., None, 0, "yesterday", True, 10**15])
def test_missing_auth_time_counts_as_fresh(
    app: Flask, shop: Ports, provider: OwnProvider, unclear: object
) -> None:
    console = ConsoleClient(app.test_client(), shop)
    come_in(console, provider, auth_time=unclear)
    assert console.open(CLOSING).status == 200


def test_fresh_provider_sign_in_is_a_reauthentication(
    anonymous_console: ConsoleClient, provider: OwnProvider
) -> None:
    come_in(anonymous_console, provider, auth_time=provider.now() - 60)
    assert anonymous_console.open(CLOSING).status == 200


def test_unattended_browser_that_a_provider_knows_proves_nothing(
    anonymous_console: ConsoleClient, provider: OwnProvider
) -> None:
    """Neither by signing in anew nor by leaving out what asks the provider to ask."""
    morning = provider.now() - 3600
    came = come_in(anonymous_console, provider, auth_time=morning)
    assert anonymous_console.follow(came).leads_to.startswith("/console/prove?next=")
    again = come_in(anonymous_console, provider, auth_time=morning)
    proving = anonymous_console.follow(anonymous_console.follow(again))
    assert "Confirm it's you" in proving.text
    assert "You're about to close the storefront." in proving.text
    assert "didn't ask you to sign in again" in proving.text
    come_in(anonymous_console, provider, auth_time=provider.now())
    assert anonymous_console.open(CLOSING).status == 200


def test_whose_provider_is_gone_is_led_out_to_come_in_another_way(
    anonymous_console: ConsoleClient, provider: OwnProvider, shop: Ports
) -> None:
    come_in(anonymous_console, provider, auth_time=provider.now() - 3600)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}, active=False))
    question = anonymous_console.open(CLOSING)
    proving = anonymous_console.follow(question)
    assert "isn't set up anymore" in proving.text
    assert '<button class="btn btn-primary"' in proving.html
    *_, way_out = re.findall(r'action="(/console/sign-out[^"]*)"', proving.html)
    left = anonymous_console.send(html.unescape(way_out), seen_at=question.leads_to)
    # Whoever comes in again is where they wanted to be.
    assert parse_qs(urlsplit(left.leads_to).query) == {"next": [CLOSING]}


def test_provider_is_no_proof_of_a_second_factor(
    anonymous_console: ConsoleClient, provider: OwnProvider, shop: Ports
) -> None:
    """Not even a sign-in of a moment ago: the account has something stronger."""
    come_in(anonymous_console, provider, auth_time=provider.now())
    assert anonymous_console.open(CLOSING).status == 200
    secret = make_authenticator_app(shop, ALICE)
    come_in(anonymous_console, provider, auth_time=provider.now())
    asked = anonymous_console.follow(anonymous_console.open(CLOSING))
    assert "From your authenticator app." in asked.text
    assert "Continue with" not in asked.text
    prove = f"/console/prove?next={quote(CLOSING)}"
    anonymous_console.send(prove, {"proof_code": one_time_code(shop, secret)})
    assert anonymous_console.open(CLOSING).status == 200
    assert [one.amr for one in sessions_of(shop, ALICE)] == ["otp mfa"]
