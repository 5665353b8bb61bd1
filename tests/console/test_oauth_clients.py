"""OAuth clients in the console: created, edited, their secrets and logos, and who used them."""

import re
from datetime import timedelta
from io import BytesIO

from PIL import Image

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.oauth import COMMAND_LINE, OAuthClient
from app.domain.values.inputs import Upload
from app.ports import Ports
from app.services.oauth.client_pages import update_client_logo
from app.services.oauth.client_tokens import find_issued_token
from app.services.oauth.clients import list_clients, show_client
from app.services.oauth.grants import find_client, is_client_secret
from app.services.operations.cleanup import clean_up
from tests.builders.apps import make_app
from tests.builders.oauth import CALLBACK, grant, make_client
from tests.builders.people import NOBODY, PASSWORD, make_staff, make_user
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock

LIST = "/console/oauth-clients/"
FIRST = f"{LIST}2"
"""The first client that a test makes: each shop has that of the command line."""

APPS = Permission.MANAGE_APPS


def only_client(shop: Ports) -> OAuthClient:
    (client,) = own_clients(shop)
    return client


def own_clients(shop: Ports) -> tuple[OAuthClient, ...]:
    return tuple(client for client in list_clients(shop, OPERATOR) if client.id > 1)


def shown_secret(page: Page) -> str:
    found = re.search(r'id="sec" readonly value="([^"]+)"', page.html)
    return "" if found is None else found[1]


def picture() -> bytes:
    drawn = BytesIO()
    Image.new("RGB", (300, 200), "teal").save(drawn, "PNG")
    return drawn.getvalue()


