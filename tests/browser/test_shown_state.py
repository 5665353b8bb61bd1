"""The console shows what is the case: for the person, the filters and the customer."""

import re

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from app.models import UserRecord
from app.services.demo.people import SUPPORT
from tests.browser.console import ADMIN, RunningShop

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


def test_person_sees_what_they_can_open_and_who_grants_the_rest(
    page: Page, demo_shop: RunningShop
) -> None:
    demo_shop.sign_in(page.context, SUPPORT)
    page.goto(f"{demo_shop.url}/console/")
    places = page.get_by_role("navigation", name="Console")
    expect(places.get_by_role("link", name="Customers")).to_be_visible()
    for hidden in ("Signing keys", "Webhooks", "Staff and groups"):
        expect(places.get_by_role("link", name=hidden)).to_have_count(0)
    expect(page.get_by_role("link", name="Create app")).to_have_count(0)
    page.goto(f"{demo_shop.url}/console/staff/")
    main = page.get_by_role("main")
    expect(main).to_contain_text("You need the permission Manage staff")
    expect(main.get_by_role("link", name="Email Ada")).to_be_visible()
    expect(main).not_to_contain_text("flask")


def test_filter_that_cannot_be_applied_is_not_shown_as_applied(
    page: Page, demo_shop: RunningShop
) -> None:
    demo_shop.sign_in(page.context, ADMIN)
    page.goto(f"{demo_shop.url}/console/deliveries/?code=abc")
    expect(page.get_by_role("alert")).to_contain_text("Some filters aren't applied")
    expect(page.get_by_role("link", name="Clear filters")).to_have_count(0)
    page.goto(f"{demo_shop.url}/console/deliveries/?code=402")
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_text(re.compile(r"^\d+ of \d+ deliveries$")).first).to_be_visible()
    expect(page.get_by_role("link", name="Clear filters")).to_be_visible()


def test_customers_page_says_why_they_cannot_sign_in_and_lifts_the_block(
    page: Page, demo_shop: RunningShop
) -> None:
    ports = demo_shop.ports
    with ports.database.reading() as session:
        clara = session.scalars(
            select(UserRecord.id).filter_by(email="customer@example.com")
        ).one()
    for _ in range(20):
        ports.throttle.guess(clara, ports.clock.timestamp())
    demo_shop.sign_in(page.context, SUPPORT)
    page.goto(f"{demo_shop.url}/console/customers/?q=clara")
    page.get_by_role("link", name="Clara Lindqvist").click()
    attempts = page.get_by_role("region", name="Recent sign-in attempts")
    expect(attempts).to_contain_text("Incorrect password")
    answer = page.get_by_role("region", name="Can this customer sign in?")
    expect(answer).to_contain_text("Too many incorrect current passwords")
    # Support unblocks the account; blocks of IP addresses take another permission.
    expect(answer.get_by_role("button", name="Unblock IP")).to_have_count(0)
    answer.get_by_role("button", name="Unblock account").click()
    expect(answer).not_to_contain_text("Too many incorrect current passwords")
