"""The main flows by keyboard alone: Tab, Enter, Space, arrows and the shortcuts."""

import pytest
from playwright.sync_api import Locator, Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import ADMIN, RunningShop, Watch, ask, work
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_group, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.offset_clock import Ahead
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

FOCUSED = "element => element.isConnected ? element === document.activeElement : null"
"""Null if a script has replaced the element meanwhile."""
MAX_STOPS = 120


def tab_to(page: Page, place: Locator) -> None:
    """Press Tab until ``place`` has the focus, with the page's scripts in place."""
    place.wait_for()
    page.wait_for_load_state()
    # Once: looking for a name among all elements takes longer than the key.
    element = place.element_handle()
    for _ in range(MAX_STOPS):
        focused = element.evaluate(FOCUSED)
        if focused is None:
            element = place.element_handle()
            focused = element.evaluate(FOCUSED)
        if focused:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"no Tab leads to {place}")


def press(page: Page, place: Locator, key: str = "Enter") -> None:
    tab_to(page, place)
    page.keyboard.press(key)


def test_signing_in_and_closing_the_storefront(
    watch: Watch, page: Page, small_shop: RunningShop
) -> None:
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    page.goto(f"{small_shop.url}/console/")
    tab_to(page, page.get_by_label("Email"))
    page.keyboard.type(ADMIN)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Home")).to_be_visible()
    press(page, page.get_by_role("navigation", name="Console").get_by_role("link", name="Access"))
    storefront = page.get_by_role("region", name="Storefront traffic")
    tab_to(page, storefront.get_by_role("radio", name="Open"))
    page.keyboard.press("ArrowDown")
    expect(storefront.get_by_role("radio", name="Closed")).to_be_checked()
    review = storefront.get_by_role("button", name="Review change")
    press(page, review)
    question = page.get_by_role("dialog", name="Close the storefront?")
    expect(question).to_be_visible()
    page.keyboard.press("Escape")
    expect(question).to_be_hidden()
    expect(review).to_be_focused()
    page.keyboard.press("Enter")
    press(page, question.get_by_role("button", name="Close storefront"))
    expect(page.get_by_text("Storefront closed.")).to_be_visible()
    assert ask(small_shop, "{ shop { name } }") == 401


def test_creating_an_app(admin: Page, small_shop: RunningShop) -> None:
    admin.goto(f"{small_shop.url}/console/")
    press(admin, admin.get_by_role("link", name="Skip to content"))
    press(admin, admin.get_by_role("link", name="Create app").first)
    tab_to(admin, admin.get_by_label("Name", exact=True))
    admin.keyboard.type("Labels")
    press(admin, admin.get_by_role("checkbox", name="Manage orders", exact=True), "Space")
    press(admin, admin.get_by_role("button", name="Create app"))
    token = admin.get_by_label("Token", exact=True).input_value()
    found = ask(small_shop, "{ app { name permissions { code } } }", token)["app"]
    assert found == {"name": "Labels", "permissions": [{"code": "MANAGE_ORDERS"}]}


@pytest.mark.thorough
def test_trying_a_query(admin: Page, small_shop: RunningShop) -> None:
    """``test_pages_dialogs_and_errors_are_accessible`` runs a query by keyboard too."""
    make_product(small_shop.ports, "Kettle")
    admin.goto(f"{small_shop.url}/console/dry-run/")
    tab_to(admin, admin.get_by_role("textbox", name="Subscription query"))
    admin.keyboard.press("Control+A")
    admin.keyboard.type("subscription { event { ... on ProductUpdated { product { name } } } }")
    admin.keyboard.press("Control+Enter")
    expect(admin.get_by_role("region", name="Payload as JSON")).to_contain_text("Kettle")


def test_sending_deliveries_again(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(503))
        make_delivery(
            ports, make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        )
        work(small_shop)
        receiver.answer("/hook", Reply())
        admin.goto(f"{small_shop.url}/console/deliveries/")
        press(admin, admin.get_by_role("checkbox", name="Select Product updated"), "Space")
        expect(admin.get_by_text("1 selected")).to_be_visible()
        press(admin, admin.get_by_role("button", name="Resend selected"))
        expect(admin.get_by_text("Resending 1 delivery.")).to_be_visible()
        work(small_shop)
        assert len(receiver.calls("/hook")) == 2
    admin.reload()
    expect(admin.get_by_role("cell", name="Delivered")).to_be_visible()


@pytest.mark.thorough
def test_invite_staff(admin: Page, small_shop: RunningShop) -> None:
    """Creating an app has the same kinds of links, fields and buttons."""
    make_group(small_shop.ports, "Support", Permission.MANAGE_ORDERS)
    admin.goto(f"{small_shop.url}/console/staff/")
    press(admin, admin.get_by_role("link", name="Invite staff member").first)
    tab_to(admin, admin.get_by_label("Email"))
    admin.keyboard.type("nadia@example.com")
    press(admin, admin.get_by_role("checkbox", name="Support"), "Space")
    press(admin, admin.get_by_role("button", name="Send invitation"))
    expect(admin.get_by_text("Invitation sent to nadia@example.com.")).to_be_visible()


