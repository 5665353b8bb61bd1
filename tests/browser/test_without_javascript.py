"""The main flows in a browser that runs no script: the server sends whole pages."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import ADMIN, RunningShop, ask, work
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_group, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.offset_clock import Ahead
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


@pytest.fixture
def plain(browser: Browser, small_shop: RunningShop) -> Iterator[Page]:
    """The page of a browser without script, signed in by the form."""
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{small_shop.url}/console/")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in with password").click()
    expect(page.get_by_role("heading", level=1, name="Home")).to_be_visible()
    yield page
    context.close()


def test_storefront_is_closed_by_a_question_of_the_servers(
    plain: Page, small_shop: RunningShop
) -> None:
    plain.get_by_role("link", name="Access").click()
    storefront = plain.get_by_role("region", name="Storefront traffic")
    storefront.get_by_role("radio", name="Closed").check()
    storefront.get_by_role("button", name="Review change").click()
    question = plain.get_by_role("dialog", name="Close the storefront?")
    question.get_by_role("link", name="Cancel").click()
    expect(question).to_have_count(0)
    assert ask(small_shop, "{ shop { name } }") != 401
    storefront.get_by_role("radio", name="Closed").check()
    storefront.get_by_role("button", name="Review change").click()
    question.get_by_role("button", name="Close storefront").click()
    expect(plain.get_by_text("Storefront closed.")).to_be_visible()
    assert ask(small_shop, "{ shop { name } }") == 401


def test_app_is_created(plain: Page, small_shop: RunningShop) -> None:
    plain.get_by_role("link", name="Create app").first.click()
    plain.get_by_label("Name", exact=True).fill("Labels")
    plain.get_by_role("button", name="Create app").click()
    expect(plain.get_by_role("button", name=re.compile("^Copy"))).to_have_count(0)
    token = plain.get_by_label("Token", exact=True).input_value()
    assert ask(small_shop, "{ app { name } }", token) == {"app": {"name": "Labels"}}


def test_query_is_tried(plain: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    plain.get_by_text("Tools", exact=True).click()
    plain.get_by_role("link", name="Dry run").first.click()
    query = plain.get_by_role("textbox", name="Subscription query")
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    plain.get_by_role("button", name="Run", exact=True).click()
    expect(plain.get_by_role("region", name="Payload as JSON")).to_contain_text("Kettle")


def test_delivery_is_sent_again(plain: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(503))
        make_delivery(
            ports, make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        )
        work(small_shop)
        plain.get_by_role("navigation").get_by_role("link", name="Deliveries").click()
        plain.get_by_role("link", name="Product updated").click()
        plain.get_by_role("button", name="Resend now").click()
        expect(plain.get_by_text("Resending now.")).to_be_visible()
        work(small_shop)
        assert len(receiver.calls("/hook")) == 2


def test_invite_staff_and_end_a_session(plain: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    make_group(ports, "Support", Permission.MANAGE_ORDERS)
    token = sign_in(ports, make_user(ports, "tom@example.com")).access
    plain.get_by_role("navigation").get_by_role("link", name="Staff and groups").click()
    plain.get_by_role("link", name="Invite staff member").first.click()
    plain.get_by_label("Email").fill("nadia@example.com")
    plain.get_by_role("checkbox", name="Support").check()
    plain.get_by_role("button", name="Send invitation").click()
    expect(plain.get_by_text("Invitation sent to nadia@example.com.")).to_be_visible()
    plain.get_by_role("navigation").get_by_role("link", name="Customers").click()
    plain.get_by_label("Name, email or address").fill("tom")
    plain.keyboard.press("Enter")
    plain.get_by_role("link", name="tom@example.com").click()
    plain.get_by_role("main").get_by_role("link", name="Sessions", exact=True).click()
    plain.get_by_role("link", name="End all sessions").click()
    plain.get_by_role("dialog").get_by_role("button", name="End all sessions").click()
    expect(plain.get_by_text("Ended 1 session of tom@example.com.")).to_be_visible()
    assert ask(small_shop, "{ me { email } }", token)["me"] is None


def test_key_is_rotated_an_address_let_go_and_a_token_inspected(
    plain: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    user = make_user(ports)
    token = sign_in(ports, user).access
    plain.locator("nav summary", has_text="Tools").click()
    plain.get_by_role("navigation").get_by_role("link", name="Token inspector").click()
    plain.get_by_label("Token").fill(token)
    plain.get_by_role("button", name="Inspect").click()
    expect(plain.get_by_role("region", name="Inspection")).to_contain_text("customer@example.com")
    expect(plain.get_by_label("Token")).to_have_value("")
    plain.get_by_role("navigation").get_by_role("link", name="Signing keys").click()
    assert isinstance(ports.clock, Ahead)
    ports.clock.seconds += 360
    plain.reload()
    plain.get_by_role("link", name="Rotate signing key").click()
    plain.get_by_role("dialog").get_by_role("button", name="Rotate signing key").click()
    plain.get_by_label("Password").fill(PASSWORD)  # the proof is six minutes old
    plain.get_by_role("button", name="Continue").click()
    expect(plain.get_by_text("The signing key was rotated")).to_be_visible()
    for _ in range(9):
        ports.throttle.fail("203.0.113.7", "", user, ports.clock.timestamp())
    plain.get_by_role("navigation").get_by_role("link", name="Blocked IPs").click()
    plain.get_by_role("link", name="Unblock 203.0.113.7").click()
    plain.get_by_role("dialog").get_by_role("button", name="Unblock IP address").click()
    expect(plain.get_by_text("Unblocked 203.0.113.7")).to_be_visible()
