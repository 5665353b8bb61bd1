"""A customer signs up, signs in with a code and a passkey, allows a program and signs out by it.

In turn in a language from the left and one from the right; axe examines each page in a width and
a theme, and the colors of two pages of three.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect

from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import MailKind
from app.domain.values.inputs import Upload
from app.services.accounts.password_resets import answer_reset_requests
from app.services.oauth.client_pages import update_client_logo
from app.services.oauth.devices import begin_device
from tests.browser.authenticator import VirtualAuthenticator
from tests.browser.axe import ALL_RULES, RULES_WITHOUT_COLORS, findings
from tests.browser.console import RunningShop
from tests.builders.oauth import CALLBACK, make_client
from tests.builders.outbox import mails
from tests.builders.people import NOBODY, PASSWORD
from tests.builders.shop import configure_shop
from tests.fixtures.one_of_each import InTurn
from tests.oauth.pages import authorization

ANN = "ann@example.com"
BYE = "https://forum.example.com/bye"
PICTURES: Path | None = None
"""A folder for pictures of the pages, for someone who wants to look at them."""

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 900}
LOOKS: tuple[tuple[ViewportSize, Literal["light", "dark"]], ...] = (
    (DESK, "light"),
    (PHONE, "dark"),
    (DESK, "dark"),
    (PHONE, "light"),
)
"""Each page is examined in one of these in turn, or in all."""

LANGUAGES = {"en": "ltr", "ar": "rtl"}
"""Each page is opened in one of these in turn, in the other one by the other test."""


def examine(page: Page, name: str, language: str, pictures: Path | None, in_turn: InTurn) -> None:
    """Find the language, no English in Arabic, no sideways scrolling, and nothing by axe."""
    page.wait_for_load_state()
    found = page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
    assert found == [language, LANGUAGES[language]], name
    if language == "ar":
        assert re.findall(r"\w* ?\b[a-z]{2,} [a-z]{2,}", page.inner_text("body")) == [], name
    [*_, rules] = in_turn((ALL_RULES, RULES_WITHOUT_COLORS, ALL_RULES))
    for size, theme in LOOKS if pictures else in_turn(LOOKS):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size(size)
        assert findings(page, rules) == [], (name, theme)
        if pictures is not None:
            file = f"{name}-{language}-{theme}-{size['width']}.png"
            page.screenshot(path=pictures / file, full_page=True)
    # The next page is examined in the other size.
    for size in (PHONE, DESK) if page.viewport_size == PHONE else (DESK, PHONE):
        page.set_viewport_size(size)
        assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), name


class Looker:
    """Examines pages, each in the next language."""

    def __init__(self, page: Page, url: str, first: str, in_turn: InTurn) -> None:
        self._page, self._url, self._in_turn = page, url, in_turn
        self._languages = cycle(sorted(LANGUAGES, key=lambda language: language != first))
        self._choose_language()

    def __call__(self, name: str) -> None:
        """Examine the page that is open; the ones that are opened next are in another language."""
        examine(self._page, name, self.language, PICTURES, self._in_turn)
        self._choose_language()

    def _choose_language(self) -> None:
        self.language = next(self._languages)
        chosen = f"{self._url}/account/sign-in?ui_locales={self.language}"
        self._page.request.get(chosen, max_redirects=0)


def open_consent(page: Page, shop: RunningShop, url: str) -> str:
    """Let a program with a logo ask for the person's consent; return its client ID."""
    client = make_client(shop.ports, "Glazebook", post_logout_redirect_uris=(BYE,))
    image = BytesIO()
    Image.new("RGB", (64, 64), "teal").save(image, "PNG")
    logo = Upload("logo.png", "image/png", image.getvalue())
    update_client_logo(shop.ports, OPERATOR, client.id, logo)
    page.goto(f"{url}/oauth/authorize?{urlencode(authorization(client))}")
    expect(page.locator("main img")).to_be_visible()
    return client.id


@contextmanager
def asked_for(page: Page, url: str | re.Pattern[str]) -> Iterator[None]:
    """Wait until the browser has asked for a page of the program, which is on no machine."""
    with page.expect_event("framenavigated"), page.expect_request(url):
        yield


def allow_and_sign_out(page: Page, url: str, client_id: str, look: Callable[[str], None]) -> None:
    """Allow the program, and let it sign the person out."""
    with asked_for(page, re.compile(re.escape(CALLBACK) + r"\?code=.+")):
        page.locator("button[value=allow]").click()
    asked = {"client_id": client_id, "post_logout_redirect_uri": BYE}
    page.goto(f"{url}/oauth/logout?{urlencode(asked)}")
    look("logout")
    with asked_for(page, BYE):
        page.locator("main form button").click()
    assert page.request.get(f"{url}/account/", max_redirects=0).status == HTTPStatus.SEE_OTHER


