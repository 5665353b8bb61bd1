"""What stays in place: tabs of neighboring pages, one main button, the typeface."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.browser.console import ADMIN, RunningShop
from tests.browser.demo import customer_key
from tests.fixtures.one_of_each import InTurn

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

DESK = ViewportSize(width=1440, height=900)
PHONE = ViewportSize(width=390, height=844)
SIBLINGS = (
    ("emails/templates", "emails/look", "emails/sending", "emails/log/"),
    ("staff/", "staff/groups/", "staff/matrix/"),
    ("account/", "account/security/"),
    ("settings/", "settings/accounts", "settings/hosted-pages", "settings/webhook-alerts"),
)
APP_VIEWS = ("overview", "tokens", "permissions", "webhooks", "activity", "settings")
PERSON_VIEWS = ("overview", "sessions", "emails", "account")
ROW_OF_TABS = """() => {
  const row = document.querySelector('main .lk-tabs, main .lk-index');
  const links = [...row.querySelectorAll('a')].map((link) => link.getBoundingClientRect());
  const current = row.querySelector('[aria-current]').getBoundingClientRect();
  return {
    top: Math.round(row.getBoundingClientRect().top),
    lines: new Set(links.map(({ top }) => Math.round(top))).size,
    isSeen: current.left >= 0 && current.right <= innerWidth + 1,
  };
}"""
PRIMARY = """() => [...document.querySelectorAll('main .btn-primary')]
  .filter((button) => button.checkVisibility()).map((button) => button.innerText.trim())"""
SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) window.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });
}"""
TYPEFACE = """() => document.fonts.ready.then(() => ({
  loaded: [...document.fonts].filter(({ status }) => status === 'loaded')
    .map(({ family }) => family),
  used: getComputedStyle(document.body).fontFamily,
  shifted: window.shifted,
}))"""
NUMBERS = """() => [...document.querySelectorAll('main tbody .is-num')].map((cell) => {
  const style = getComputedStyle(cell);
  return `${style.textAlign} ${style.fontVariantNumeric}`;
})"""
GROUPS = """() => [...document.querySelectorAll('.lk-nav ul')]
  .map((list) => list.children.length)"""


@pytest.fixture
def staff(browser: Browser, demo_shop: RunningShop) -> Iterator[Page]:
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    demo_shop.sign_in(context, ADMIN)
    yield context.new_page()
    context.close()


def test_neighboring_pages_keep_their_tabs_in_place(
    staff: Page, demo_shop: RunningShop, in_turn: InTurn
) -> None:
    """Of each row of tabs two pages in turn, or all of them."""
    things = (
        tuple(f"apps/1?view={view}" for view in APP_VIEWS),
        tuple(f"customers/{customer_key(demo_shop.ports)}?view={view}" for view in PERSON_VIEWS),
    )
    for pages in (*SIBLINGS, *things):
        tops, primary = set(), {}
        for path in in_turn(pages, some=2):
            staff.goto(f"{demo_shop.url}/console/{path}")
            tops.add(staff.evaluate(ROW_OF_TABS)["top"])
            primary[path] = staff.evaluate(PRIMARY)
        assert len(tops) == 1, pages
        assert [found for found in primary.values() if len(found) > 1] == [], primary


def test_tabs_have_one_line_on_a_phone_with_the_current_one_in_sight(
    staff: Page, demo_shop: RunningShop
) -> None:
    staff.set_viewport_size(PHONE)
    for path in ("apps/1?view=settings", "staff/1?view=account", "settings/second-factor"):
        staff.goto(f"{demo_shop.url}/console/{path}")
        staff.wait_for_load_state()
        row = staff.evaluate(ROW_OF_TABS)
        assert row["isSeen"], path
        assert row["lines"] == 1, path


def test_page_stands_still_in_its_typeface_with_numbers_in_columns(
    staff: Page, demo_shop: RunningShop
) -> None:
    staff.add_init_script(f"({SHIFTS})()")
    staff.goto(f"{demo_shop.url}/console/deliveries/")
    typeface = staff.evaluate(TYPEFACE)
    assert typeface["used"].startswith('"Inter Variable"')
    assert "Inter Variable" in typeface["loaded"]
    assert typeface["shifted"] < 0.01
    assert set(staff.evaluate(NUMBERS)) == {"end tabular-nums"}
    groups = staff.evaluate(GROUPS)
    assert len(groups) > 3
    assert max(groups) <= 6
