"""Coming back from a provider: in the browser in which one left, as whoever one was."""

import html
import re
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.builders.people import PASSWORD, make_staff, sessions_of
from tests.builders.providers import set_up
from tests.builders.shop import configure_shop, set_mode
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.house.sources import ROOT
from tests.servers.own_provider import OwnProvider, own_provider

PLUGIN_ID = "latchkey.authentication.openidconnect"
WITH = f"/console/sign-in/with/{PLUGIN_ID}"
INSIDE = "/console/account/"
LINK = f"/console/account/security/sso/{PLUGIN_ID}/link"
FOREIGN = "This sign-in started in another browser"


@pytest.fixture
def alice(shop: Ports) -> int:
    return make_staff(shop, "alice@sso.example", Permission.MANAGE_SETTINGS)


@pytest.fixture
def provider(shop: Ports, clock: FakeClock, alice: int) -> Iterator[OwnProvider]:
    with own_provider(clock) as running:
        set_up(shop, running)
        yield running


def leave(
    console: ConsoleClient, provider: OwnProvider, sub: str = "alice", next_path: str = INSIDE
) -> str:
    """Go to the provider, sign in there, and be sent back to the address that is returned."""
    query = parse_qs(urlsplit(console.open(f"{WITH}?next={quote(next_path)}").leads_to).query)
    provider.grant("a code", id_token=provider.sign(provider.id_claims(query["nonce"][0], sub)))
    return f"{WITH}/callback?code=a+code&state={query['state'][0]}"


def another_browser(shop: Ports) -> ConsoleClient:
    return ConsoleClient(create_app(shop, Settings()).test_client(), shop)


@pytest.mark.parametrize("has_begun", [False, True])
def test_callback_of_another_browser_is_refused(
    anonymous_console: ConsoleClient,
    shop: Ports,
    alice: int,
    provider: OwnProvider,
    *,
    has_begun: bool,
) -> None:
    """Whoever follows it would sit in an account that is not theirs."""
    if has_begun:
        leave(anonymous_console, provider)
    refused = anonymous_console.open(leave(another_browser(shop), provider))
    assert refused.status == 422
    assert FOREIGN in refused.text
    assert sessions_of(shop, alice) == []
    assert anonymous_console.open(INSIDE).status == 303


