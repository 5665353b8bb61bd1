"""Pages of the console in every language: on a phone, not English; accessible in turn."""

from collections.abc import Iterator
from dataclasses import replace
from zlib import crc32

import pytest
from playwright.sync_api import Browser
from sqlalchemy import select, update
from typing_extensions import override

from app import models
from app.domain.accounts.languages import CONSOLE_TAGS, ENGLISH
from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from tests.browser.axe import RULES_WITHOUT_COLORS, cut_alike, findings
from tests.browser.console import ADMIN, RunningShop
from tests.browser.demo import STAFF, customer_key
from tests.browser.languages import EnglishLeft, Words
from tests.browser.pages import page_addresses
from tests.browser.test_accessibility import REFUSED, TOO_WIDE, Examined
from tests.builders.second_factor_rule import add_unusable_passkey
from tests.builders.second_factors import make_authenticator_app, make_recovery_codes
from tests.builders.shop import set_mode
from tests.fixtures.one_of_each import InTurn

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("translated"),
]

PHONE = 320
SECURITY = "/console/account/security/"
MORE = (
    "/console/audit/?q=nothing-like-this&sort=oldest",
    "/console/customers/?q=nothing-like-this",
    "/console/emails/log/?q=nothing-like-this",
    "/console/sign-ins/?result=FAILED&since=24h",
    "/console/staff/?status=gone&by=password&group=2",
    "/console/staff/matrix/?by=people",
    "/console/webhooks/1?chart=day",
    "/console/prove?act=keys.rotate",
)
"""Empty and filtered lists, filters that aren't applied, and what no link leads to."""

STORED = {"Default"}
"""Texts of the database: the name of an app's first token."""

LANGUAGES = [tag for tag in CONSOLE_TAGS if tag != ENGLISH]
"""Axe examines each page in one of these in turn: the markup is the same in all of them."""


class Translated(Examined):
    """A phone that goes from page to page, and writes down what is wrong in its language."""

    width = PHONE

    def __init__(
        self, browser: Browser, shop: RunningShop, language: str, in_turn: InTurn
    ) -> None:
        super().__init__(browser.new_context(reduced_motion="reduce"), shop, in_turn)
        self.words = Words(language)
        self.shop = shop
        self._left = EnglishLeft(language)

    def open(self, path: str, *, status: int = 200) -> None:
        self.look_at(f"{self.shop.url}{path}", status=status)

    def fill(self, english: str, value: str) -> None:
        self._page.get_by_label(self.words.say(english), exact=True).fill(value)

    def press(self, english: str, answer: str = "") -> None:
        """Press a button, and look at the page that comes, or at an answer on this one."""
        name = self.words.say(english)
        self._page.get_by_role("button", name=name, exact=True).first.click()
        if answer:
            self._page.get_by_text(self.words.say(answer)).first.wait_for()
        self._look()

    @override
    def _look(self) -> None:
        page = self._page
        page.wait_for_load_state()
        found = [f"English: {text}" for text in self._left.on(page) if text not in STORED]
        if page.locator("html").get_attribute("lang") != self.words.language:
            found = ["is in another language"]
        too_wide = page.evaluate(TOO_WIDE)
        found += [too_wide] if too_wide else []
        if self._has_its_turn(page.url) and "ask=" not in page.url:
            cut_alike(page)
            # Colors are the same in every language.
            found += findings(page, RULES_WITHOUT_COLORS)
        path = page.url.removeprefix(self.shop.url)
        self.faults += [f"{path}: {fault}" for fault in [*found, *self._watch.take()]]
        self.looked += 1

    def _has_its_turn(self, url: str) -> bool:
        path = url.removeprefix(self.shop.url)
        return LANGUAGES[crc32(path.encode()) % len(LANGUAGES)] == self.words.language


@pytest.fixture(params=LANGUAGES)
def translated(
    request: pytest.FixtureRequest, browser: Browser, demo_shop: RunningShop, in_turn: InTurn
) -> Iterator[Translated]:
    with demo_shop.ports.database.transaction() as session:
        session.execute(update(models.User).values(language_code=request.param.upper()))
    # By its name: browsers make no passkeys for an IP address.
    shop = replace(demo_shop, url=demo_shop.url.replace("127.0.0.1", "localhost"))
    walk = Translated(browser, shop, request.param, in_turn)
    yield walk
    walk.context.close()
    assert not walk.faults, "\n".join(walk.faults)


def test_pages_and_dialogs_are_in_the_person_s_language(
    translated: Translated, in_turn: InTurn
) -> None:
    shop = translated.shop
    shop.sign_in(translated.context, ADMIN, SessionOrigin.OIDC)
    translated.open(SECURITY)
    translated.press("Add passkey")
    translated.open(SECURITY)
    translated.press("Set up authenticator app")
    translated.press("Cancel")
    add_factors(shop.ports)
    keys = {"customers": customer_key(shop.ports)}
    addresses = [*page_addresses(shop.app, keys), *MORE]
    # Each page is also opened on a phone in English, and its template is read by other tests.
    for some in in_turn([addresses[first::8] for first in range(8)]):
        translated.walk(f"{shop.url}{address}" for address in some)
    assert translated.looked > 10


def test_refused_forms_and_errors_are_in_the_person_s_language(
    translated: Translated, in_turn: InTurn
) -> None:
    shop = translated.shop
    shop.sign_in(translated.context, ADMIN, SessionOrigin.OIDC)
    # The others than those that are examined for colors.
    for path, button in in_turn([*REFUSED.items()][::-1], some=2):
        translated.open(f"/console/{path}")
        translated.press(button)
    translated.open("/console/inspector/")
    translated.fill("Token", "eyJ.broken")
    translated.press("Inspect", "Unrecognized token")
    translated.open("/console/nowhere", status=404)
    shop.sign_in(translated.context, STAFF)
    translated.open("/console/keys/", status=403)
    set_mode(shop.ports, PasswordLoginMode.CUSTOMERS_ONLY)
    translated.open("/console/account/", status=403)
    set_mode(shop.ports, PasswordLoginMode.DISABLED)
    translated.open("/console/account/", status=403)


def test_english_sentence_is_found() -> None:
    left = EnglishLeft("de")
    for text in (
        "Sign out",
        "Signed in as ada@example.com. Nothing has changed yet.",
        "Ada Okafor: Enter a name for the passkey.",
        "You need the permission Manage staff.",
        "Passkey added. 3 other sessions stay signed in.",
    ):
        assert [*left.among([text, "Abmelden", "Name", "Ada Okafor"])] == [text]


def add_factors(ports: Ports) -> None:
    """Give the administrator a passkey, an authenticator app and recovery codes."""
    with ports.database.reading() as session:
        admin = session.scalars(select(models.User.id).filter_by(email=ADMIN)).one()
    add_unusable_passkey(ports, admin)
    make_authenticator_app(ports, admin)
    make_recovery_codes(ports, admin)
