"""The console of a shop with data, in each of its languages, on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from sqlalchemy import update

from app.domain.authorization.actor import SessionOrigin
from app.domain.values.languages import CONSOLE_TAGS, ENGLISH
from app.models import UserRecord
from tests.browser.console import ADMIN, RunningShop
from tests.browser.test_languages import PHONE, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

PAGES = (
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
    "account/security/",
    "prove?act=keys.rotate",
)
TRANSLATED = tuple(tag for tag in CONSOLE_TAGS if tag != ENGLISH)


@pytest.fixture(params=TRANSLATED)
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


def test_security_pages_are_in_the_person_s_language(staff: Visitor) -> None:
    for path in PAGES:
        staff.open(path)
    staff.open("inspector/")
    staff.page.get_by_label(staff.word("Token"), exact=True).fill("eyJ.broken")
    staff.press("Inspect")
    staff.page.get_by_text(staff.word("Unrecognized token")).wait_for()
    staff.look()
