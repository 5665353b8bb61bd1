"""What staff do at the console, in a browser, and what the API makes of it."""

import json
import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.domain.authorization.actor import WORKER, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.services.apps.installation_worker import install_next_app
from tests.browser.console import ADMIN, PROVIDER, RunningShop, Watch, ask, work
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD, make_staff, make_user
from tests.builders.products import make_product
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.webhooks import make_delivery, make_webhook
from tests.servers.apps import app_server
from tests.servers.http import Reply, http_server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

RUN = re.compile("^Run")
SHOP = "{ shop { name } }"


def test_storefront_is_closed_and_opened_and_the_api_obeys(
    admin: Page, small_shop: RunningShop
) -> None:
    assert ask(small_shop, SHOP) != 401
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
    question.get_by_label("Opens automatically").fill("2099-01-02 13:00")
    question.get_by_role("button", name="Close").click()
    expect(admin.get_by_role("status").filter(has_text="Storefront closed.")).to_be_visible()
    assert ask(small_shop, SHOP) == 401
    admin.goto(f"{small_shop.url}/console/")
    banner = admin.get_by_role("region", name="Access", exact=True).first
    expect(banner).to_contain_text("The storefront is closed.")
    expect(banner).to_contain_text("Note: “Stocktake”. Opens 2 Jan 2099 at 13:00 UTC.")
    expect(admin.get_by_role("region", name="Needs attention")).to_contain_text("is closed.")
    expect(admin.get_by_text("refused")).to_have_count(0)
    banner.get_by_role("link", name="Change access").click()
    storefront.get_by_role("radio", name=re.compile("^Open ")).check()
    storefront.get_by_role("button", name="Review change").click()
    admin.get_by_role("dialog").get_by_role("button", name="Open").click()
    expect(admin.get_by_role("status").filter(has_text="Storefront opened.")).to_be_visible()
    assert ask(small_shop, SHOP) != 401


SIGN_IN = """mutation ($email: String, $password: String) {
  tokenCreate(email: $email, password: $password) {
    token errors { code } user { userPermissions { code } }
  }
}"""


