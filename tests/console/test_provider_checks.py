"""Trying a provider at the console: the connection, and what a token would give."""

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import make_user
from tests.builders.providers import identities, set_up, user_called
from tests.console.conftest import StaffConsole
from tests.servers.http import Reply
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import EMAIL

MAY = Permission.MANAGE_PLUGINS
PAGE = "/console/single-sign-on/default/"
TEST, PREVIEW = f"{PAGE}test", f"{PAGE}preview"


def test_each_check_reports_its_result(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    other_provider.describe()
    set_up(shop, other_provider)
    other_provider.server.answer("/authorize", Reply(400))
    other_provider.server.answer("/logout", Reply(503))
    page = console.send(TEST, seen_at=PAGE)
    assert page.status == 200
    assert "The discovery document matches the settings" in page.text
    assert "1 usable key: key-1" in page.text
    assert "rejects an invalid token" in page.text
    assert "Accepts the client" in page.text
    assert "rejects an empty request with HTTP 400" in page.text
    assert "Logout URL Responded with HTTP 503" in page.text


def test_failed_check_is_shown_with_its_remedy(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider, client_secret="wrong", issuer="")
    other_provider.server.answer("/keys", Reply(200, b"<script>alert(1)</script>"))
    page = console.send(TEST, seen_at=PAGE)
    assert "Failed: JSON Web Key Set URL" in page.text
    assert "Set client_id and client_secret to the values registered at the provider" in page.text
    assert "<script>alert(1)" not in page.html


def test_mapping_preview_creates_no_account(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY, Permission.MANAGE_STAFF)
    changes = {
        "staff_user_domains": "sso.example",
        "default_group_name_for_new_staff_users": "<b>Newcomers</b>",
        "audience": AUDIENCE,
    }
    set_up(shop, other_provider, **changes)
    token = other_provider.access_token()
    page = console.send(PREVIEW, {"token": token}, seen_at=PAGE)
    assert page.status == 200
    assert f"Creates a new account for {EMAIL} (Alice Sso)." in page.text
    assert "Staff assigned by the provider" in page.text
    assert "<b>Newcomers</b> would be assigned" in page.text
    assert "<b>Newcomers" not in page.html
    assert token not in page.html
    assert (identities(shop), user_called(shop, EMAIL)) == ([], None)


def test_mapping_preview_shows_the_linked_account(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY, Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS)
    set_up(shop, other_provider, audience=AUDIENCE)
    make_user(shop, EMAIL, is_staff=True, permissions=[Permission.MANAGE_ORDERS])
    page = console.send(PREVIEW, {"token": other_provider.access_token()}, seen_at=PAGE).text
    assert f"Matches {EMAIL}" in page
    assert "would be linked" in page
    assert "Permissions Manage orders set here" in page


def test_where_the_provider_rules_its_scopes_are_shown(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider, use_oauth_scope_permissions="true", audience="shop")
    token = other_provider.access_token(aud="shop", scope="openid latchkey:manage_orders")
    page = console.send(PREVIEW, {"token": token}, seen_at=PAGE).text
    assert "Permissions Manage orders set at the provider" in page
    id_token = other_provider.sign(other_provider.id_claims("a nonce"))
    page = console.send(PREVIEW, {"token": id_token}, seen_at=PAGE).text
    assert "Not in this token" in page


def test_mapping_preview_explains_a_rejected_token(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider)
    broken = f"{other_provider.access_token()}x"
    page = console.send(PREVIEW, {"token": broken}, seen_at=PAGE)
    assert "Sign-in would be refused" in page.text
    assert broken not in page.html
    assert "Paste a token" in console.send(PREVIEW, {"token": " "}, seen_at=PAGE).text


def test_reloading_an_answer_leads_back_to_the_provider(staff_console: StaffConsole) -> None:
    console = staff_console(MAY)
    assert console.open(TEST).leads_to == PAGE
    assert console.open(PREVIEW).leads_to == PAGE
    missing = "/console/single-sign-on/nobody/preview"
    assert console.send(missing, {"token": "x"}, seen_at=PAGE).status == 404


def test_trying_needs_manage_plugins(staff_console: StaffConsole, shop: Ports) -> None:
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    console = staff_console(Permission.MANAGE_SETTINGS)
    assert console.send(TEST, seen_at="/console/").status == 403
    assert console.send(PREVIEW, {"token": "x"}, seen_at="/console/").status == 403
