"""Signed-out pages in every language: accessible, narrow enough for a phone, never English."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.accounts.languages import SIGNED_OUT_TAGS
from tests.browser.axe import RULES_WITHOUT_COLORS, findings
from tests.browser.console import ADMIN, RunningShop
from tests.browser.languages import EnglishLeft, Words
from tests.browser.test_accessibility import TOO_WIDE
from tests.builders.people import PASSWORD
from tests.builders.second_factors import make_recovery_codes, one_time_code
from tests.fakes.offset_clock import Ahead
from tests.services.sign_in.second_factors import make_protected

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("visitor"),
]

PHONE = 320


class Visitor:
    """A browser that asks for a language, on a phone."""

    def __init__(self, page: Page, shop: RunningShop, language: str) -> None:
        self.page = page
        self.shop = shop
        self.language = language
        self.say = self.word = Words(language).say
        self._left = EnglishLeft(language)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.shop.url}/console/{path}")
        self.look()

    def press(self, english: str) -> None:
        self.page.get_by_role("button", name=self.say(english), exact=True).click()

    def fill(self, english: str, value: str) -> None:
        self.page.get_by_label(self.say(english), exact=True).fill(value)

    def look(self) -> None:
        """Fail if the page isn't in the language, accessible and narrow enough."""
        page = self.page
        page.wait_for_load_state()
        html = page.locator("html")
        direction = "rtl" if self.language == "ar" else "ltr"
        assert (html.get_attribute("lang"), html.get_attribute("dir")) == (
            self.language,
            direction,
        )
        assert self._left.on(page) == [], page.url
        # Colors are the same in every language.
        assert findings(page, RULES_WITHOUT_COLORS, around=False) == [], page.url
        assert not page.evaluate(TOO_WIDE), page.url


@pytest.fixture(params=SIGNED_OUT_TAGS)
def visitor(
    request: pytest.FixtureRequest, browser: Browser, small_shop: RunningShop
) -> Iterator[Visitor]:
    context = browser.new_context(
        locale=request.param, viewport={"width": PHONE, "height": 800}, reduced_motion="reduce"
    )
    yield Visitor(context.new_page(), small_shop, request.param)
    context.close()


def test_visitors_pages_are_in_their_language(visitor: Visitor) -> None:
    visitor.open("sign-in?next=/console/keys/")
    visitor.press("Sign in with password")
    visitor.look()
    visitor.fill("Email", "ines@example.com")
    visitor.fill("Password", "not the password")
    visitor.press("Sign in with password")
    expect(visitor.page.get_by_role("alert")).to_contain_text(
        visitor.say("Incorrect email or password.")
    )
    visitor.look()
    visitor.open("forgotten")
    visitor.press("Send link")
    visitor.look()
    visitor.fill("Email", "ines@example.com")
    visitor.press("Send link")
    visitor.look()
    visitor.open("set-password?email=ines@example.com&token=used")
    visitor.fill("New password", "12345678")
    visitor.press("Set password")
    visitor.look()
    visitor.open("not-me?token=used")
    visitor.open("assets/nothing")
    boss = make_protected(visitor.shop.ports, ADMIN, is_superuser=True)
    make_recovery_codes(visitor.shop.ports, boss.id)
    fail_with_passkey(visitor)
    sign_in_with_code(visitor, boss.secret)


def fail_with_passkey(visitor: Visitor) -> None:
    """Use a passkey while the server can't be reached."""
    page = visitor.page
    page.goto(f"{visitor.shop.url.replace('127.0.0.1', 'localhost')}/console/sign-in")
    page.route("**/passkey/options", lambda route: route.abort())
    visitor.press("Sign in with a passkey")
    expect(page.get_by_role("alert")).to_have_text(
        visitor.say("The server couldn't be reached. Reload the page and try again.")
    )
    visitor.look()


def sign_in_with_code(visitor: Visitor, secret: str) -> None:
    """Sign in from the page that is open, and see all ways to prove who one is."""
    visitor.fill("Email", ADMIN)
    visitor.fill("Password", PASSWORD)
    visitor.press("Sign in with password")
    visitor.look()
    visitor.fill("6-digit code", "000000")
    visitor.press("Verify code")
    visitor.look()
    visitor.page.get_by_role("link", name=visitor.say("Use a recovery code")).click()
    visitor.look()
    visitor.page.get_by_role("link", name=visitor.say("Use an authenticator app")).click()
    ports = visitor.shop.ports
    assert isinstance(ports.clock, Ahead)
    ports.clock.seconds += timedelta(seconds=2).total_seconds()
    visitor.fill("6-digit code", one_time_code(ports, secret))
    visitor.press("Verify code")
    expect(visitor.page.get_by_role("button", name="Menu")).to_be_visible()
