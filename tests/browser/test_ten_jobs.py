"""Ten jobs in the demo shop, in English and German, each begun on Home: at most six clicks."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.mails.mail import MailKind
from app.services.demo.people import MANAGER, SUPPORT
from tests.browser.console import ADMIN, PROVIDER, RunningShop, ask
from tests.browser.languages import Words
from tests.builders.outbox import mails
from tests.builders.provider_records import link_identity, make_provider
from tests.servers.apps import app_server
from tests.servers.own_provider import OwnProvider

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("person"),
]

MOST_CLICKS = 6
LANGUAGES = ("en", "de")
COUNT_PRESSES = """
addEventListener("DOMContentLoaded", () => noteLanguage(document.documentElement.lang));
addEventListener("pointerdown", (event) => { if (event.isTrusted) countPress(); }, true);
addEventListener("change", (event) => {
  if (event.target instanceof HTMLSelectElement) countPress();
}, true);
"""
"""A press of the pointer counts, and so does a choice from a list; typing doesn't."""


@dataclass(eq=False)
class Person:
    """Somebody who does jobs in one page of the browser.

    What they read is named by its English sentence, and looked for in their language.
    """

    page: Page
    shop: RunningShop
    words: Words
    presses: list[None] = field(default_factory=list)
    languages: set[str] = field(default_factory=set)

    def sign_in(self, email: str, origin: SessionOrigin = SessionOrigin.PASSWORD) -> None:
        self.shop.sign_in(self.page.context, email, origin)

    @contextmanager
    def job(self, name: str) -> Iterator[None]:
        """Begin on Home; at the end it took at most six clicks, in one language."""
        self.languages.clear()
        self.page.goto(f"{self.shop.url}/console/")
        self.presses.clear()
        yield
        assert 0 < len(self.presses) <= MOST_CLICKS, name
        assert self.languages == {self.words.language}, name

    def link(self, english: str) -> None:
        self.page.locator("#main").get_by_role("link", name=self.say(english)).first.click()

    def go(self, english: str) -> None:
        """Follow an entry of the side column."""
        name = self.say(english)
        self.page.get_by_role("navigation").get_by_role("link", name=name).first.click()

    def press(self, english: str, **values: object) -> None:
        name = self.say(english, **values)
        self.page.locator("#main").get_by_role("button", name=name).first.click()

    def input(self, english: str) -> Locator:
        return self.page.get_by_label(self.say(english), exact=True)

    def confirm(self, english: str) -> None:
        self.page.get_by_role("dialog").get_by_role("button", name=self.say(english)).click()

    def change_access(self, area: str, choice: str, confirmation: str) -> None:
        """Choose in an area of the page of the two switches, and confirm it."""
        switch = self.region(area)
        switch.get_by_role("radio", name=self.say(choice)).check()
        switch.get_by_role("button", name=self.say("Review change")).click()
        self.confirm(confirmation)

    def region(self, english: str) -> Locator:
        return self.page.get_by_role("region", name=self.say(english), exact=True).first

    def expect_status(self, english: str, **values: object) -> None:
        words = self.words.pattern(english, **values)
        expect(self.page.get_by_role("status").filter(has_text=words)).to_be_visible()

    def say(self, english: str, **values: object) -> str:
        return self.words.say(english, **values)


@pytest.fixture(params=LANGUAGES)
def person(request: pytest.FixtureRequest, page: Page, demo_shop: RunningShop) -> Person:
    """Somebody at work in a shop in which all people read the same language."""
    language = request.param
    with demo_shop.ports.database.transaction() as session:
        session.execute(update(models.User).values(language_code=language.upper()))
    person = Person(page, demo_shop, Words(language))
    page.expose_function("countPress", lambda: person.presses.append(None))
    page.expose_function("noteLanguage", lambda shown: person.languages.add(shown))  # noqa: PLW0108
    page.add_init_script(COUNT_PRESSES)
    return person


