"""What a phone's width must not take away: names, ticks beside what they mark, acts."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, ViewportSize, expect

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.shop.settings import ShopUpdate
from app.services.shop.settings import update_shop
from tests.browser.console import ADMIN, RunningShop
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.sign_in_events import make_sign_in
from tests.builders.webhooks import make_many_deliveries, make_webhook

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

PHONE = ViewportSize(width=390, height=844)
IN_SIGHT = """(element) => {
  const { left, top, width, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""
TABLET = ViewportSize(width=768, height=1024)
SPLIT_WORDS = """(table) => {
  const found = new Set(), range = document.createRange();
  const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.checkVisibility()) continue;
    let line = null;
    for (let at = 0; at < node.data.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const top = range.getClientRects()[0]?.top;
      const isInside = at > 0 && /\\w/.test(node.data[at - 1]) && /\\w/.test(node.data[at]);
      if (line !== null && top > line + 3 && isInside) found.add(node.data.trim());
      line = top ?? null;
    }
  }
  return [...found];
}"""
FREE_OF_THE_BAR = """() => document.activeElement.getBoundingClientRect().bottom
  <= document.querySelector('.lk-selected > div').getBoundingClientRect().top"""


@pytest.fixture(params=[True, False], ids=["with script", "without script"])
def phone(
    request: pytest.FixtureRequest, browser: Browser, small_shop: RunningShop
) -> Iterator[Page]:
    """A phone of somebody who may do everything."""
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    context = browser.new_context(
        viewport=PHONE, java_script_enabled=request.param, reduced_motion="reduce"
    )
    small_shop.sign_in(context, ADMIN)
    yield context.new_page()
    context.close()


def box(element: Locator) -> FloatRect:
    found = element.bounding_box()
    assert found is not None
    return found


def middle(element: Locator) -> float:
    return box(element)["y"] + box(element)["height"] / 2


def test_chosen_deliveries_are_sent_again_from_where_they_are_chosen(
    phone: Page, small_shop: RunningShop
) -> None:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(small_shop.ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(small_shop.ports, hook, 25)
    phone.goto(f"{small_shop.url}/console/deliveries/")
    again = phone.get_by_role("button", name="Resend selected")
    expect(again).to_be_hidden()
    choice = phone.get_by_role("checkbox", name="Select Product updated").first
    row = phone.locator("tbody tr").first
    assert abs(middle(choice) - middle(row)) < 6
    choice.check()
    assert again.evaluate(IN_SIGHT)
    for _ in range(12):
        phone.keyboard.press("Tab")
        assert phone.evaluate(FREE_OF_THE_BAR)
    again.click()
    expect(phone.get_by_text("Resending 1 delivery.")).to_be_visible()


@pytest.mark.one_of("phone")
def test_events_are_found_by_what_they_are_about(phone: Page, small_shop: RunningShop) -> None:
    make_app(small_shop.ports, "Labels", Permission.MANAGE_ORDERS)
    phone.goto(f"{small_shop.url}/console/webhooks/new")
    paid = phone.get_by_role("checkbox", name="ORDER_PAID")
    expect(paid).to_be_hidden()
    phone.locator("summary", has_text="Orders").press("Enter")
    paid.press("Space")
    expect(paid).to_be_checked()
    for summary in phone.locator("summary:visible").all():
        assert box(summary)["height"] >= 24
    phone.get_by_label("Endpoint URL").fill("https://labels.example.com/hooks")
    phone.get_by_role("button", name="Create webhook").click()
    phone.get_by_role("navigation").get_by_role("link", name="Events 1").click()
    expect(phone.get_by_role("region", name="Subscribed events")).to_contain_text("ORDER_PAID")


@pytest.mark.one_of("phone")
def test_checkbox_is_next_to_its_label_and_the_shops_name_whole(
    phone: Page, small_shop: RunningShop
) -> None:
    make_group(small_shop.ports, "Support", Permission.MANAGE_ORDERS)
    update_shop(small_shop.ports, OPERATOR, ShopUpdate(name="Northlight Ceramics"))
    phone.goto(f"{small_shop.url}/console/staff/matrix/")
    cell = phone.get_by_role("row", name="Manage orders MANAGE_ORDERS").locator("td:visible")
    assert box(cell.locator("svg"))["x"] == box(cell)["x"]
    name = phone.get_by_text("Northlight Ceramics", exact=True)
    assert name.evaluate("(name) => name.scrollWidth <= name.clientWidth")


@pytest.mark.one_of("phone")
def test_long_changes_make_the_audit_log_no_wider(phone: Page, small_shop: RunningShop) -> None:
    """What only screen readers get stands behind the text that is cut, and isn't cut with it."""
    for name in (f"{'Northlight' * 9} Ceramics", "Northlight"):
        update_shop(small_shop.ports, OPERATOR, ShopUpdate(name=name))
    phone.goto(f"{small_shop.url}/console/audit/")
    expect(phone.locator("tbody tr del")).not_to_have_count(0)
    width = "document.documentElement.scrollWidth"
    assert phone.evaluate(width) == PHONE["width"]
    phone.locator("tbody th a").first.click()
    expect(phone.get_by_role("region", name="Before and after")).to_be_visible()
    assert phone.evaluate(width) == PHONE["width"]


@pytest.mark.one_of("phone")
def test_lists_are_filtered_from_a_line_of_chips(phone: Page, small_shop: RunningShop) -> None:
    make_user(small_shop.ports, "ines@example.com", first_name="Ines", is_active=False)
    make_user(small_shop.ports, "tom@example.com", first_name="Tom")
    phone.goto(f"{small_shop.url}/console/customers/")
    assert box(phone.get_by_role("link", name="Ines"))["y"] < PHONE["height"] / 2
    phone.locator("summary", has_text="Status").click()
    choice = phone.get_by_role("link", name="Deactivated")
    assert choice.evaluate(IN_SIGHT)
    choice.click()
    expect(phone.get_by_text("1 of 2 customers")).to_be_visible()
    expect(phone.get_by_role("link", name="Tom")).to_have_count(0)
    phone.get_by_role("link", name="Remove filter Status: Deactivated").click()
    expect(phone.get_by_role("link", name="Tom")).to_be_visible()


def test_emails_and_ip_addresses_break_at_no_letter_on_a_tablet(
    browser: Browser, small_shop: RunningShop
) -> None:
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    email = "beatriz.lopes@northlight.example.com"
    person = make_user(small_shop.ports, email, is_staff=True, first_name="Beatriz")
    long_ago = small_shop.ports.clock.now() - timedelta(days=40)
    make_sign_in(
        small_shop.ports,
        user_id=person,
        name=email,
        address="203.0.113.137",
        attempts=200,
        reason="INCORRECT_PASSWORD",
        at=long_ago,
        in_console=True,
    )
    context = browser.new_context(viewport=TABLET)
    small_shop.sign_in(context, ADMIN)
    page = context.new_page()
    for path in ("sign-ins/", "audit/", "staff/", f"staff/{person}"):
        page.goto(f"{small_shop.url}/console/{path}?since=90d")
        assert page.locator("main").evaluate(SPLIT_WORDS) == [], path
    context.close()
