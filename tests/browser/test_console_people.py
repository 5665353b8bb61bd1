"""People, groups, providers, tokens and the audit trail at the console, in a browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from tests.browser.console import ADMIN, RunningShop, ask
from tests.builders.outbox import mails
from tests.builders.people import (
    PASSWORD,
    make_group,
    make_staff,
    make_user,
    sign_in,
)
from tests.servers.provider import IdentityProvider, Visitor, identity_provider

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

ME = "{ me { email userPermissions { code } } }"
SIGN_IN = """mutation ($email: String, $password: String) {
  tokenCreate(email: $email, password: $password) { token errors { code } }
}"""
CALLBACK = "/console/sign-in/with/northlight.authentication.openidconnect/callback"
NEW_PASSWORD = "an otter in the harbour"


def rights(shop: RunningShop, token: str) -> list[str]:
    """What the bearer may do."""
    return [one["code"] for one in ask(shop, ME, token)["me"]["userPermissions"]]


def login(shop: RunningShop, email: str, password: str = PASSWORD) -> str:
    """The first error of a login over the API; empty when it works."""
    made = ask(shop, SIGN_IN, email=email, password=password)["tokenCreate"]
    return next((error["code"] for error in made["errors"]), "")


def test_group_is_made_and_filled_and_its_members_may_at_once(
    admin: Page, small_shop: RunningShop
) -> None:
    ports = small_shop.ports
    staff = make_staff(ports, "staff@example.com")
    token = sign_in(ports, staff).access
    admin.goto(f"{small_shop.url}/console/staff/groups/new")
    admin.get_by_label("Name", exact=True).fill("Support <b>")
    admin.get_by_role("checkbox", name="Manage orders", exact=True).check()
    admin.get_by_role("button", name="Create group").click()
    expect(admin.get_by_role("heading", level=1, name="Support <b>")).to_be_visible()
    assert rights(small_shop, token) == []
    admin.get_by_label("Email").fill("staff@example.com")
    admin.get_by_role("button", name="Add member").click()
    expect(admin.get_by_text("Added staff@example.com to Support <b>.")).to_be_visible()
    assert rights(small_shop, token) == ["MANAGE_ORDERS"]
    admin.goto(f"{small_shop.url}/console/staff/matrix/")
    orders = admin.get_by_role("row").filter(has_text="MANAGE_ORDERS").filter(has_text="Yes")
    expect(orders).to_have_count(1)


def test_customer_is_found_helped_and_locked_out(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    make_user(ports, "tom@example.com", first_name="Tom")
    ines = make_user(ports, "ines@example.com", first_name="Ines", last_name="Duarte")
    token = sign_in(ports, ines).access
    admin.goto(f"{small_shop.url}/console/customers/")
    admin.get_by_label("Name, email or address").fill("dua")
    expect(admin.get_by_role("link", name="Tom", exact=True)).to_have_count(0)
    expect(admin).to_have_url(f"{small_shop.url}/console/customers/?q=dua")
    expect(admin.get_by_label("Name, email or address")).to_be_focused()
    admin.get_by_role("link", name="Ines Duarte").click()
    admin.get_by_role("link", name="Account", exact=True).click()
    admin.get_by_role("link", name="Send password reset link").click()
    admin.get_by_role("dialog").get_by_role("button", name="Send password reset link").click()
    expect(admin.get_by_text("Password reset link sent to ines@example.com.")).to_be_visible()
    assert len(mails(ports, MailKind.PASSWORD_RESET)) == 1
    admin.get_by_role("link", name="Account", exact=True).click()
    admin.get_by_role("link", name="Deactivate").click()
    question = admin.get_by_role("dialog", name="Deactivate Ines Duarte?")
    expect(question).to_contain_text("1 session ends immediately")
    question.get_by_role("button", name="Deactivate Ines Duarte").click()
    expect(admin.get_by_text("Deactivated Ines Duarte")).to_be_visible()
    assert ask(small_shop, ME, token)["me"] is None
    assert login(small_shop, "ines@example.com") != ""


def test_address_that_is_let_go_signs_in_at_once(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    user = make_user(ports)
    for _ in range(9):
        ports.throttle.fail("127.0.0.1", "", user, ports.clock.timestamp())
    assert login(small_shop, "customer@example.com") == "LOGIN_ATTEMPT_DELAYED"
    admin.goto(f"{small_shop.url}/console/")
    expect(admin.get_by_text("1 IP address is blocked.")).to_be_visible()
    admin.get_by_role("link", name="View blocked IPs").click()
    admin.get_by_role("link", name="Unblock 127.0.0.1").click()
    admin.get_by_role("dialog").get_by_role("button", name="Unblock IP address").click()
    expect(admin.get_by_text("Unblocked 127.0.0.1")).to_be_visible()
    assert login(small_shop, "customer@example.com") == ""


def test_change_own_password_and_end_sessions(admin: Page, small_shop: RunningShop) -> None:
    ports = small_shop.ports
    other = sign_in(ports, 1).access
    admin.goto(f"{small_shop.url}/console/account/")
    admin.get_by_label("First name").fill("Ada <i>")
    admin.get_by_role("button", name="Save name").click()
    expect(admin.get_by_text("Name saved.")).to_be_visible()
    expect(admin.get_by_text("Ada <i>").first).to_be_visible()
    sessions = admin.get_by_role("table", name="Your sessions")
    sessions.get_by_role("button", name="End").click()
    expect(admin.get_by_text("Session ended.")).to_be_visible()
    assert ask(small_shop, ME, other)["me"] is None
    another = sign_in(ports, 1).access
    admin.get_by_label("Current password").fill(PASSWORD)
    admin.get_by_label("New password").fill(NEW_PASSWORD)
    admin.get_by_role("button", name="Change password").click()
    expect(admin.get_by_text("Password changed.")).to_be_visible()
    assert ask(small_shop, ME, another)["me"] is None
    assert login(small_shop, ADMIN, NEW_PASSWORD) == ""


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


def test_change_is_found_in_the_audit_trail_and_taken_away(
    admin: Page, small_shop: RunningShop, tmp_path: Path
) -> None:
    make_group(small_shop.ports, "Support")
    admin.goto(f"{small_shop.url}/console/staff/groups/1")
    admin.get_by_label("Name", exact=True).fill("Help")
    admin.get_by_role("button", name="Save group").click()
    expect(admin.get_by_role("heading", level=1, name="Help")).to_be_visible()
    admin.goto(f"{small_shop.url}/console/audit/")
    admin.locator("summary", has_text="Category").click()
    admin.get_by_role("link", name="People", exact=True).click()
    admin.wait_for_url(re.compile("kind=people"))
    admin.get_by_label("Search", exact=True).fill("help")
    row = admin.get_by_role("row").filter(has_text="Edited the group")
    # The list loads anew as one types, which ends a download that has just begun.
    expect(admin).to_have_url(f"{small_shop.url}/console/audit/?kind=people&q=help")
    expect(row).to_contain_text("Name: Support changed to Help")
    expect(admin.get_by_role("row")).to_have_count(2)
    for form in ("CSV", "JSON"):
        with admin.expect_download() as coming:
            admin.get_by_role("link", name=form).click()
        file = tmp_path / form
        coming.value.save_as(file)
        assert coming.value.suggested_filename == f"audit.{form.lower()}"
        assert "group.update" in file.read_text()
        assert "session" not in file.read_text()
    (entry,) = json.loads((tmp_path / "JSON").read_text())
    assert (entry["before"], entry["after"]) == ({"name": "Support"}, {"name": "Help"})
    row.get_by_role("link", name="Edited the group").click()
    expect(admin.get_by_role("table", name="Changed fields")).to_contain_text("Support")


@pytest.fixture
def provider(small_shop: RunningShop, tmp_path: Path) -> Iterator[IdentityProvider]:
    """A real provider that the shop does not know yet."""
    owner = small_shop.ports.configuration.scope_prefix
    with identity_provider(tmp_path / "provider.log", owner) as found:
        found.lead_back_to(f"{small_shop.url}{CALLBACK}")
        yield found


def test_provider_is_set_up_tried_and_switched(
    admin: Page, small_shop: RunningShop, provider: IdentityProvider
) -> None:
    admin.goto(f"{small_shop.url}/console/single-sign-on/new")
    admin.get_by_label("Name", exact=True).fill("Northlight ID")
    admin.get_by_label("Short name").fill("northlight")
    admin.get_by_label("Issuer").fill(provider.issuer)
    admin.get_by_role("button", name="Add provider").click()
    expect(admin.get_by_text("Enable it to let people sign in")).to_be_visible()
    expect(admin.get_by_text("Missing: Client ID")).to_be_visible()
    admin.get_by_role("link", name="Edit settings", exact=True).click()
    admin.get_by_label("Client ID").fill("shop")
    admin.get_by_label("Client secret", exact=True).fill(provider.secret_of("shop"))
    user_info = admin.get_by_label("User info URL")
    url = user_info.input_value()
    user_info.fill("nowhere")
    admin.get_by_role("button", name="Save settings").click()
    expect(admin.get_by_text("What you entered is kept for 10 minutes.")).to_be_visible()
    user_info.fill(url)
    admin.get_by_role("button", name="Save settings").click()
    expect(admin.get_by_text("The settings of Northlight ID were saved")).to_be_visible()
    admin.get_by_role("link", name="Enable").click()
    admin.get_by_role("dialog").get_by_role("button", name="Enable").click()
    expect(admin.get_by_text("Northlight ID is enabled")).to_be_visible()
    admin.get_by_role("link", name="Test", exact=True).click()
    admin.get_by_role("button", name="Test connection").click()
    steps = admin.get_by_role("region", name="Connection test").get_by_role("listitem")
    for step in ("Issuer", "JSON Web Key Set URL", "Token URL", "Authorization URL"):
        expect(steps.filter(has_text=step).first).to_be_visible()
    expect(steps.filter(has_text="Accepts the client")).to_be_visible()
    provider.tell("ines", email="ines@example.com", email_verified=True, name="Ines Duarte")
    token = provider.token_for("shop", Visitor(), "ines", "openid profile email")
    admin.get_by_role("textbox", name="Token").fill(token)
    admin.get_by_role("button", name="Preview account").click()
    explanation = admin.get_by_text("Creates a new account for ines@example.com")
    expect(explanation).to_be_visible()
    assert token not in admin.content()
    admin.get_by_role("link", name="Disable").click()
    question = admin.get_by_role("dialog", name="Disable Northlight ID?")
    expect(question).to_contain_text("Its access tokens are rejected immediately")
    question.get_by_role("button", name="Disable").click()
    expect(admin.get_by_text("Northlight ID is disabled")).to_be_visible()
    admin.goto(f"{small_shop.url}/console/single-sign-on/")
    expect(admin.get_by_role("row").filter(has_text="Northlight ID")).to_contain_text("Disabled")