def test_narrowing_a_list_and_ending_a_session(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    make_user(ports, "ines@example.com")
    token = sign_in(ports, make_user(ports, "tom@example.com")).access
    admin.goto(f"{small_shop.url}/console/customers/")
    tab_to(admin, admin.get_by_label("Name, email or address"))
    admin.keyboard.type("tom")
    # After each pause in typing the list comes anew, without the focus.
    expect(admin).to_have_url(f"{small_shop.url}/console/customers/?q=tom")
    expect(admin.get_by_role("link", name="ines@example.com")).to_have_count(0)
    press(admin, admin.get_by_role("link", name="tom@example.com"))
    press(admin, admin.get_by_role("link", name="Sessions", exact=True))
    sign_out = admin.get_by_role("link", name="End all sessions")
    press(admin, sign_out)
    question = admin.get_by_role("dialog", name="End all sessions of tom@example.com?")
    expect(question).to_be_visible()
    admin.keyboard.press("Escape")
    expect(sign_out).to_be_focused()
    press(admin, admin.get_by_role("button", name="End session"))
    expect(admin.get_by_text("Session ended.")).to_be_visible()
    assert ask(small_shop, "{ me { email } }", token)["me"] is None


@pytest.mark.thorough
def test_rotating_the_key_and_letting_an_address_go(admin: Page, small_shop: RunningShop) -> None:
    """Closing the storefront and ending a session have the same dialogs and links."""
    ports = small_shop.ports
    user = make_user(ports)
    admin.goto(f"{small_shop.url}/console/keys/")
    assert isinstance(ports.clock, Ahead)
    ports.clock.seconds += 360
    admin.reload()
    press(admin, admin.get_by_role("link", name="Rotate signing key"))
    press(admin, admin.get_by_role("dialog").get_by_role("button", name="Rotate signing key"))
    tab_to(admin, admin.get_by_label("Password"))  # the proof is six minutes old
    admin.keyboard.type(PASSWORD)
    press(admin, admin.get_by_role("button", name="Continue"))
    expect(admin.get_by_text("The signing key was rotated")).to_be_visible()
    for _ in range(9):
        ports.throttle.fail("203.0.113.7", "", user, ports.clock.timestamp())
    press(admin, admin.get_by_role("navigation").get_by_role("link", name="Blocked IPs"))
    press(admin, admin.get_by_role("link", name="Unblock 203.0.113.7"))
    press(admin, admin.get_by_role("dialog").get_by_role("button", name="Unblock IP address"))
    expect(admin.get_by_text("Unblocked 203.0.113.7")).to_be_visible()


@pytest.mark.thorough
def test_inspecting_a_token_and_reading_the_audit_trail(
    admin: Page, small_shop: RunningShop
) -> None:
    """Closing the storefront and ending a session have the same dialogs and links."""
    ports = small_shop.ports
    token = sign_in(ports, make_user(ports)).access
    admin.goto(f"{small_shop.url}/console/inspector/")
    tab_to(admin, admin.get_by_label("Token"))
    admin.keyboard.insert_text(token)
    press(admin, admin.get_by_role("button", name="Inspect"))
    expect(admin.get_by_role("region", name="Inspection")).to_contain_text("customer@example.com")
    make_group(ports, "Support")
    admin.goto(f"{small_shop.url}/console/staff/groups/1")
    press(admin, admin.get_by_role("link", name="Delete"))
    press(admin, admin.get_by_role("dialog").get_by_role("button", name="Delete group"))
    expect(admin.get_by_text("Deleted the group Support.")).to_be_visible()
    press(admin, admin.get_by_role("navigation").get_by_role("link", name="Audit log"))
    press(admin, admin.get_by_role("link", name="Deleted the group"))
    expect(admin.get_by_role("heading", level=1, name="deleted the group Support")).to_be_visible()


def test_shortcuts(admin: Page, small_shop: RunningShop) -> None:
    make_app(small_shop.ports, "Labels")
    admin.goto(f"{small_shop.url}/console/")
    admin.keyboard.press("?")
    keys = admin.get_by_role("dialog", name="Keyboard shortcuts")
    expect(keys).to_be_visible()
    admin.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    palette = admin.get_by_role("dialog", name="Search or jump to")
    for opens in ("/", "Control+k"):
        admin.keyboard.press(opens)
        expect(palette.get_by_role("searchbox")).to_be_focused()
        admin.keyboard.press("Escape")
        expect(palette).to_be_hidden()
    admin.keyboard.press("Control+k")
    # At once: results for the first letters alone would be replaced, and the focus with them.
    admin.keyboard.insert_text("labels")
    found = palette.get_by_role("link", name="Labels")
    expect(found).to_be_visible()
    admin.keyboard.press("ArrowDown")
    expect(found).to_be_focused()
    admin.keyboard.press("Enter")
    expect(admin.get_by_role("heading", level=1, name="Labels")).to_be_visible()
    admin.wait_for_load_state()
    admin.keyboard.press("g")
    admin.keyboard.press("d")
    expect(admin.get_by_role("heading", level=1, name="Deliveries")).to_be_visible()
