"""Ten jobs in the demo shop, in English and German, each begun on Home: at most six clicks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import select, update

from app.domain.authorization.actor import WORKER, SessionOrigin
from app.domain.mails.mail import MailKind
from app.models import UserRecord, WebhookRecord
from app.services.apps.installation_worker import install_next_app
from app.services.demo.people import MANAGER, SUPPORT
from tests.browser.console import ADMIN, PROVIDER, RunningShop, ask, work
from tests.browser.languages import Words
from tests.builders.outbox import mails
from tests.builders.provider_records import link_identity, make_provider
from tests.servers.apps import app_server
from tests.servers.http import Reply, http_server
from tests.servers.provider import identity_provider

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("job"),
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
class Job:
    """A person's work in one page of the browser, begun on Home.

    What the person reads is named by its English sentence, and looked for in their language.
    """

    page: Page
    shop: RunningShop
    words: Words
    presses: list[None] = field(default_factory=list)
    languages: set[str] = field(default_factory=set)

    def begin(self, email: str, origin: SessionOrigin = SessionOrigin.PASSWORD) -> None:
        """Sign the person in and open Home."""
        self.shop.sign_in(self.page.context, email, origin)
        self.page.goto(f"{self.shop.url}/console/")

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

    def region(self, english: str) -> Locator:
        return self.page.get_by_role("region", name=self.say(english), exact=True).first

    def expect_status(self, english: str, **values: object) -> None:
        words = self.words.pattern(english, **values)
        expect(self.page.get_by_role("status").filter(has_text=words)).to_be_visible()

    def say(self, english: str, **values: object) -> str:
        return self.words.say(english, **values)


@pytest.fixture(params=LANGUAGES)
def job(request: pytest.FixtureRequest, page: Page, demo_shop: RunningShop) -> Iterator[Job]:
    """Work that is over when the test ends, in at most six clicks and one language."""
    language = request.param
    with demo_shop.ports.database.transaction() as session:
        session.execute(update(UserRecord).values(language_code=language.upper()))
    job = Job(page, demo_shop, Words(language))
    page.expose_function("countPress", lambda: job.presses.append(None))
    page.expose_function("noteLanguage", lambda shown: job.languages.add(shown))  # noqa: PLW0108
    page.add_init_script(COUNT_PRESSES)
    yield job
    assert 0 < len(job.presses) <= MOST_CLICKS
    assert job.languages == {language}


def test_close_the_storefront(job: Job) -> None:
    job.begin(MANAGER)
    job.link("Change storefront traffic")
    storefront = job.region("Storefront traffic")
    storefront.get_by_role("radio", name=job.say("Closed")).check()
    storefront.get_by_role("button", name=job.say("Review change")).click()
    job.confirm("Close storefront")
    job.expect_status("Storefront closed.")
    assert ask(job.shop, "{ shop { name } }") == 401


def test_limit_password_login_to_customers(job: Job) -> None:
    make_provider(job.shop.ports, name=PROVIDER)
    with job.shop.ports.database.reading() as session:
        admin = session.scalars(select(UserRecord.id).filter_by(email=ADMIN)).one()
    link_identity(job.shop.ports, admin, subject="ada")
    job.begin(ADMIN, SessionOrigin.OIDC)
    job.link("Change password login")
    login = job.region("Password login")
    login.get_by_role("radio", name=job.say("Customers only")).check()
    login.get_by_role("button", name=job.say("Review change")).click()
    job.confirm("Limit to customers")
    job.expect_status("Password login is limited to customers.")


def test_create_an_app_with_a_token(job: Job) -> None:
    job.begin(MANAGER)
    job.link("Create app")
    job.input("Name").fill("Label printer")
    orders = job.say("Manage orders")
    job.page.get_by_role("checkbox", name=orders, exact=True).check()
    job.press("Create app")
    token = job.input("Token").input_value()
    assert ask(job.shop, "{ app { name } }", token) == {"app": {"name": "Label printer"}}


def test_install_an_app_from_its_manifest(job: Job) -> None:
    with app_server() as app:
        job.begin(MANAGER)
        job.go("Apps")
        job.link("Install from manifest")
        job.input("Manifest URL").fill(app.manifest_url)
        job.press("Continue")
        job.press("Install {app}", app="An app")
        installing = job.say("Installing {name} …", name="An app")
        expect(job.page.get_by_text(installing).first).to_be_visible()
        assert install_next_app(job.shop.ports, WORKER) == 1
    job.page.reload()
    expect(job.page.get_by_role("link", name="An app").first).to_be_visible()


def test_create_a_webhook_and_preview_its_payload(job: Job) -> None:
    job.begin(MANAGER)
    job.go("Webhooks")
    job.link("Create webhook")
    job.input("App").select_option("Demo warehouse")
    job.input("Name").fill("Prices")
    job.input("Endpoint URL").fill("https://prices.example.com/hooks")
    query = job.page.get_by_role("textbox", name=job.say("Subscription query"))
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    job.press("Preview payload")
    job.page.wait_for_load_state()  # the shortcut is a script's
    query.press("Control+Enter")
    expect(job.region("Payload as JSON")).to_contain_text("product")
    job.press("Back to webhook")
    job.press("Create webhook")
    job.expect_status("Webhook “{webhook}” created.", webhook="Prices")


def test_find_a_failed_delivery_and_resend_it(job: Job) -> None:
    job.begin(MANAGER)
    job.go("Deliveries")
    job.page.locator("#main summary", has_text=job.say("Status")).first.click()
    job.page.get_by_role("link", name=job.say("Failed"), exact=True).first.click()
    expect(job.page).to_have_url(re.compile("status=failed"))
    job.page.locator("#main tbody").get_by_role("link").first.click()
    job.press("Enable and resend")
    job.expect_status("Resending now.")
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(body=b"ok"))
        with job.shop.ports.database.transaction() as session:
            session.execute(update(WebhookRecord).values(target_url=target))
        work(job.shop)
    job.page.reload()
    expect(job.page.get_by_role("heading", level=1).locator("..")).to_contain_text(
        job.say("Delivered")
    )


def test_invite_staff_with_a_group(job: Job) -> None:
    job.begin(ADMIN)
    job.go("Staff and groups")
    job.link("Invite staff member")
    job.input("Email").fill("kim.tran@example.com")
    job.input("First name").fill("Kim")
    job.page.get_by_role("checkbox", name="Customer support").check()
    job.press("Send invitation")
    job.expect_status("Invitation sent to {email}.", email="kim.tran@example.com")
    emails = [mail.recipient for mail in mails(job.shop.ports, MailKind.STAFF_INVITATION)]
    assert emails == ["kim.tran@example.com"]


def test_find_out_why_a_customer_cannot_sign_in(job: Job) -> None:
    with job.shop.ports.database.transaction() as session:
        clara = UserRecord.email == "customer@example.com"
        session.execute(update(UserRecord).where(clara).values(is_active=False))
    job.begin(SUPPORT)
    job.go("Customers")
    job.page.wait_for_load_state()
    job.input("Name, email or address").fill("clara")
    expect(job.page).to_have_url(re.compile("q=clara"))
    job.page.locator("#main").get_by_role("link", name="Clara Lindqvist").first.click()
    why = job.say("Account inactive")
    expect(job.page.locator("#main")).to_contain_text(why)


def test_rotate_the_signing_key(job: Job) -> None:
    job.begin(ADMIN)
    job.go("Signing keys")
    job.link("Rotate signing key")
    job.confirm("Rotate signing key")
    job.expect_status("The signing key was rotated. New tokens use {kid}.")


def test_set_up_single_sign_on(job: Job, tmp_path: Path) -> None:
    with identity_provider(
        tmp_path / "provider.log", job.shop.ports.configuration.scope_prefix
    ) as ready:
        job.begin(ADMIN)
        job.go("Single sign-on")
        job.link("Add identity provider")
        job.input("Name").fill("Harbour ID")
        job.input("Short name").fill("harbour")
        job.input("Issuer").fill(ready.issuer)
        job.input("Client ID").fill("shop")
        job.input("Client secret").fill(ready.secret_of("shop"))
        job.press("Add provider")
        job.link("Enable …")
        job.confirm("Enable")
        job.expect_status("{name} is enabled.", name="Harbour ID")