def test_client_is_created_once_and_its_secret_shown_once(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(APPS)
    given = {"name": "Forum", "kind": "web", "redirect_uris": CALLBACK}
    wrong = console.send(f"{LIST}new", {**given, "redirect_uris": "http://forum.example.com/"})
    assert wrong.status == 422
    assert "Redirect URIs: Use https://" in wrong.text
    shown = re.search(r'name="submission"[^>]*value="([^"]+)"', console.open(f"{LIST}new").html)
    assert shown is not None
    again = {**given, "is_pairwise": "y", "submission": shown[1]}
    answers = console.send_twice(f"{LIST}new", again, seen_at=f"{LIST}new")
    made = console.follow(answers[0])
    client, secret = only_client(shop), shown_secret(made)
    assert "Forum was created." in made.text
    assert is_client_secret(shop, NOBODY, client, secret)
    assert client.redirect_uris == (CALLBACK,)
    assert client.is_pairwise
    later = console.open(answers[0].leads_to)
    assert secret not in later.html
    assert "This secret was shown before." in later.text
    page = console.open(f"{LIST}{client.id}")
    assert secret not in page.html
    assert "Pairwise: no other client knows them" in page.text


def test_kinds_of_clients(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Warehouse")
    console = staff_console(APPS)
    native = {"name": "Till", "kind": "public", "redirect_uris": "http://127.0.0.1/callback"}
    made = console.follow(console.send(f"{LIST}new", native))
    assert "PKCE protects its sign-ins." in made.text
    assert shown_secret(made) == ""
    lacking = console.send(f"{LIST}new", {"name": "Sync", "kind": "app"})
    assert "App: Choose an app." in lacking.text
    acting = {"name": "Sync", "kind": "app", "app_key": str(app_id), "redirect_uris": CALLBACK}
    synced = console.follow(console.send(f"{LIST}new", acting))
    assert shown_secret(synced)
    assert "Warehouse" in synced.text
    listed = console.open(LIST).text
    assert "Acts as Warehouse" in listed
    assert "Without a server" in listed
    by_name = {client.name: client for client in list_clients(shop, OPERATOR)}
    assert by_name["Till"].is_public
    assert by_name["Sync"].app_id == app_id


def test_sign_in_is_edited_and_conflicts_are_noticed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_client(shop)
    here = FIRST
    tab = f"{here}?view=sign-in"
    console = staff_console(APPS)
    more = f"{CALLBACK}\nhttps://forum.example.com/second"
    form = {"redirect_uris": more, "scopes": ["openid", "email"]}
    saved = console.follow(console.send(f"{here}/sign-in", form, seen_at=tab))
    assert "Forum was saved." in saved.text
    client = only_client(shop)
    assert client.redirect_uris == tuple(more.split())
    assert client.scopes == {"openid", "email"}
    wrong = console.send(f"{here}/sign-in", {**form, "key_set": "{}"}, seen_at=tab)
    assert wrong.status == 422
    assert "Public keys: Use a key set" in wrong.text
    staff = console.send(f"{here}/sign-in", {**form, "scopes": ["openid", "staff"]}, seen_at=tab)
    assert staff.status == 422
    assert "Only people with all permissions" in staff.text
    assert "staff" not in only_client(shop).scopes


def test_clients_with_more_rights_are_read_only_but_for_superusers(
    staff_console: StaffConsole, admin: ConsoleClient, shop: Ports, clock: FakeClock
) -> None:
    make_client(shop)
    here, tab = FIRST, f"{FIRST}?view=sign-in"
    form = {
        "redirect_uris": CALLBACK,
        "scopes": ["openid", "staff"],
        "permissions": ["MANAGE_ORDERS"],
    }
    saved = admin.follow(admin.send(f"{here}/sign-in", form, seen_at=tab))
    assert "Forum was saved." in saved.text
    assert only_client(shop).scopes == {"openid", "staff", "MANAGE_ORDERS"}
    first = {"name": "Forum", "is_first_party": "y"}
    settings = admin.open(f"{here}?view=settings").text
    (secret,) = only_client(shop).secrets
    assert f"Secret …{secret.last_four}" in settings
    assert CALLBACK in settings
    assert "they are asked again" in settings
    assert "people are asked again" in admin.open(tab).text
    clock.pass_(minutes=6)
    asked = admin.send(f"{here}/details", first, seen_at=f"{here}?view=settings")
    kept = "Its secrets, redirect URIs and sessions stay."
    assert f"make an OAuth client a first party. {kept}" in asked.text
    proven = {**first, "proof_password": PASSWORD}
    admin.send(f"{here}/details", proven, seen_at=f"{here}?view=settings")
    settings = admin.open(f"{here}?view=settings").text
    assert "Its secrets, redirect URIs" not in settings
    assert "asked again" not in settings + admin.open(tab).text
    assert only_client(shop).is_first_party
    console = staff_console(APPS)
    shown = console.open(f"{here}?view=settings")
    assert "Only people with all permissions can change" in shown.text
    assert "Save details" not in shown.text
    refused = console.follow(console.send(f"{here}/disable", seen_at=LIST))
    assert "Only people with all permissions" in refused.text
    assert only_client(shop).is_active


def test_secret_is_rotated_with_an_overlap(staff_console: StaffConsole, shop: Ports) -> None:
    first = make_client(shop)
    here = FIRST
    console = staff_console(APPS)
    assert "Rotate the secret of Forum?" in console.open(f"{here}?ask=rotate").text
    sent = console.send(f"{here}/rotate", {"overlap": "1"}, seen_at=f"{here}?ask=rotate")
    second = shown_secret(console.follow(sent))
    client = show_client(shop, OPERATOR, first.id)
    assert [is_client_secret(shop, NOBODY, client, one) for one in (first.secret, second)] == [
        True,
        True,
    ]
    (_, old) = client.secrets
    assert old.expires_at is not None
    assert old.expires_at - shop.clock.now() <= timedelta(hours=1)


def test_client_is_disabled_enabled_and_deleted(staff_console: StaffConsole, shop: Ports) -> None:
    client = make_client(shop)
    grant(shop, client.client, make_user(shop))
    here = FIRST
    console = staff_console(APPS)
    assert "1 session stops working." in console.open(f"{here}?ask=disable").text
    off = console.follow(console.send(f"{here}/disable", seen_at=here))
    assert "Forum was disabled." in off.text
    assert "Forum" not in console.open(f"{LIST}?status=enabled").text
    on = console.follow(console.send(f"{here}/enable", seen_at=here))
    assert "Forum was enabled." in on.text
    assert "Delete Forum?" in console.open(f"{here}?ask=delete").text
    gone = console.follow(console.send(f"{here}/delete", seen_at=here))
    assert "Forum was deleted." in gone.text
    assert own_clients(shop) == ()
    assert console.open(here).status == 404


def test_page_of_the_command_line_says_why_it_cannot_be_deleted(
    admin: ConsoleClient, shop: Ports
) -> None:
    make_client(shop)
    built_in = f"{LIST}1"
    reason = "flask login needs this client"
    page = admin.open(f"{built_in}?view=settings")
    assert reason in page.text
    assert "ask=delete" not in page.html
    assert "ask=disable" in page.html
    assert reason in admin.follow(admin.send(f"{built_in}/delete", seen_at=built_in)).text
    assert find_client(shop, NOBODY, COMMAND_LINE) is not None
    assert "ask=delete" in admin.open(f"{FIRST}?view=settings").html


def test_changes_ask_for_the_password_again(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    make_client(shop)
    console = staff_console(APPS)
    clock.pass_(minutes=6)
    new = {"name": "Board", "kind": "web", "redirect_uris": CALLBACK}
    details = {"name": "Board"}
    for path, form in (
        (f"{LIST}new", new),
        (f"{FIRST}/details", details),
        (f"{FIRST}/sign-in", {"redirect_uris": "https://evil.example/", "scopes": ["openid"]}),
        (f"{FIRST}/logo", {"image": (BytesIO(picture()), "logo.png")}),
        (f"{FIRST}/logo/remove", {}),
        (f"{FIRST}/rotate", {}),
        (f"{FIRST}/disable", {}),
        (f"{FIRST}/delete", {}),
    ):
        view = "?view=sign-in" if path.endswith("sign-in") else "?view=settings"
        asked = console.send(path, form, seen_at=f"{FIRST}{view}")
        assert (asked.status, "Confirm your password" in asked.text) == (403, True), path
    client = only_client(shop)
    assert (client.name, client.is_active, client.redirect_uris) == ("Forum", True, (CALLBACK,))
    assert len(client.secrets) == 1


def test_logo_is_drawn_anew_and_served_until_it_is_removed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_client(shop)
    here = FIRST
    console = staff_console(APPS)

    def upload(data: bytes) -> Page:
        file = {"image": (BytesIO(data), "logo.png")}
        return console.send(f"{here}/logo", file, seen_at=f"{here}?view=settings")

    refused = upload(b"<svg/>")
    assert refused.status == 422
    assert 'id="image-error"' in refused.html
    saved = console.follow(upload(picture()))
    found = re.search(r'src="(/media/clients/[^"]+)"', saved.html)
    assert found is not None
    served = console.open(found[1])
    assert served.response.content_type == "image/webp"
    removed = console.send(f"{here}/logo/remove", seen_at=f"{here}?view=settings")
    assert "Logo removed." in console.follow(removed).text
    assert console.open(found[1]).status == 404


def test_activity_shows_who_used_it_in_the_last_30_days(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    client, user = make_client(shop), make_user(shop, "ann@example.com")
    grant(shop, client.client, user)
    tab = f"{FIRST}?view=activity"
    shown = staff_console(APPS, Permission.MANAGE_USERS).open(tab)
    assert "ann@example.com" in shown.text
    assert f"/console/customers/{user}" in shown.html
    hidden = staff_console(APPS, email="apps@example.com").open(tab).text
    assert "ann@example.com" not in hidden
    assert "You need the permission to manage customers or staff." in hidden
    clock.pass_(hours=31 * 24)
    assert clean_up(shop, OPERATOR).oauth_uses == 1
    later = staff_console(APPS, Permission.MANAGE_USERS, email="later@example.com").open(tab).text
    assert "ann@example.com" not in later


def test_staff_see_and_end_what_a_person_allowed(staff_console: StaffConsole, shop: Ports) -> None:
    client = make_client(shop, "Glazebook", is_pairwise=True)
    plain, user = make_client(shop, "Plain"), make_user(shop, "ann@example.com")
    granted = grant(shop, client.client, user)
    grant(shop, plain.client, user)
    here = f"/console/customers/{user}?view=account"
    console = staff_console(Permission.MANAGE_USERS)
    shown = console.open(here)
    assert "Glazebook" in shown.text
    # Whom a program that has subjects of its own means.
    assert f"<code>{client.client.subject_of(user)}</code>" in shown.html
    assert shown.text.count("Subject") == 1
    end = f"/console/people/{user}/programs/{client.id}/disconnect"
    assert f'action="{end}"' in shown.html
    other = staff_console(Permission.MANAGE_APPS, email="apps@example.com")
    assert other.send(end, seen_at=LIST).status == 403
    assert find_issued_token(shop, NOBODY, client.client, granted.access_token) is not None
    done = console.follow(console.send(end, seen_at=here))
    assert "Disconnected the program." in done.text
    assert "Glazebook" not in done.text
    assert find_issued_token(shop, NOBODY, client.client, granted.access_token) is None
    again = console.follow(console.send(end, seen_at=here))
    assert "This program isn't connected." in again.text
    staff = make_staff(shop, "support@example.com")
    grant(shop, client.client, staff)
    refused = console.send(
        f"/console/people/{staff}/programs/{client.id}/disconnect", seen_at=here
    )
    assert refused.status == 403


def test_clients_are_found_by_name_and_id(staff_console: StaffConsole, shop: Ports) -> None:
    client = make_client(shop, "Glazebook")
    make_client(shop, "Other")
    update_client_logo(shop, OPERATOR, client.id, Upload("a.png", "image/png", picture()))
    console = staff_console(APPS)
    for text in ("Glazeb", client.id):
        found = console.open(f"/console/search/?q={text}")
        assert FIRST in found.html, text
        assert "Glazebook" in console.open(f"{LIST}?q={text}").text
        assert "Other" not in console.open(f"{LIST}?q={text}").text
    denied = staff_console(Permission.MANAGE_STAFF, email="other@example.com")
    assert "Glazebook" not in denied.open("/console/search/?q=Glazeb").text
    for address in (LIST, f"{LIST}new", FIRST):
        assert denied.open(address).status == 403
