"""The console of a shop with data, in each of its languages, on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import update

from app.domain.authorization.actor import SessionOrigin
from app.domain.values.languages import CONSOLE_TAGS, ENGLISH
from app.models import AppTokenRecord, MailTemplateRecord, UserRecord
from tests.browser.console import ADMIN, RunningShop
from tests.browser.demo import customer_key
from tests.browser.test_languages import PHONE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

PAGES = (
    "access/",
    "access/?ask=mode&mode=CUSTOMERS_ONLY",
    "access/?ask=mode&mode=DISABLED",
    "access/?ask=mode&mode=ENABLED",
    "access/?ask=storefront&open=false",
    "audit/",
    "audit/?q=nothing-like-this&sort=oldest&from=never",
    "audit/1",
    "sign-ins/",
    "sign-ins/?result=FAILED&since=24h",
    "keys/",
    "throttle/",
    "throttle/?ask=unblock&address=203.0.113.7",
    "inspector/",
    "single-sign-on/",
    "single-sign-on/new",
    "settings/",
    "settings/?ask=second-factor&factor=REQUIRED&grace=14",
    "settings/?ask=second-factor&factor=REQUIRED&grace=many",
    "staff/",
    "staff/?status=gone&by=password&group=2",
    "staff/1",
    "staff/2?ask=deactivate",
    "staff/3?ask=remove",
    "staff/invite/",
    "staff/groups/",
    "staff/groups/new",
    "staff/groups/3?ask=delete",
    "staff/matrix/",
    "staff/matrix/?by=people",
    "customers/",
    "customers/?q=nothing-like-this",
    "mails/",
    "mails/?q=nothing-like-this",
    "mails/?result=FAILED&kind=password_reset",
    "email-templates/webhook_disabled",
    "account/security/",
    "apps/",
    "apps/1?ask=remove",
    "apps/1/tokens/new",
    "apps/connect",
    "apps/install/",
    "webhooks/",
    "webhooks/1?ask=test&chart=day",
    "webhooks/1/edit",
    "prove?act=keys.rotate",
)
REJECTED = "550: 5.1.1 Mailbox does not exist"
BROKEN_HTML = "<p>Hello</p>\n<p>{{ gone }}</p>"
TRANSLATED = tuple(tag for tag in CONSOLE_TAGS if tag != ENGLISH)


@pytest.fixture(params=TRANSLATED)
def staff(
    request: pytest.FixtureRequest, browser: Browser, demo_shop: RunningShop
) -> Iterator[Visitor]:
    with demo_shop.ports.database.transaction() as session:
        session.execute(update(UserRecord).values(language_code=request.param.upper()))
        # An app's first token has a name that is also a word of the console.
        session.execute(update(AppTokenRecord).values(name="Scanner"))
    context = browser.new_context(
        viewport={"width": PHONE, "height": 800}, reduced_motion="reduce"
    )
    demo_shop.sign_in(context, ADMIN, SessionOrigin.OIDC)
    yield Visitor(context.new_page(), demo_shop, request.param)
    context.close()


def test_security_pages_are_in_the_person_s_language(staff: Visitor) -> None:
    customer = f"customers/{customer_key(staff.shop.ports)}"
    for path in (*PAGES, customer, f"{customer}?ask=link", f"{customer}?ask=add-metadata"):
        staff.open(path)
    staff.open("inspector/")
    staff.page.get_by_label(staff.word("Token"), exact=True).fill("eyJ.broken")
    staff.press("Inspect")
    staff.page.get_by_text(staff.word("Unrecognized token")).wait_for()
    staff.look()


def test_emails_are_explained_in_the_person_s_language(staff: Visitor) -> None:
    with staff.shop.ports.database.transaction() as session:
        session.add(
            MailTemplateRecord(
                kind="password_reset",
                language_code="",
                version=1,
                is_current=True,
                subject="Password",
                html=BROKEN_HTML,
                text="{{ link }}",
                fault="html, line 2: There is no value gone in this email.",
                saved_at=staff.shop.ports.clock.now(),
                saved_by="hannah@example.com",
            )
        )
    reset = staff.word("Password reset")
    staff.open(f"settings/email-preview/?language={staff.language.upper()}")
    staff.open("mails/?result=FAILED")
    expect(staff.page.get_by_text(REJECTED)).to_be_visible()
    rejected = staff.word("The mail server rejected the recipient with {answer}.")
    expect(staff.page.locator("small", has_text=REJECTED)).to_have_text(
        rejected.format(answer=REJECTED)
    )
    staff.page.get_by_role("link", name=reset, exact=True).first.click()
    staff.look()
    staff.open("email-templates/")
    fault = staff.word("There is no value {name} in this email.").format(name="gone")
    expect(staff.page.get_by_text(fault)).to_be_visible()
    staff.page.get_by_role("link", name=reset, exact=True).click()
    expect(staff.page.get_by_text(fault)).to_be_visible()
    staff.look()
    staff.press("Preview template")
    line = staff.word("Line {line}").format(line=2)
    expect(staff.page.get_by_role("alert")).to_contain_text(f"{line}: {fault}")
    staff.look()
    staff.page.locator("textarea[name=html]").fill(
        '<p><a href="{{ link }}">{{ shop.name }}</a></p>'
    )
    staff.press("Preview template")
    expect(staff.page.locator("iframe")).to_be_visible()
    staff.look()
