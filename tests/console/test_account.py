"""One's own account at the console."""

import re
from io import BytesIO

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.ports import Ports
from tests.builders.images import png
from tests.builders.outbox import mails
from tests.builders.people import (
    PASSWORD,
    actor_of,
    change_user,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient

ACCOUNT_URL = "/console/account/"
NEW = "a heron walks at dawn"
OWN_KEY = 1
"""The key of whoever sits at the only desk."""


def test_account_page_shows_sessions_and_sign_in_methods(staff_console: StaffConsole) -> None:
    page = staff_console().open(ACCOUNT_URL).text
    assert "Your sessions" in page
    assert "Current" in page
    assert "Not linked" in page


def test_name_is_saved_and_shown_as_text(staff_console: StaffConsole) -> None:
    console = staff_console()
    given = {"first_name": "<script>alert(1)</script>", "last_name": "Okafor"}
    saved = console.follow(console.send(f"{ACCOUNT_URL}name", given, seen_at=ACCOUNT_URL))
    assert "Name saved." in saved.text
    assert "<script>alert" not in saved.html
    assert "&lt;script&gt;alert(1)" in saved.html
    wrong = console.send(f"{ACCOUNT_URL}name", {"first_name": "x" * 300}, seen_at=ACCOUNT_URL)
    assert wrong.status == 422
    assert "First name:" in wrong.text


def test_staff_choose_the_language_of_their_account(staff_console: StaffConsole) -> None:
    console = staff_console()
    other = staff_console(email="other@example.com")
    saved = console.send(f"{ACCOUNT_URL}preferences", {"language": "PL"}, seen_at=ACCOUNT_URL)
    account = console.follow(saved)
    assert "Zapisano preferencje." in account.text
    assert '<html lang="pl"' in account.html
    assert '<html lang="en"' in other.open(ACCOUNT_URL).html


def test_picture_is_saved_and_removed(staff_console: StaffConsole) -> None:
    console = staff_console()
    sent = console.send(
        f"{ACCOUNT_URL}picture", {"image": (BytesIO(png()), "me.png")}, seen_at=ACCOUNT_URL
    )
    shown = console.follow(sent)
    assert "Picture saved." in shown.text
    address = shown.html.split('class="lk-picture"')[1].split('src="')[1].split('"')[0]
    assert console.client.get(address).status_code == 200
    gone = console.follow(console.send(f"{ACCOUNT_URL}picture/remove", seen_at=ACCOUNT_URL))
    assert "lk-picture" not in gone.html


def test_what_is_no_picture_is_refused_with_the_reason(staff_console: StaffConsole) -> None:
    console = staff_console()
    for data, reason in (
        ({"image": (BytesIO(b"no picture"), "me.png")}, "an image"),
        ({}, "Choose a file."),
    ):
        refused = console.send(f"{ACCOUNT_URL}picture", data, seen_at=ACCOUNT_URL)
        assert refused.status == 422
        error = refused.html.split('id="image-error"')[1].split("</div>")[0]
        assert reason in error


def test_password_is_changed_and_other_sessions_end(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console()
    sign_in(shop, OWN_KEY)
    wrong = {"old_password": "not mine", "new_password": NEW}
    refused = console.send(f"{ACCOUNT_URL}password", wrong, seen_at=ACCOUNT_URL)
    assert refused.status == 422
    assert "Current password: Incorrect password" in refused.text
    weak = {"old_password": PASSWORD, "new_password": "1234"}
    assert (
        "New password:" in console.send(f"{ACCOUNT_URL}password", weak, seen_at=ACCOUNT_URL).text
    )
    right = {"old_password": PASSWORD, "new_password": NEW}
    assert (
        "Password changed."
        in console.follow(console.send(f"{ACCOUNT_URL}password", right, seen_at=ACCOUNT_URL)).text
    )
    assert len(sessions_of(shop, OWN_KEY)) == 1


def test_address_moves_by_a_mailed_link(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    given = {"new_email": "new@example.com", "password": PASSWORD}
    wrong = console.send(
        f"{ACCOUNT_URL}email", {**given, "password": "wrong"}, seen_at=ACCOUNT_URL
    )
    assert wrong.status == 422
    question = console.follow(console.send(f"{ACCOUNT_URL}email", given, seen_at=ACCOUNT_URL)).text
    assert "Open the link we sent to new@example.com" in question
    (mail,) = mails(shop, MailKind.EMAIL_CHANGE_REQUEST)
    followed = console.open(str(mail.values["link"]))
    assert followed.leads_to == f"{ACCOUNT_URL}new-email"
    assert "Change your email?" in console.follow(followed).text
    assert user_as_stored(shop, OWN_KEY).email == "staff@example.com"
    moved = console.follow(console.send(f"{ACCOUNT_URL}new-email")).text
    assert "Email changed to new@example.com." in moved
    again = console.send(f"{ACCOUNT_URL}new-email", seen_at=ACCOUNT_URL)
    assert again.status == 422
    assert "This link doesn't work" in again.text


def test_email_link_needs_a_session(anonymous_console: ConsoleClient, shop: Ports) -> None:
    make_user(shop, "staff@example.com", is_staff=True)
    followed = anonymous_console.open(f"{ACCOUNT_URL}follow?token=secret-of-the-link")
    assert followed.leads_to == f"{ACCOUNT_URL}new-email"
    door = anonymous_console.follow(followed)
    assert "secret-of-the-link" not in door.leads_to
    anonymous_console.sign_in("staff@example.com")
    assert (
        "Open the link in your email again"
        in anonymous_console.open(f"{ACCOUNT_URL}new-email").text
    )


def test_end_one_session_then_all_other_sessions(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    for _ in range(3):
        sign_in(shop, OWN_KEY)
    other = sessions_of(shop, OWN_KEY)[-1].id
    ended = console.send(f"{ACCOUNT_URL}sessions/{other}/end", seen_at=ACCOUNT_URL)
    assert "Session ended." in console.follow(ended).text
    twice = console.send(f"{ACCOUNT_URL}sessions/{other}/end", seen_at=ACCOUNT_URL)
    assert "You have no such session" in console.follow(twice).text
    assert "2 sessions end immediately" in console.open(f"{ACCOUNT_URL}?ask=others").text
    all_ = console.follow(
        console.send(f"{ACCOUNT_URL}sessions/end-others", seen_at=ACCOUNT_URL)
    ).text
    assert "Ended 2 other sessions." in all_
    assert len(sessions_of(shop, OWN_KEY)) == 1


@pytest.mark.first
def test_newest_sessions_are_listed_and_all_are_counted(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(Permission.MANAGE_STAFF)
    for _ in range(104):
        actor_of(shop, OWN_KEY)
    assert "Newest 100 of 105 sessions" in console.open(ACCOUNT_URL).text
    assert "104 sessions end immediately" in console.open(f"{ACCOUNT_URL}?ask=others").text
    person = f"/console/staff/{OWN_KEY}"
    assert "Newest 100 of 105 sessions" in console.open(f"{person}?view=sessions").text
    question = console.open(f"{person}?ask=sign-out").text
    assert "105 sessions end immediately" in question


def test_without_a_password_one_is_led_to_a_link(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console()
    change_user(shop, OWN_KEY, password_hash=None)
    page = console.open(ACCOUNT_URL)
    assert "Send a link to set a password" in page.text
    assert "To change your email, set a password first" in page.text


def test_page_costs_four_statements(staff_console: StaffConsole, statements: Statements) -> None:
    console = staff_console()
    with statements() as seen:
        console.open(ACCOUNT_URL)
    assert len(seen) <= 4


def test_theme_is_chosen_on_the_account_page(staff_console: StaffConsole) -> None:
    console = staff_console()
    shown = console.open("/console/account/").html
    assert re.search(r'<input checked[^>]*name="theme"[^>]*value="auto"', shown)
    done = console.send(
        "/console/account/preferences", {"theme": "dark"}, seen_at="/console/account/"
    )
    assert done.leads_to == "/console/account/"
    assert 'data-bs-theme="dark"' in console.follow(done).html