def test_sso_session_can_restrict_password_login(
    watch: Watch, page: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    make_provider(ports, name=PROVIDER)
    link_identity(ports, make_user(ports, ADMIN, is_superuser=True))
    make_staff(ports, "staff@example.com", Permission.MANAGE_ORDERS)
    small_shop.sign_in(page.context, ADMIN, SessionOrigin.OIDC)
    page.goto(f"{small_shop.url}/console/access/")
    login = page.get_by_role("region", name="Password login")
    login.get_by_role("radio", name="Customers only").check()
    login.get_by_role("button", name="Review change").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("1")
    question.get_by_role("button").last.click()
    expect(
        page.get_by_role("status").filter(has_text="Password login is limited to customers.")
    ).to_be_visible()
    made = ask(small_shop, SIGN_IN, email="staff@example.com", password=PASSWORD)["tokenCreate"]
    assert (made["errors"], made["user"]["userPermissions"]) == ([], [])
    login.get_by_role("radio", name="Off").check()
    login.get_by_role("button", name="Review change").click()
    question.get_by_role("textbox").fill("NOBODY")
    question.get_by_role("button").last.click()
    expect(page.get_by_role("status").filter(has_text="Password login is off.")).to_be_visible()
    refused = ask(small_shop, SIGN_IN, email="staff@example.com", password=PASSWORD)["tokenCreate"]
    assert [error["code"] for error in refused["errors"]] == ["DISABLED_AUTHENTICATION_METHOD"]


def test_app_is_created_and_its_token_used_at_once(
    admin: Page, small_shop: RunningShop, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=small_shop.url)
    admin.goto(f"{small_shop.url}/console/apps/connect")
    admin.get_by_label("Name", exact=True).fill("Labels <script>alert(1)</script>")
    admin.get_by_role("checkbox", name="Manage orders", exact=True).check()
    admin.get_by_role("button", name="Create app").click()
    token = admin.get_by_label("Token", exact=True).input_value()
    admin.wait_for_load_state()  # a script copies
    admin.get_by_role("button", name="Copy header").click()
    expect(admin.get_by_text("Copied.", exact=True)).to_be_visible()
    copied = admin.evaluate("navigator.clipboard.readText()")
    assert copied == f"Authorization: Bearer {token}"
    found = ask(small_shop, "{ app { name permissions { code } } }", token)["app"]
    assert found["name"] == "Labels <script>alert(1)</script>"
    assert found["permissions"] == [{"code": "MANAGE_ORDERS"}]
    admin.get_by_role("link", name="Done").click()
    assert token not in admin.content()


def test_triple_click_reload_and_back_create_one_app(admin: Page, small_shop: RunningShop) -> None:
    admin.goto(f"{small_shop.url}/console/apps/connect")
    admin.get_by_label("Name", exact=True).fill("Labels")
    admin.get_by_role("button", name="Create app").click(click_count=3)
    token = admin.get_by_label("Token", exact=True).input_value()
    admin.reload()
    expect(admin.get_by_text("This token was shown before.")).to_be_visible()
    assert token not in admin.content()
    admin.go_back()
    expect(admin.get_by_role("heading", level=1, name="Create app")).to_be_visible()
    admin.goto(f"{small_shop.url}/console/apps/")
    expect(admin.get_by_role("link", name="Labels", exact=True)).to_have_count(1)


def test_permission_is_found_by_name_and_others_stay_chosen(
    admin: Page, small_shop: RunningShop
) -> None:
    app_id, _ = make_app(small_shop.ports, "Labels", Permission.MANAGE_SHIPPING)
    admin.goto(f"{small_shop.url}/console/apps/{app_id}")
    expect(admin.get_by_role("rowheader", name="Manage shipping")).to_be_visible()
    admin.get_by_role("link", name="Edit permissions").click()
    search = admin.get_by_role("searchbox", name="Search permissions")
    search.fill("manage_orders")
    expect(admin.get_by_role("checkbox", name="Manage shipping")).to_be_hidden()
    admin.get_by_role("checkbox", name="Manage orders", exact=True).check()
    expect(admin.get_by_role("group", name="Sales")).to_contain_text("1 of 9")
    search.fill("nonsense")
    expect(admin.get_by_text("No matching permissions")).to_be_visible()
    admin.get_by_role("button", name="Save permissions").click()
    expect(admin.get_by_text("Labels: Manage orders and Manage shipping.")).to_be_visible()


def test_app_is_installed_from_its_manifest(admin: Page, small_shop: RunningShop) -> None:
    with app_server() as app:
        admin.goto(f"{small_shop.url}/console/apps/")
        admin.get_by_role("link", name="Install").first.click()
        admin.get_by_label("Manifest").fill(app.manifest_url)
        admin.get_by_role("button", name="Continue").click()
        expect(admin.get_by_role("heading", level=1, name="Install An app?")).to_be_visible()
        expect(admin.get_by_role("checkbox", name="Manage products")).to_be_checked()
        admin.get_by_role("button", name="Install An app").click()
        expect(admin.get_by_text("Installing An app").first).to_be_visible()
        assert install_next_app(small_shop.ports, WORKER) == 1
        admin.goto(f"{small_shop.url}/console/apps/")
        admin.get_by_role("link", name="An app").click()
        expect(admin.get_by_role("heading", level=1, name="An app")).to_be_visible()
        (handshake,) = app.handshakes
    assert ask(small_shop, "{ app { name } }", handshake.token) == {"app": {"name": "An app"}}


def test_query_is_tried_and_saved_as_a_webhook(admin: Page, small_shop: RunningShop) -> None:
    make_product(small_shop.ports, "Kettle")
    make_app(small_shop.ports, "Labels", Permission.MANAGE_PRODUCTS)
    admin.goto(f"{small_shop.url}/console/dry-run/")
    admin.get_by_label("Run as").select_option("Labels")
    query = admin.get_by_role("textbox", name="Subscription query")
    query.fill("subscription {\n event { ... on ProductUpdated { nothing } } }")
    admin.get_by_role("button", name=RUN).click()
    expect(admin.locator("#result")).to_contain_text("Line 2")
    query.fill("subscription { event { ... on ProductUpdated { product { name } } } }")
    admin.get_by_role("button", name=RUN).click()
    expect(admin.locator("#result")).to_contain_text("Kettle")
    admin.get_by_role("button", name="Save as webhook").click()
    expect(admin.get_by_label("App", exact=True)).to_have_value("1")
    assert "csrf_token" not in admin.url
    admin.get_by_label("Name", exact=True).fill("Kettles")
    admin.get_by_label("Endpoint URL").fill("https://labels.example.com/hook")
    admin.get_by_role("button", name="Create webhook").click()
    expect(admin.get_by_text("Webhook “Kettles” created.")).to_be_visible()
    expect(admin.get_by_role("heading", level=1, name="Kettles")).to_be_visible()


def test_delivery_arrives_and_is_sent_again(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    app_id, _ = make_app(ports, "Labels", Permission.MANAGE_PRODUCTS)
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(503, b"<script>alert(1)</script>"))
        hook = make_webhook(ports, app_id, EventType.PRODUCT_UPDATED, target_url=target)
        make_delivery(ports, hook, json.dumps({"product": {"name": "<b>Kettle</b>"}}))
        work(small_shop)
        admin.goto(f"{small_shop.url}/console/deliveries/?code=503")
        admin.get_by_role("link", name="Product updated").click()
        expect(admin.get_by_label("Response body")).to_have_text("<script>alert(1)</script>")
        expect(admin.get_by_label("Request body")).to_contain_text("<b>Kettle</b>")
        expect(admin.get_by_text("Signature valid")).to_be_visible()
        receiver.answer("/hook", Reply(body=b"thank you"))
        admin.get_by_role("button", name="Resend now").click()
        expect(admin.get_by_text("Resending now.")).to_be_visible()
        work(small_shop)
        admin.reload()
        expect(admin.get_by_label("Response body")).to_have_text("thank you")
        first, second = receiver.calls("/hook")
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.body == second.body


def test_people_sign_in_by_the_form_and_out(
    watch: Watch, page: Page, small_shop: RunningShop
) -> None:
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    page.goto(f"{small_shop.url}/console/audit/")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password").fill("not it")
    page.get_by_role("button", name="Sign in with password").click()
    expect(page.get_by_role("alert")).to_be_visible()
    small_shop.ports.throttle.unblock("127.0.0.1")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in with password").click()
    expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()
    page.locator(".lk-menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Email")).to_be_visible()
    page.goto(f"{small_shop.url}/console/audit/")
    expect(page.get_by_label("Email")).to_be_visible()
