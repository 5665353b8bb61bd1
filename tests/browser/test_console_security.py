"""People, keys, throttle and sign-on at the console, in a browser; the API obeys at once."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Self

import jwt
import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.services.single_sign_on.provider_checks import discover_provider
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.browser.console import ADMIN, PROVIDER, RunningShop, Watch, ask
from tests.builders.outbox import mails
from tests.builders.people import PASSWORD, make_group, make_staff, make_user, sign_in
from tests.fakes.offset_clock import Ahead
from tests.servers.provider import IdentityProvider, identity_provider

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

ME = "{ me { email } }"
INVITED = "nadia@example.com"
CALLBACK = "/console/sign-in/with/northlight.authentication.openidconnect/callback"


def test_staff_are_invited_and_come_in_by_the_mail(
    admin: Page, small_shop: RunningShop, browser: Browser
) -> None:
    make_group(small_shop.ports, "Support", Permission.MANAGE_ORDERS)
    admin.goto(f"{small_shop.url}/console/staff/")
    admin.get_by_role("link", name="Invite staff member").first.click()
    admin.get_by_label("Email").fill(INVITED)
    admin.get_by_label("First name").fill("Nadia <b>")
    admin.get_by_role("checkbox", name="Support").check()
    admin.get_by_role("button", name="Send invitation").click()
    expect(admin.get_by_text(f"Invitation sent to {INVITED}.")).to_be_visible()
    (mail,) = mails(small_shop.ports, MailKind.STAFF_INVITATION)
    context = browser.new_context()
    hers = context.new_page()
    hers.goto(mail.values["link"])
    assert "token" not in hers.url
    hers.get_by_label("Password").fill("an otter in the harbour")
    hers.get_by_role("button", name="Set password").click()
    expect(hers.get_by_role("heading", level=1, name="Home")).to_be_visible()
    expect(hers.get_by_text("Your password is set")).to_be_visible()
    hers.goto(f"{small_shop.url}/console/keys/")
    expect(hers.get_by_text("MANAGE_SETTINGS", exact=True)).to_be_visible()
    context.close()


def test_keys_are_rotated_while_requests_run_and_none_fails(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    tokens = sign_in(ports, make_user(ports))
    admin.goto(f"{small_shop.url}/console/keys/")
    assert isinstance(ports.clock, Ahead)
    ports.clock.seconds += 360
    token = refreshed(small_shop, tokens.refresh)
    with Requests(small_shop, token) as running:
        running.wait_for(5)
        admin.goto(f"{small_shop.url}/console/keys/")
        signing = admin.get_by_role("row").filter(has_text="Active").get_by_role("rowheader")
        before = signing.inner_text()
        admin.get_by_role("link", name="Rotate signing key").click()
        admin.get_by_role("dialog").get_by_role("button", name="Rotate signing key").click()
        admin.get_by_label("Password").fill(PASSWORD)  # the proof is six minutes old
        admin.get_by_role("button", name="Continue").click()
        expect(admin.get_by_text("The signing key was rotated")).to_be_visible()
        expect(signing).not_to_have_text(before)
        running.wait_for(5)
        running.token = refreshed(small_shop, tokens.refresh)
        assert kid_of(running.token) != kid_of(token)
        running.wait_for(5)
    assert running.failures == []


def test_address_is_let_go(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    user = make_user(ports)
    for _ in range(9):
        ports.throttle.fail("203.0.113.7", "", user, ports.clock.timestamp())
    admin.goto(f"{small_shop.url}/console/throttle/")
    admin.get_by_role("link", name="Unblock 203.0.113.7").click()
    question = admin.get_by_role("dialog", name="Unblock 203.0.113.7?")
    expect(question).to_contain_text("9 incorrect passwords")
    question.get_by_role("button", name="Unblock IP address").click()
    expect(admin.get_by_text("No blocked IPs")).to_be_visible()
    assert ports.throttle.blocked(ports.clock.timestamp()) == ()


def test_session_is_ended_and_its_token_dies(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    staff = make_staff(ports, "staff@example.com")
    first, second = sign_in(ports, staff).access, sign_in(ports, staff).access
    admin.goto(f"{small_shop.url}/console/staff/{staff}?view=sessions")
    sessions = admin.get_by_role("table", name="Sessions of staff@example.com")
    ends = sessions.get_by_role("button", name="End")
    expect(ends).to_have_count(2)
    ends.first.click()
    expect(ends).to_have_count(1)
    assert works(small_shop, first) is not works(small_shop, second)
    admin.get_by_role("link", name="End all sessions").click()
    admin.get_by_role("dialog").get_by_role("button", name="End all sessions").click()
    expect(ends).to_have_count(0)
    assert not works(small_shop, first)
    assert not works(small_shop, second)


@pytest.fixture
def real_provider(small_shop: RunningShop, tmp_path: Path) -> Iterator[IdentityProvider]:
    """A real provider, set up in the shop."""
    ports = small_shop.ports
    with identity_provider(tmp_path / "provider.log", ports.configuration.scope_prefix) as running:
        running.lead_back_to(f"{small_shop.url}{CALLBACK}")
        discover_provider(ports, OPERATOR, "northlight", running.issuer)
        settings = {"client_id": "shop", "client_secret": running.secret_of("shop")}
        save_provider(
            ports, OPERATOR, "northlight", ProviderUpdate(settings, active=True, name=PROVIDER)
        )
        yield running


def test_staff_come_in_through_a_provider_and_restrict_password_login(
    page: Page, small_shop: RunningShop, real_provider: IdentityProvider
) -> None:
    watch = Watch(page, small_shop.url, real_provider.issuer)
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    real_provider.tell("ada", email=ADMIN, email_verified=True)
    page.goto(f"{small_shop.url}/console/access/")
    page.get_by_role("link", name=f"Continue with {PROVIDER}").click()
    page.get_by_placeholder("Enter any login").fill("ada")
    page.get_by_placeholder("and password").fill(PASSWORD)
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    login = page.get_by_role("region", name="Password login")
    login.get_by_role("radio", name="Customers only").check()
    login.get_by_role("button", name="Review change").click()
    page.get_by_role("dialog").get_by_role("button", name="Limit to customers").click()
    expect(
        page.get_by_role("status").filter(has_text="Password login is limited to customers.")
    ).to_be_visible()
    expect(page.get_by_text(PROVIDER).first).to_be_visible()
    assert [one for one in watch.complaints if small_shop.url in one] == []


def refreshed(shop: RunningShop, refresh: str) -> str:
    """A new access token, signed by whichever key signs now."""
    query = "mutation ($refresh: String) { tokenRefresh(refreshToken: $refresh) { token } }"
    token: str = ask(shop, query, refresh=refresh)["tokenRefresh"]["token"]
    return token


def kid_of(token: str) -> object:
    """The key that signed it."""
    return jwt.get_unverified_header(token)["kid"]


def works(shop: RunningShop, token: str) -> bool:
    """Whether somebody comes in by it."""
    return bool(ask(shop, ME, token)["me"])


class Requests:
    """A client that asks who it is again and again, until the end of the block."""

    answer = {"me": {"email": "customer@example.com"}}  # noqa: RUF012

    def __init__(self, shop: RunningShop, token: str) -> None:
        self.token = token
        self.failures: list[object] = []
        self._shop = shop
        self._done = 0
        self._went_on = Event()
        self._wanted = 0
        self._ended = Event()
        self._thread = Thread(target=self._ask)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join(180)

    def wait_for(self, number: int) -> None:
        """Go on when so many more requests have been answered."""
        self._went_on.clear()
        self._wanted = self._done + number
        assert self._went_on.wait(180), "no requests run"

    def _ask(self) -> None:
        while not self._ended.is_set():
            answer = ask(self._shop, ME, self.token)
            if answer != self.answer:
                self.failures.append(answer)
            self._done += 1
            if self._done >= self._wanted:
                self._went_on.set()