def test_manager_connects_apps_and_closes_the_storefront(person: Person) -> None:
    person.sign_in(MANAGER)
    with person.job("create an app with a token"):
        person.link("Create app")
        person.input("Name").fill("Label printer")
        orders = person.say("Manage orders")
        person.page.get_by_role("checkbox", name=orders, exact=True).check()
        person.press("Create app")
        token = person.input("Token").input_value()
        assert ask(person.shop, "{ app { name } }", token) == {"app": {"name": "Label printer"}}

    with person.job("install an app from its manifest"), app_server() as app:
        person.go("Apps")
        person.link("Install from manifest")
        person.input("Manifest URL").fill(app.manifest_url)
        person.press("Continue")
        products = person.page.get_by_role("checkbox", name=person.say("Manage products"))
        expect(products).to_be_checked()
        person.press("Install {app}", app="An app")
        installing = person.say("Installing {name} …", name="An app")
        expect(person.page.get_by_text(installing).first).to_be_visible()

    with person.job("create a webhook and preview its payload"):
        person.go("Webhooks")
        person.link("Create webhook")
        person.input("App").select_option("Demo warehouse")
        person.input("Name").fill("Prices")
        person.input("Endpoint URL").fill("https://prices.example.com/hooks")
        query = person.page.get_by_role("textbox", name=person.say("Subscription query"))
        query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
        person.press("Preview payload")
        person.page.wait_for_load_state()  # the shortcut is a script's
        query.press("Control+Enter")
        expect(person.region("Payload as JSON")).to_contain_text("product")
        person.press("Back to webhook")
        person.press("Create webhook")
        person.expect_status("Webhook “{webhook}” created.", webhook="Prices")

    with person.job("find a failed delivery and resend it"):
        person.go("Deliveries")
        person.page.locator("#main summary", has_text=person.say("Status")).first.click()
        person.page.get_by_role("link", name=person.say("Failed"), exact=True).first.click()
        expect(person.page).to_have_url(re.compile("status=failed"))
        person.page.locator("#main tbody").get_by_role("link").first.click()
        person.press("Enable and resend")
        person.expect_status("Resending now.")

    with person.job("close the storefront"):
        person.link("Change storefront traffic")
        person.change_access("Storefront traffic", "Closed", "Close storefront")
        person.expect_status("Storefront closed.")
        assert ask(person.shop, "{ shop { name } }") == 401


def test_administrator_sets_up_sign_in(person: Person, other_provider: OwnProvider) -> None:
    person.sign_in(ADMIN)
    with person.job("invite staff with a group"):
        person.go("Staff and groups")
        person.link("Invite staff member")
        person.input("Email").fill("kim.tran@example.com")
        person.input("First name").fill("Kim")
        person.page.get_by_role("checkbox", name="Customer support").check()
        person.press("Send invitation")
        person.expect_status("Invitation sent to {email}.", email="kim.tran@example.com")
        emails = [mail.recipient for mail in mails(person.shop.ports, MailKind.STAFF_INVITATION)]
        assert emails == ["kim.tran@example.com"]

    with person.job("rotate the signing key"):
        person.go("Signing keys")
        person.link("Rotate signing key")
        person.confirm("Rotate signing key")
        person.expect_status("The signing key was rotated. New tokens use {kid}.")

    other_provider.describe()
    with person.job("set up single sign-on"):
        person.go("Single sign-on")
        person.link("Add identity provider")
        person.input("Name").fill("Harbour ID")
        person.input("Short name").fill("harbour")
        person.input("Issuer").fill(other_provider.url)
        person.input("Client ID").fill("shop")
        person.input("Client secret").fill("a secret of the shop")
        person.press("Add provider")
        person.link("Enable …")
        person.confirm("Enable")
        person.expect_status("{name} is enabled.", name="Harbour ID")

    make_provider(person.shop.ports, name=PROVIDER)
    with person.shop.ports.database.reading() as session:
        admin = session.scalars(select(models.User.id).filter_by(email=ADMIN)).one()
    link_identity(person.shop.ports, admin, subject="ada")
    person.sign_in(ADMIN, SessionOrigin.OIDC)
    with person.job("limit password login to customers"):
        person.link("Change password login")
        person.change_access("Password login", "Customers only", "Limit to customers")
        person.expect_status("Password login is limited to customers.")


def test_support_finds_out_why_a_customer_cannot_sign_in(person: Person) -> None:
    with person.shop.ports.database.transaction() as session:
        clara = models.User.email == "customer@example.com"
        session.execute(update(models.User).where(clara).values(is_active=False))
    person.sign_in(SUPPORT)
    with person.job("find out why a customer cannot sign in"):
        person.go("Customers")
        person.page.wait_for_load_state()
        search = person.input("Name, email or address")
        search.fill("clara")
        expect(person.page).to_have_url(re.compile("q=clara"))
        expect(search).to_be_focused()
        person.page.locator("#main").get_by_role("link", name="Clara Lindqvist").first.click()
        why = person.say("Account inactive")
        expect(person.page.locator("#main")).to_contain_text(why)
