"""The main flows in a browser that runs no script: the server sends whole pages."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from tests.browser.console import ADMIN, RunningShop, ask
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.webhooks import make_many_deliveries, make_webhook
from tests.fakes.offset_clock import Ahead

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


@pytest.fixture
def plain(browser: Browser, small_shop: RunningShop) -> Iterator[Page]:
    """The page of a browser without script."""
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    context = browser.new_context(java_script_enabled=False)
    yield context.new_page()
    context.close()


def test_server_asks_and_answers_by_whole_pages(plain: Page, small_shop: RunningShop) -> None:
    ports, console = small_shop.ports, f"{small_shop.url}/console"
    plain.goto(f"{console}/access/")
    plain.get_by_label("Email").fill(ADMIN)
    plain.get_by_label("Password").fill(PASSWORD)
    plain.get_by_role("button", name="Sign in with password").click()
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

    plain.goto(f"{console}/apps/connect")
    plain.get_by_label("Name", exact=True).fill("Labels")
    plain.get_by_role("button", name="Create app").click()
    expect(plain.get_by_role("button", name=re.compile("^Copy"))).to_have_count(0)
    token = plain.get_by_label("Token", exact=True).input_value()
    assert ask(small_shop, "{ app { name } }", token) == {"app": {"name": "Labels"}}

    make_product(ports, "Kettle")
    plain.goto(f"{console}/dry-run/")
    query = plain.get_by_role("textbox", name="Subscription query")
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    plain.get_by_role("button", name="Run", exact=True).click()
    expect(plain.get_by_role("region", name="Payload as JSON")).to_contain_text("Kettle")

    plain.goto(f"{console}/inspector/")
    plain.get_by_label("Token").fill(sign_in(ports, make_user(ports)).access)
    plain.get_by_role("button", name="Inspect").click()
    expect(plain.get_by_role("region", name="Inspection")).to_contain_text("customer@example.com")
    expect(plain.get_by_label("Token")).to_have_value("")

    assert isinstance(ports.clock, Ahead)
    ports.clock.seconds += 360
    plain.goto(f"{console}/keys/")
    plain.get_by_role("link", name="Rotate signing key").click()
    plain.get_by_role("dialog").get_by_role("button", name="Rotate signing key").click()
    plain.get_by_label("Password").fill(PASSWORD)  # the proof is six minutes old
    plain.get_by_role("button", name="Continue").click()
    expect(plain.get_by_text("The signing key was rotated")).to_be_visible()


def test_lists_are_searched_filtered_and_selected(plain: Page, small_shop: RunningShop) -> None:
    ports, console = small_shop.ports, f"{small_shop.url}/console"
    small_shop.sign_in(plain.context, ADMIN)
    make_user(ports, "clara@example.com")
    make_user(ports, "ines@example.com", is_active=False)
    make_user(ports, "ines@example.org")
    plain.goto(f"{console}/customers/")
    plain.get_by_label("Name, email or address").fill("ines")
    plain.keyboard.press("Enter")
    expect(plain.get_by_text("2 of 3 customers").first).to_be_visible()
    plain.locator("summary", has_text="Status").click()
    plain.get_by_role("link", name="Deactivated", exact=True).click()
    expect(plain.get_by_text("1 of 3 customers").first).to_be_visible()
    plain.get_by_role("link", name="Save filter").click()
    dialog = plain.get_by_role("dialog", name="Save filter")
    dialog.get_by_label("Name").fill("Former")
    dialog.get_by_role("button", name="Save filter").click()
    saved = plain.get_by_role("navigation", name="Saved filters")
    expect(saved.get_by_role("link", name="Former")).to_have_attribute("aria-current", "page")
    saved.get_by_role("link", name="Edit filter").click()
    plain.get_by_role("dialog").get_by_role("button", name="Delete filter").click()
    expect(plain.get_by_text("Filter deleted.")).to_be_visible()

    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED)
    make_many_deliveries(ports, hook, 2, status="FAILED")
    make_many_deliveries(ports, hook, 1)
    plain.goto(f"{console}/deliveries/?status=failed")
    plain.get_by_role("link", name="Select all 2 matching deliveries").click()
    plain.get_by_role("link", name="Resend 2 deliveries").click()
    dialog = plain.get_by_role("dialog", name="Resend 2 deliveries?")
    dialog.get_by_role("button", name="Resend 2 deliveries").click()
    expect(plain.get_by_text("Resending 2 deliveries.")).to_be_visible()