def test_late_answer_of_another_page_leaves_the_way_back(
    anonymous_console: ConsoleClient, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    """A slow page that was asked for first sets the session's cookie while one is away."""
    slow = another_browser(shop)
    slow.open("/console/sign-in")
    back = leave(anonymous_console, provider)
    late = slow.client.get_cookie("latchkey")
    assert late is not None
    anonymous_console.client.set_cookie("latchkey", late.value)
    assert anonymous_console.open(back).leads_to == INSIDE
    assert len(sessions_of(shop, alice)) == 1


def test_provider_is_sent_the_redirect_uris_that_the_guide_says(
    anonymous_console: ConsoleClient, shop: Ports, provider: OwnProvider
) -> None:
    guide = (ROOT / "docs/guides/single-sign-on.md").read_text()
    paths = re.findall(r"`https://SHOP(/(?:console|account)/\S+/callback)`", guide)
    configure_shop(shop, hosted_pages=True, hosted_provider_login=True)
    sent = []
    for path in paths:
        begin = path.removesuffix("/callback").replace("PLUGIN_ID", PLUGIN_ID)
        there = urlsplit(anonymous_console.open(begin).leads_to)
        assert there.geturl().startswith(provider.url)
        sent += parse_qs(there.query)["redirect_uri"]
    assert len(sent) == 2
    named = [path.replace("PLUGIN_ID", PLUGIN_ID) for path in paths]
    assert [urlsplit(one).path for one in sent] == named


def test_signing_in_once_more_ends_the_session_that_was(
    anonymous_console: ConsoleClient, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    anonymous_console.open(leave(anonymous_console, provider))
    [first] = sessions_of(shop, alice)
    assert anonymous_console.open(leave(anonymous_console, provider)).leads_to == INSIDE
    [second] = sessions_of(shop, alice)
    assert first.id != second.id
    assert anonymous_console.open(INSIDE).status == 200


def test_reauthentication_as_another_user_is_refused(
    anonymous_console: ConsoleClient, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    bob = make_staff(shop, "bob@sso.example", Permission.MANAGE_SETTINGS)
    anonymous_console.open(leave(anonymous_console, provider))
    assert anonymous_console.open(leave(anonymous_console, provider, "bob")).status == 422
    assert len(sessions_of(shop, alice)) == 1
    assert sessions_of(shop, bob) == []
    assert "alice@sso.example" in anonymous_console.open(INSIDE).text


def test_sso_session_reauthenticates_at_the_provider(
    anonymous_console: ConsoleClient, provider: OwnProvider, clock: FakeClock
) -> None:
    anonymous_console.open(leave(anonymous_console, provider))
    clock.pass_(minutes=6)
    proof_url = anonymous_console.open("/console/access/?ask=storefront&open=false").leads_to
    assert proof_url.startswith("/console/prove?next=")
    assert (
        anonymous_console.send(proof_url, {"proof_password": PASSWORD}, seen_at=INSIDE).status
        == 422
    )
    assert (
        anonymous_console.open("/console/access/?ask=storefront&open=false").leads_to == proof_url
    )


def test_identity_is_linked_on_the_security_page_and_unlinked_there(
    anonymous_console: ConsoleClient, shop: Ports, provider: OwnProvider
) -> None:
    security = "/console/account/security/"
    make_staff(shop, "me@example.com")
    anonymous_console.sign_in("me@example.com")
    assert "Not linked" in anonymous_console.open(security).text
    forged = anonymous_console.client.post(LINK)  # a foreign page could link its own identity
    assert forged.status_code == 400
    left = anonymous_console.send(LINK, seen_at=security)
    assert left.status == 200
    url = left.response.headers["Refresh"].removeprefix("0; url=")
    assert f'href="{html.escape(url)}"' in left.html
    query = parse_qs(urlsplit(url).query)
    provider.grant("a code", id_token=provider.sign(provider.id_claims(query["nonce"][0], "bob")))
    back = anonymous_console.open(f"{WITH}/callback?code=a+code&state={query['state'][0]}")
    linked = anonymous_console.follow(back)
    assert "Linked. You can sign in with" in linked.text
    assert "Not linked" not in linked.text
    # It signs in to this account, in which it can't unlink itself.
    browser = another_browser(shop)
    browser.open(leave(browser, provider, "bob"))
    assert "me@example.com" in browser.open(INSIDE).text
    assert "You\u2019re signed in with it" in browser.open(security).text
    assert "sso/1/unlink" not in browser.open(security).html
    unlinked = anonymous_console.send(f"{security}sso/1/unlink", seen_at=security)
    assert "SSO identity unlinked." in anonymous_console.follow(unlinked).text
    assert browser.open(INSIDE).status == 303


@pytest.mark.one_of("mode")
@pytest.mark.parametrize("mode", [PasswordLoginMode.CUSTOMERS_ONLY, PasswordLoginMode.DISABLED])
def test_restricted_session_becomes_one_of_the_provider(
    anonymous_console: ConsoleClient,
    shop: Ports,
    alice: int,
    provider: OwnProvider,
    mode: PasswordLoginMode,
) -> None:
    anonymous_console.sign_in("alice@sso.example")
    access = "/console/access/"
    for is_linked, says in ((False, "Your account isn't linked there."), (True, "You get your")):
        if is_linked:
            browser = another_browser(shop)
            browser.open(leave(browser, provider))
        set_mode(shop, mode)
        refused = anonymous_console.open(access)
        assert (refused.status, says in refused.text) == (403, True)
        assert f'href="{WITH}?next={access}"' in refused.html
        set_mode(shop, PasswordLoginMode.ENABLED)
    set_mode(shop, mode)
    assert (
        anonymous_console.open(leave(anonymous_console, provider, next_path=access)).leads_to
        == access
    )
    assert anonymous_console.open(access).status == 200
    assert [one.origin for one in sessions_of(shop, alice)].count("password") == 0


@cases("mode", PasswordLoginMode)
def test_password_session_signs_out_in_every_mode(
    anonymous_console: ConsoleClient, shop: Ports, alice: int, mode: PasswordLoginMode
) -> None:
    set_mode(shop, PasswordLoginMode.ENABLED)
    anonymous_console.sign_in("alice@sso.example")
    set_mode(shop, mode)
    left = anonymous_console.send("/console/sign-out", seen_at=INSIDE)
    assert left.leads_to == "/console/sign-in"
    assert sessions_of(shop, alice) == []
    assert anonymous_console.follow(left).status == 200


def test_identity_of_somebody_else_is_refused_in_words(
    anonymous_console: ConsoleClient, shop: Ports, provider: OwnProvider
) -> None:
    alice = another_browser(shop)
    alice.open(leave(alice, provider))
    make_staff(shop, "me@example.com")
    anonymous_console.sign_in("me@example.com")
    left = anonymous_console.send(LINK, seen_at="/console/account/security/")
    query = parse_qs(urlsplit(left.response.headers["Refresh"].removeprefix("0; url=")).query)
    provider.grant("a code", id_token=provider.sign(provider.id_claims(query["nonce"][0])))
    back = anonymous_console.open(f"{WITH}/callback?code=a+code&state={query['state'][0]}")
    assert "already linked to another account" in anonymous_console.follow(back).text
    assert alice.open(INSIDE).status == 200


@cases("elsewhere", ["//evil.example/", "https://evil.example/", "/graphql/"])
def test_callback_ignores_a_foreign_next_url(
    anonymous_console: ConsoleClient, provider: OwnProvider, elsewhere: str
) -> None:
    assert (
        anonymous_console.open(leave(anonymous_console, provider, next_path=elsewhere)).leads_to
        == "/console/"
    )


def begun_state(console: ConsoleClient) -> str:
    return parse_qs(urlsplit(console.open(f"{WITH}?next={INSIDE}").leads_to).query)["state"][0]


def test_providers_error_is_shown_in_words(
    anonymous_console: ConsoleClient, shop: Ports, alice: int, provider: OwnProvider
) -> None:
    state = begun_state(anonymous_console)
    error = "error=access_denied&error_description=No+%3Cb%3Econsent%3C%2Fb%3E"
    refused = anonymous_console.open(f"{WITH}/callback?{error}&state={state}")
    assert refused.status == 422
    assert "The sign-in was canceled, or OpenID Connect doesn" in refused.text
    assert "(access_denied: No <b>consent</b>)" in refused.text
    assert "This is required" not in refused.text
    assert sessions_of(shop, alice) == []
    # The state worked once.
    again = anonymous_console.open(f"{WITH}/callback?{error}&state={state}")
    assert FOREIGN in again.text


@cases("state", ["", "&state=another"])
def test_providers_error_is_shown_only_for_the_browsers_own_sign_in(
    anonymous_console: ConsoleClient, provider: OwnProvider, state: str
) -> None:
    begun_state(anonymous_console)
    refused = anonymous_console.open(
        f"{WITH}/callback?error=access_denied&error_description=Call+0123{state}"
    )
    assert refused.status == 422
    assert FOREIGN in refused.text
    assert "0123" not in refused.text


def test_callback_with_neither_code_nor_error_says_so(
    anonymous_console: ConsoleClient, provider: OwnProvider
) -> None:
    state = begun_state(anonymous_console)
    refused = anonymous_console.open(f"{WITH}/callback?state={state}")
    assert refused.status == 422
    assert "The identity provider sent neither a code nor an error." in refused.text