def let_in_device(page: Page, shop: RunningShop, url: str, look: Callable[[str], None]) -> None:
    """Let in one device, and refuse another."""
    kiosk = make_client(shop.ports, "Kiosk", allows_devices=True).client
    page.goto(f"{url}/oauth/device?user_code=BBBBBBBB")
    page.locator("main form button").click()
    expect(page.locator("#code-error")).to_be_visible()
    look("device-refused")
    page.locator("#code").fill(begin_device(shop.ports, NOBODY, kiosk, kiosk.scopes).user_code)
    page.locator("main form button").click()
    look("device-asks")
    page.locator("button[value=allow]").click()
    expect(page.locator("button[value=allow]")).to_have_count(0)
    look("device-allow")
    code = begin_device(shop.ports, NOBODY, kiosk, kiosk.scopes).user_code
    page.goto(f"{url}/oauth/device?user_code={code}")
    page.locator("main form button").click()
    page.locator("button[value=deny]").click()
    expect(page.locator("button[value=allow]")).to_have_count(0)
    look("device-deny")


def change_password_and_email(
    page: Page, shop: RunningShop, url: str, look: Callable[[str], None]
) -> None:
    """Change the email by a mailed link, which works once; see a form that is too old."""
    page.goto(f"{url}/account/password")
    look("password-change")
    page.goto(f"{url}/account/email")
    page.locator("#email").fill("ann")
    page.locator("#password").fill(PASSWORD)
    page.locator("main form button").click()
    look("email-refused")
    page.locator("#email").fill(f"{'ann.' * 12}lee@example.com")
    page.locator("#password").fill(PASSWORD)
    page.locator("main form button").click()
    # Its cookie must not come after that of the link.
    expect(page).to_have_url(f"{url}/account/")
    link = mails(shop.ports, MailKind.EMAIL_CHANGE_REQUEST)[-1].values["link"]
    page.goto(link)
    look("email-confirm")
    page.locator("main form button").click()
    expect(page).to_have_url(f"{url}/account/")
    page.goto(link)
    look("email-link-used")
    page.goto(f"{url}/account/name")
    page.locator("main input[name=csrf_token]").evaluate("(field) => { field.value = 'old'; }")
    page.locator("main form button").click()
    look("stale")


@pytest.mark.one_of("first")
@pytest.mark.parametrize("first", LANGUAGES)
def test_customer_signs_up_with_code_and_passkey(
    page: Page, small_shop: RunningShop, in_turn: InTurn, first: str
) -> None:
    # Passkeys don't work on an IP address.
    url, ports = small_shop.url.replace("127.0.0.1", "localhost"), small_shop.ports
    configure_shop(
        ports,
        hosted_pages=True,
        email_code_login=True,
        accent_color="#9c4a2c",
        name="Northlight Ceramics",
        mail_legal_line="Northlight Ceramics Ltd · 12 Quay Street, Leith",
    )

    look = Looker(page, url, first, in_turn)
    page.goto(f"{url}/account/register")
    page.locator("main form button").click()
    look("register-refused")
    page.locator("#name").fill("Ann Lee")
    page.locator("#email").fill(ANN)
    page.locator("#password").fill(PASSWORD)
    page.locator("main form button").click()
    look("sent")
    page.goto(mails(ports, MailKind.ACCOUNT_CONFIRMATION)[-1].values["link"])
    page.locator("main form button").click()
    look("confirmed")
    page.goto(f"{url}/account/sign-in")
    look("sign-in")
    page.locator("#email").fill(ANN)
    page.locator("button[value=password]").click()
    look("password")
    page.go_back()
    page.locator("#email").fill(ANN)
    page.locator("button[value=code]").click()
    answer_reset_requests(ports, WORKER)
    look("code")
    page.locator("#code").fill(mails(ports, MailKind.SIGN_IN_CODE)[-1].values["code"])
    page.locator("main form button").first.click()
    expect(page).to_have_url(f"{url}/account/")
    VirtualAuthenticator(page)
    page.goto(f"{url}/account/passkeys/new")
    look("passkey-new")
    page.locator("form[data-passkey] button").click()
    expect(page.locator("code").first).to_be_visible()
    look("recovery-codes")
    page.goto(f"{url}/account/")
    look("account")
    page.locator("header form button").click()
    page.goto(f"{url}/account/sign-in")  # the browser offers the passkey by itself
    expect(page).to_have_url(f"{url}/account/")
    let_in_device(page, small_shop, url, look)
    change_password_and_email(page, small_shop, url, look)
    client_id = open_consent(page, small_shop, url)
    look("consent")
    allow_and_sign_out(page, url, client_id, look)
    configure_shop(ports, allow_storefront_traffic=False)
    page.goto(f"{url}/account/?ui_locales={look.language}")
    look("closed")
