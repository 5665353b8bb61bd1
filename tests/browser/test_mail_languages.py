"""Emails on pages in the person's language: previews, results and faults of templates."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import update

from app.domain.authorization.actor import SessionOrigin
from app.models import MailTemplateRecord, UserRecord
from tests.browser.console import ADMIN, RunningShop
from tests.browser.test_languages import PHONE, Visitor

pytestmark = [
    pytest.mark.browser,
    pytest.mark.xdist_group("console"),
    pytest.mark.one_of("staff"),
]

REJECTED = "550: 5.1.1 Mailbox does not exist"
BROKEN_HTML = "<p>Hello</p>\n<p>{{ gone }}</p>"


@pytest.fixture(params=["de", "pl"])
def staff(
    request: pytest.FixtureRequest, browser: Browser, demo_shop: RunningShop
) -> Iterator[Visitor]:
    with demo_shop.ports.database.transaction() as session:
        session.execute(update(UserRecord).values(language_code=request.param.upper()))
    context = browser.new_context(
        viewport={"width": PHONE, "height": 800}, reduced_motion="reduce"
    )
    demo_shop.sign_in(context, ADMIN, SessionOrigin.OIDC)
    yield Visitor(context.new_page(), demo_shop, request.param)
    context.close()


def test_emails_are_explained_in_the_person_s_language(staff: Visitor) -> None:
    with staff.shop.ports.database.transaction() as session:
        session.add(
            MailTemplateRecord(
                kind="password_reset",
                language_code="",
                version=1,
                is_current=True,
                subject="Hello Ada",
                html=BROKEN_HTML,
                text="{{ link }}",
                fault="html, line 2: There is no value gone in this email.",
                saved_at=staff.shop.ports.clock.now(),
                saved_by="hannah@example.com",
            )
        )
    reset = staff.say("Password reset")
    staff.open(f"emails/look?language={staff.language.upper()}")
    staff.open("emails/log/?result=FAILED")
    rejected = staff.say("The mail server rejected the recipient with {answer}.", answer=REJECTED)
    expect(staff.page.locator("small", has_text=REJECTED)).to_have_text(rejected)
    staff.page.get_by_role("link", name=reset, exact=True).first.click()
    staff.look()
    staff.open("emails/templates/")
    fault = staff.say("There is no value {name} in this email.", name="gone")
    expect(staff.page.get_by_text(fault)).to_be_visible()
    staff.page.get_by_role("link", name=reset, exact=True).click()
    expect(staff.page.get_by_text(fault).first).to_be_visible()
    staff.look()
    staff.press("Save template")
    line = staff.say("Line {line}", line=2)
    expect(staff.page.get_by_role("alert")).to_contain_text(f"{line}: {fault}")
    staff.look()
    staff.page.locator("textarea[name=html]").fill(
        '<p><a href="{{ link }}">{{ shop.name }}</a></p>'
    )
    expect(staff.page.locator("iframe")).to_be_visible()
    staff.look()
