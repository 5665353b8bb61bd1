"""What scripts of the console do as staff work: dialogs, copying, panes, searches as one types."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.services.apps.app_changes import NewApp, create_app
from tests.browser.console import RunningShop, ask
from tests.builders.apps import make_app
from tests.builders.people import make_staff, sign_in
from tests.builders.products import make_product

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

RUN = re.compile("^Run")
SHOP = "{ shop { name } }"


def test_storefront_is_closed_and_opened_in_dialogs_and_the_api_obeys(
    admin: Page, small_shop: RunningShop
) -> None:
    admin.goto(f"{small_shop.url}/console/access/")
    storefront = admin.get_by_role("region", name="Storefront traffic")
    storefront.get_by_role("radio", name="Closed").check()
    storefront.get_by_role("button", name="Review change").click()
    question = admin.get_by_role("dialog", name="Close the storefront?")
    expect(question).to_be_visible()
    question.get_by_role("link", name="Cancel").click()
    expect(question).to_be_hidden()
    assert ask(small_shop, SHOP) != 401
    storefront.get_by_role("button", name="Review change").click()
    question.get_by_label("Note for staff").fill("Stocktake")
    question.get_by_label("Opens automatically").fill("noon")
    question.get_by_role("button", name="Close").click()
    expect(question.get_by_role("alert")).to_contain_text("Enter a date and time")
    expect(question.get_by_label("Note for staff")).to_have_value("Stocktake")
    question.get_by_label("Opens automatically").fill("2099-01-02 13:00")
    question.get_by_role("button", name="Close").click()
    expect(admin.get_by_role("status").filter(has_text="Storefront closed.")).to_be_visible()
    assert ask(small_shop, SHOP) == 401
    storefront.get_by_role("radio", name=re.compile("^Open ")).check()
    storefront.get_by_role("button", name="Review change").click()
    admin.get_by_role("dialog").get_by_role("button", name="Open").click()
    expect(admin.get_by_role("status").filter(has_text="Storefront opened.")).to_be_visible()
    assert ask(small_shop, SHOP) != 401


def test_permission_is_found_by_name_and_others_stay_chosen(
    admin: Page, small_shop: RunningShop, context: BrowserContext
) -> None:
    """Its app is created once in spite of a triple click, and its token is copied."""
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=small_shop.url)
    admin.goto(f"{small_shop.url}/console/apps/connect")
    admin.get_by_label("Name", exact=True).fill("Labels <script>alert(1)</script>")
    shipping = admin.get_by_role("checkbox", name="Manage shipping")
    shipping.check()
    search = admin.get_by_role("searchbox", name="Search permissions")
    search.fill("manage_orders")
    expect(shipping).to_be_hidden()
    admin.get_by_role("checkbox", name="Manage orders", exact=True).check()
    expect(admin.get_by_role("group", name="Sales")).to_contain_text("1 of 9")
    search.fill("nonsense")
    expect(admin.get_by_text("No matching permissions")).to_be_visible()
    admin.get_by_role("button", name="Create app").click(click_count=3)
    token = admin.get_by_label("Token", exact=True).input_value()
    found = ask(small_shop, "{ app { name permissions { code } } }", token)["app"]
    assert found["name"] == "Labels <script>alert(1)</script>"
    codes = sorted(permission["code"] for permission in found["permissions"])
    assert codes == ["MANAGE_ORDERS", "MANAGE_SHIPPING"]

    admin.wait_for_load_state()  # a script copies
    admin.get_by_role("button", name="Copy header").click()
    expect(admin.get_by_text("Copied.", exact=True)).to_be_visible()
    copied = admin.evaluate("navigator.clipboard.readText()")
    assert copied == f"Authorization: Bearer {token}"
    admin.reload()
    expect(admin.get_by_text("This token was shown before.")).to_be_visible()
    assert token not in admin.content()
    admin.go_back()
    expect(admin.get_by_role("heading", level=1, name="Create app")).to_be_visible()
    admin.goto(f"{small_shop.url}/console/apps/")
    expect(admin.locator("#app-list tbody tr")).to_have_count(1)


def test_default_query_follows_the_event_and_an_edited_one_is_saved_as_a_webhook(
    admin: Page, small_shop: RunningShop
) -> None:
    make_product(small_shop.ports, "Kettle")
    make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    admin.goto(f"{small_shop.url}/console/dry-run/")
    query = admin.get_by_role("textbox", name="Subscription query")
    event = admin.get_by_label("Event")
    event.select_option("Order paid")
    assert "... on OrderPaid" in query.input_value()
    expect(admin.get_by_label("Order", exact=True)).to_be_visible()
    event.select_option("Product updated")
    edited = query.input_value() + "# mine"
    query.fill(edited)
    event.select_option("Order paid")
    assert query.input_value() == edited
    told = "The query doesn't subscribe to Order paid, but to Product updated."
    expect(admin.locator("#qmsg")).to_have_text(told)
    event.select_option("Product updated")
    query.fill("subscription {\n event { ... on ProductUpdated { nothing } } }")
    expect(admin.locator(".lk-editor li.is-bad")).to_have_text("2")
    admin.get_by_role("button", name=RUN).click()
    expect(admin.locator("#result")).to_contain_text("Line 2")
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    admin.get_by_role("button", name=RUN).click()
    expect(admin.locator("#result")).to_contain_text("Kettle")
    admin.get_by_role("button", name="Save as webhook").click()
    expect(admin.get_by_label("App", exact=True)).to_have_value("1")
    expect(query).to_have_value(re.compile("product { name }"))
    assert "csrf_token" not in admin.url


def test_pasted_token_is_explained_and_stays_in_its_field(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    token = sign_in(ports, make_staff(ports, "staff@example.com", Permission.MANAGE_ORDERS)).access
    admin.goto(f"{small_shop.url}/console/inspector/")
    field = admin.get_by_label("Token")
    forged = f"{token[:-6]}AAAAAA"
    for pasted, explanation in (
        (token, "Issued for"),
        (forged, "the token was changed or forged"),
    ):
        field.fill(pasted)
        admin.get_by_role("button", name="Inspect").click()
        expect(admin.get_by_role("region", name="Inspection")).to_contain_text(explanation)
        expect(admin.get_by_role("region", name="Inspection")).to_contain_text("staff@example.com")
        assert pasted not in admin.content()
        assert pasted not in admin.url
    admin.reload()
    expect(field).to_have_value("")
    stored = admin.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert token[-20:] not in stored


def test_list_is_narrowed_as_one_types_and_its_export_with_it(
    admin: Page, small_shop: RunningShop, tmp_path: Path
) -> None:
    for name in ("Labels", "Warehouse"):
        create_app(small_shop.ports, OPERATOR, NewApp(name))
    admin.goto(f"{small_shop.url}/console/audit/?kind=apps")
    rows = admin.get_by_role("row")
    expect(rows).to_have_count(3)
    search = admin.get_by_label("Search", exact=True)
    search.fill("labels")
    # The list loads anew as one types, which ends a download that has just begun.
    expect(admin).to_have_url(f"{small_shop.url}/console/audit/?kind=apps&q=labels")
    expect(search).to_be_focused()
    expect(rows).to_have_count(2)
    with admin.expect_download() as coming:
        admin.get_by_role("link", name="CSV").click()
    coming.value.save_as(tmp_path / "audit.csv")
    assert coming.value.suggested_filename == "audit.csv"
    exported = (tmp_path / "audit.csv").read_text()
    assert "Labels" in exported
    assert "Warehouse" not in exported
