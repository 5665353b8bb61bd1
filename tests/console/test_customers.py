"""Customers in the console: found, looked at, helped, locked out, removed."""

from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.ports import Ports
from tests.builders.addresses import make_address
from tests.builders.audit import trail
from tests.builders.orders import make_order
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import actor_of, make_user, sessions_of, sign_in, user_as_stored
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient

USERS, ORDERS = Permission.MANAGE_USERS, Permission.MANAGE_ORDERS
LIST = "/console/customers/"


def test_customers_page_needs_manage_users_or_orders(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_APPS)
    page = console.open(LIST)
    assert page.status == 403
    assert "MANAGE_USERS" in page.text
    assert console.open(f"{LIST}{make_user(shop)}").status == 403


def test_empty_list_says_how_customers_come_about(staff_console: StaffConsole) -> None:
    page = staff_console(USERS).open(LIST).text
    assert "No customers yet" in page
    assert "People who register in your shop appear here." in page


def test_customers_are_found_by_the_beginning_of_a_name(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_user(shop, "ines@example.com", first_name="Ines", last_name="Duarte")
    make_user(shop, "tom@example.com", first_name="Tom", is_active=False)
    console = staff_console(USERS)
    found = console.open(f"{LIST}?q=dua&sort=email").text
    assert "Ines Duarte" in found
    assert "tom@example.com" not in found
    locked = console.open(f"{LIST}?status=inactive").text
    assert "Tom" in locked
    assert "Ines" not in locked
    assert "No matching customers" in console.open(f"{LIST}?q=zzz").text


def test_pages_follow_each_other(staff_console: StaffConsole, shop: Ports) -> None:
    for number in range(27):
        make_user(shop, f"c{number:02}@example.com", password=None)
    console = staff_console(USERS)
    first = console.open(f"{LIST}?sort=email")
    assert "c24@example.com" in first.text
    assert "c25@example.com" not in first.text
    after = first.html.split('rel="next"')[0].rsplit('href="', 1)[1].split('"')[0]
    assert "c26@example.com" in console.open(after.replace("&amp;", "&")).text


def test_name_with_markup_shows_as_text(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop, first_name="<script>alert(1)</script>")
    console = staff_console(USERS, ORDERS)
    for path in (LIST, f"{LIST}{key}", f"{LIST}{key}?ask=remove"):
        page = console.open(path).html
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page


def test_customer_page_shows_sessions_and_orders(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    order = make_order(shop, actor_of(shop, key))
    console = staff_console(USERS, ORDERS)
    assert "Unknown device" in console.open(f"{LIST}{key}?view=sessions").text
    assert f"#{order.number}" in console.open(f"{LIST}{key}").text
    without = staff_console(USERS, email="other@example.com").open(f"{LIST}{key}").text
    assert "To see orders, you need Manage orders" in without


def test_customer_page_shows_postal_addresses(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    console = staff_console(USERS)
    assert "No addresses" in console.open(f"{LIST}{key}").text
    make_address(shop, key, is_default=False, first_name="Bea", street_address_1="Długa 1")
    make_address(shop, key)
    for viewer in (console, staff_console(ORDERS, email="orders@example.com")):
        page = viewer.open(f"{LIST}{key}").text
        assert "Tęczowa 7, 53-601 WROCŁAW, Poland" in page
        assert page.index("Default shipping") < page.index("Bea Lee")


def test_manage_orders_gives_read_only_access(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    console = staff_console(ORDERS)
    page = console.open(f"{LIST}{key}").text
    assert "You can view this customer. To edit, you need Manage users" in page
    assert "Deactivate" not in page
    sent = console.send(f"/console/people/{key}/deactivate", seen_at=LIST)
    assert sent.status == 403
    assert user_as_stored(shop, key).is_active


def test_end_one_session_then_all_sessions(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    for _ in range(3):
        sign_in(shop, key)
    here = f"{LIST}{key}"
    console = staff_console(USERS)
    first = sessions_of(shop, key)[0].id
    ended = console.send(f"/console/people/{key}/sessions/{first}/end", seen_at=here)
    assert "Session ended." in console.follow(ended).text
    again = console.send(f"/console/people/{key}/sessions/{first}/end", seen_at=here)
    assert "has already ended" in console.follow(again).text
    assert "2 sessions end immediately" in console.open(f"{here}?ask=sign-out").text
    out = console.send(f"/console/people/{key}/sign-out", seen_at=here)
    assert "Ended 2 sessions of " in console.follow(out).text
    assert sessions_of(shop, key) == []


def test_link_is_sent_once_in_a_while(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    here = f"{LIST}{key}"
    console = staff_console(USERS)
    assert "choose a new password" in console.open(f"{here}?ask=link").text
    sent = console.send(f"/console/people/{key}/link", seen_at=here)
    assert "Password reset link sent to customer@example.com." in console.follow(sent).text
    (mail,) = mails(shop)
    assert mail.kind is MailKind.PASSWORD_RESET
    assert "/console/set-password?" in str(mail.values["link"])
    again = console.follow(console.send(f"/console/people/{key}/link", seen_at=here)).text
    assert "It still works; wait before you send another" in again


def test_customer_is_deactivated_and_activated(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    sign_in(shop, key)
    here = f"{LIST}{key}"
    console = staff_console(USERS)
    assert "1 session ends immediately" in console.open(f"{here}?ask=deactivate").text
    console.send(f"/console/people/{key}/deactivate", seen_at=here)
    assert not user_as_stored(shop, key).is_active
    assert sessions_of(shop, key) == []
    activated = console.send(f"/console/people/{key}/activate", seen_at=here)
    assert "Activated customer@example.com." in console.follow(activated).text
    assert user_as_stored(shop, key).is_active


def test_customer_is_removed_after_a_question(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_user(shop)
    here = f"{LIST}{key}"
    console = staff_console(USERS)
    assert "This can't be undone" in console.open(f"{here}?ask=remove").text
    gone = console.follow(console.send(f"/console/people/{key}/remove", seen_at=here)).text
    assert "Removed customer@example.com." in gone
    assert console.open(here).status == 404


def test_details_are_saved_and_errors_are_shown_at_their_fields(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_user(shop)
    make_user(shop, "taken@example.com")
    here = f"{LIST}{key}"
    console = staff_console(USERS)
    given = {"first_name": "Ada", "last_name": "Okafor", "email": "taken@example.com"}
    edited = f"{here}?edit=details"
    refused = console.send(f"{here}/details", given, seen_at=edited)
    assert refused.status == 422
    assert "Email:" in refused.text
    saved = console.send(f"{here}/details", {**given, "email": "ada@example.com"}, seen_at=edited)
    assert "Saved the details of Ada Okafor." in console.follow(saved).text
    assert user_as_stored(shop, key).email == "ada@example.com"


def test_note_and_reference_are_saved_and_kept_from_those_who_see_orders(
    staff_console: StaffConsole, shop: Ports
) -> None:
    here = f"{LIST}{make_user(shop)}"
    edited = f"{here}?edit=details"
    console = staff_console(USERS)
    email = {"email": "customer@example.com"}
    given = {**email, "note": "Tea,\r\nno milk", "external_reference": "e1"}
    console.send(f"{here}/details", given, seen_at=edited)
    assert "Tea,\nno milk" in console.open(here).html.replace("\r", "")
    page = console.open(edited).html
    assert "Tea,\nno milk</textarea>" in page.replace("\r", "")
    assert 'value="e1"' in page
    console.send(f"{here}/details", email, seen_at=edited)
    assert "no milk" in console.open(here).html
    console.send(f"{here}/details", given, seen_at=edited)
    (entry,) = trail(shop, "customer.update")
    assert entry.after == {"has_note": True, "external_reference": "e1"}
    orders = staff_console(Permission.MANAGE_ORDERS, email="orders@example.com")
    assert "no milk" not in orders.open(here).html


def test_staff_are_shown_among_the_staff(admin: ConsoleClient, shop: Ports) -> None:
    key = make_user(shop, "clerk@example.com", is_staff=True)
    assert admin.open(f"{LIST}{key}").leads_to == f"/console/staff/{key}"
    assert admin.open(f"/console/people/{key}").leads_to == f"/console/staff/{key}"
    assert admin.open(f"{LIST}999").status == 404


def test_the_pages_cost_six_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    key = make_user(shop)
    make_order(shop, actor_of(shop, key))
    make_address(shop, key)
    console = staff_console(USERS, ORDERS)
    for path in (LIST, f"{LIST}?q=cus", f"{LIST}{key}"):
        with statements() as seen:
            console.open(path)
        # The page of a customer has their emails, too.
        assert len(seen) <= (7 if path == f"{LIST}{key}" else 6), path


def test_passkeys_stand_beside_the_sessions_of_a_person(
    staff_console: StaffConsole, shop: Ports
) -> None:
    for place, permission in (
        ("customers", Permission.MANAGE_USERS),
        ("staff", Permission.MANAGE_STAFF),
    ):
        email = f"{place}@example.com"
        person = make_user(shop, email, is_staff=place == "staff")
        sign_in(shop, person)
        make_passkey(shop, person, SoftwareAuthenticator(), name=f"Key of <b>{place}</b>")
        console = staff_console(permission, email=f"viewer-{place}@example.com")
        page = console.open(f"/console/{place}/{person}?view=sessions")
        assert f"Key of <b>{place}</b> Passkey" in page.text
        assert "End session" in page.text
        assert f"Key of <b>{place}" not in page.html
        assert "Passkeys and second" not in console.open(f"/console/{place}/{person}").text
