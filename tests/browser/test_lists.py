"""Lists: rows of one line that begin high, opened as a whole or by keyboard, filtered by chips."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.console import ADMIN, RunningShop
from tests.builders.apps import make_app
from tests.builders.people import make_user

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


@pytest.fixture
def staff(browser: Browser, demo_shop: RunningShop) -> Iterator[Page]:
    context = browser.new_context(viewport=WINDOW, reduced_motion="reduce")
    demo_shop.sign_in(context, ADMIN)
    yield context.new_page()
    context.close()


def test_rows_have_one_line_and_begin_in_the_upper_third(
    staff: Page, demo_shop: RunningShop
) -> None:
    for path in LISTS:
        staff.goto(f"{demo_shop.url}/console/{path}")
        rows = staff.evaluate(ROWS)
        assert {height for _, height in rows} <= {44, 45}, path
        assert rows[0][0] <= 300, path
        staff.set_viewport_size(TABLET)
        assert {height for _, height in staff.evaluate(ROWS)} <= {44, 45}, path
        heads, cells = staff.evaluate(COLUMNS)
        assert len(heads) > 2, path
        assert heads == cells, path
        staff.set_viewport_size(WINDOW)
    staff.goto(f"{demo_shop.url}/console/audit/")
    assert abs(staff.evaluate(HEADER_TOP)) < 2
    expect(staff.get_by_role("link", name="Older")).to_be_visible()
    staff.goto(f"{demo_shop.url}/console/apps/")
    expect(staff.get_by_role("navigation", name="Pages")).to_have_count(0)


def test_row_is_opened_by_a_click_anywhere_and_by_keyboard(
    staff: Page, demo_shop: RunningShop
) -> None:
    url = f"{demo_shop.url}/console/deliveries/"
    staff.goto(url)
    row = staff.locator("tbody tr").nth(2)
    row.get_by_role("cell").last.click()
    expect(staff).to_have_url(re.compile(rf"{url}\d+$"))
    staff.goto(url)
    staff.wait_for_load_state()
    for key in "jjjk":
        staff.keyboard.press(key)
    second = staff.locator("tbody tr").nth(1)
    expect(second.get_by_role("rowheader").get_by_role("link")).to_be_focused()
    staff.keyboard.press("x")
    expect(second.get_by_role("checkbox")).to_be_checked()
    expect(staff.get_by_text("1 selected")).to_be_visible()
    staff.keyboard.press("/")
    expect(staff.get_by_role("searchbox", name="Payload or message ID")).to_be_focused()
    staff.goto(url)
    staff.wait_for_load_state()
    staff.keyboard.press("j")
    staff.keyboard.press("Enter")
    expect(staff).to_have_url(re.compile(rf"{url}\d+$"))


@pytest.mark.parametrize("has_script", [True, False], ids=["with script", "without script"])
def test_chips_filter_at_once(browser: Browser, small_shop: RunningShop, has_script: bool) -> None:
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    make_app(small_shop.ports, "Labels")
    make_app(small_shop.ports, "Old till", is_active=False)
    context = browser.new_context(viewport=WINDOW, java_script_enabled=has_script)
    small_shop.sign_in(context, ADMIN)
    page = context.new_page()
    page.goto(f"{small_shop.url}/console/apps/")
    page.locator("summary", has_text="Sort").click()
    page.get_by_role("link", name="Newest first").click()
    page.locator("summary", has_text="Status").click()
    page.get_by_role("link", name="Inactive", exact=True).click()
    expect(page.get_by_text("1 of 2 apps")).to_be_visible()
    expect(page.get_by_role("link", name="Labels")).to_have_count(0)
    expect(page.locator("summary", has_text="Sort: Newest first")).to_be_visible()
    page.get_by_role("link", name="Remove filter Status: Inactive").click()
    expect(page.get_by_role("link", name="Labels")).to_be_visible()
    page.goto(f"{small_shop.url}/console/audit/")
    page.locator("summary", has_text="Date").click()
    page.get_by_label("To date", exact=True).fill("2020-01-31")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("link", name="Remove filter Date: until 2020-01-31")).to_be_visible()
    expect(page.get_by_text("No matching entries").first).to_be_visible()
    context.close()
