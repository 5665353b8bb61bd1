"""Lists: rows of one line that begin high, opened as a whole or by keyboard, filtered by chips."""

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import ADMIN, RunningShop
from tests.builders.apps import make_app
from tests.builders.people import make_user
from tests.builders.webhooks import make_many_deliveries, make_webhook

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

WINDOW = ViewportSize(width=1440, height=900)
TABLET = ViewportSize(width=768, height=900)
LISTS = (
    *("apps/", "webhooks/", "deliveries/", "customers/", "staff/", "staff/groups/", "mails/"),
    *("sign-ins/", "single-sign-on/", "throttle/", "audit/"),
)
ROWS = """() => [...document.querySelectorAll('main table.is-dense tbody tr')]
  .map((row) => row.getBoundingClientRect()).map(({ top, height }) => [top, Math.round(height)])"""
COLUMNS = """() => {
  const lefts = (cells) => [...cells].filter((cell) => cell.checkVisibility())
    .map((cell) => Math.round(cell.getBoundingClientRect().left));
  const table = document.querySelector('main table.is-dense');
  return ['thead tr', 'tbody tr'].map((row) => lefts(table.querySelector(row).cells));
}"""
HEADER_TOP = """() => {
  scrollTo(0, document.body.scrollHeight);
  return document.querySelector('main thead th').getBoundingClientRect().top
    - document.querySelector('.lk-top').getBoundingClientRect().bottom;
}"""


def test_rows_have_one_line_and_begin_in_the_upper_third(
    page: Page, demo_shop: RunningShop
) -> None:
    demo_shop.sign_in(page.context, ADMIN)
    sizes = [WINDOW, TABLET]
    for path in LISTS:
        page.goto(f"{demo_shop.url}/console/{path}")
        sizes.reverse()  # a page opens as the one before was left
        for size in sizes:
            page.set_viewport_size(size)
            rows = page.evaluate(ROWS)
            assert {height for _, height in rows} <= {44, 45}, (path, size)
            if size is WINDOW:
                assert rows[0][0] <= 300, path
            else:
                heads, cells = page.evaluate(COLUMNS)
                assert len(heads) > 2, path
                assert heads == cells, path
    page.set_viewport_size(WINDOW)
    assert abs(page.evaluate(HEADER_TOP)) < 2, "the header of the audit log stays in sight"


def test_rows_are_opened_by_a_click_anywhere_and_by_keyboard_and_selected(
    admin: Page, small_shop: RunningShop
) -> None:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(small_shop.ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(small_shop.ports, hook, 3, status="FAILED")
    url = f"{small_shop.url}/console/deliveries/"
    admin.goto(url)
    admin.locator("tbody tr").nth(2).get_by_role("cell").last.click()
    expect(admin).to_have_url(re.compile(rf"{url}\d+$"))
    admin.goto(url)
    admin.wait_for_load_state()
    for key in "jjjk":
        admin.keyboard.press(key)
    second = admin.locator("tbody tr").nth(1)
    expect(second.get_by_role("rowheader").get_by_role("link")).to_be_focused()
    admin.keyboard.press("x")
    expect(second.get_by_role("checkbox")).to_be_checked()
    expect(admin.get_by_text("1 selected")).to_be_visible()
    admin.get_by_role("checkbox", name="Select all on this page").check()
    expect(admin.get_by_text("3 selected")).to_be_visible()
    admin.keyboard.press("/")
    expect(admin.get_by_role("searchbox", name="Payload or message ID")).to_be_focused()
    admin.get_by_role("button", name="Resend selected").click()
    expect(admin.get_by_text("Resending 3 deliveries.")).to_be_visible()
    admin.wait_for_load_state()
    admin.keyboard.press("j")
    admin.keyboard.press("Enter")
    expect(admin).to_have_url(re.compile(rf"{url}\d+$"))


def test_chips_filter_at_once(admin: Page, small_shop: RunningShop) -> None:
    make_user(small_shop.ports, "clara@example.com")
    make_user(small_shop.ports, "ines@example.com", is_active=False)
    admin.goto(f"{small_shop.url}/console/customers/")
    admin.locator("summary", has_text="Sort").click()
    admin.get_by_role("link", name="Newest first").click()
    admin.locator("summary", has_text="Status").click()
    admin.get_by_role("link", name="Deactivated", exact=True).click()
    expect(admin.get_by_text("1 of 2 customers").first).to_be_visible()
    expect(admin.get_by_role("link", name="clara@example.com")).to_have_count(0)
    expect(admin.locator("summary", has_text="Sort: Newest first")).to_be_visible()
    admin.get_by_role("link", name="Remove filter Status: Deactivated").click()
    expect(admin.get_by_role("link", name="clara@example.com")).to_be_visible()

    admin.goto(f"{small_shop.url}/console/audit/")
    admin.locator("summary", has_text="Date").click()
    admin.get_by_label("To date", exact=True).fill("2020-01-31")
    admin.get_by_role("button", name="Apply").click()
    expect(admin.get_by_role("link", name="Remove filter Date: until 2020-01-31")).to_be_visible()
    expect(admin.get_by_text("No matching entries").first).to_be_visible()
