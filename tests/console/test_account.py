"""One's own account at the console."""

from io import BytesIO

from app.domain.accounts.mail import MailKind
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.images import png
from tests.builders.outbox import mails
from tests.builders.people import (
    PASSWORD,
    change_user,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.console.conftest import StaffDesk, Statements
from tests.console.staff_client import Desk

HERE = "/console/account/"
NEW = "a heron walks at dawn"
MYSELF = 1
"""The key of whoever sits at the only desk."""


def test_account_page_shows_sessions_and_sign_in_methods(staff_desk: StaffDesk) -> None:
    page = staff_desk().open(HERE).text
    assert "Where you are signed in" in page
    assert "This one" in page
    assert "no provider knows you yet" in page


def test_a_name_is_saved_and_shown_as_text(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    given = {"first_name": "<script>alert(1)</script>", "last_name": "Okafor"}
    saved = desk.follow(desk.send(f"{HERE}name", given, seen_at=HERE))
    assert "Your name was saved" in saved.text
    assert "<script>alert" not in saved.html
    assert "&lt;script&gt;alert(1)" in saved.html
    wrong = desk.send(f"{HERE}name", {"first_name": "x" * 300}, seen_at=HERE)
    assert wrong.status == 422
    assert "First name:" in wrong.text


def test_a_picture_is_saved_and_removed(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    sent = desk.send(f"{HERE}picture", {"image": (BytesIO(png()), "me.png")}, seen_at=HERE)
    shown = desk.follow(sent)
    assert "Your picture was saved" in shown.text
    address = shown.html.split('class="lk-picture" src="')[1].split('"')[0]
    assert desk.client.get(address).status_code == 200
    gone = desk.follow(desk.send(f"{HERE}picture/remove", seen_at=HERE))
    assert "lk-picture" not in gone.html


def test_what_is_no_picture_is_refused_with_the_reason(staff_desk: StaffDesk) -> None:
    desk = staff_desk()
    for data, reason in (
        ({"image": (BytesIO(b"no picture"), "me.png")}, "picture"),
        ({}, "Choose a file first"),
    ):
        refused = desk.send(f"{HERE}picture", data, seen_at=HERE)
        assert refused.status == 422
        error = refused.html.split('id="image-error"')[1].split("</div>")[0]
        assert reason in error


def test_a_password_is_changed_and_other_sessions_end(staff_desk: StaffDesk, shop: Ports) -> None:
    desk = staff_desk()
    sign_in(shop, MYSELF)
    wrong = {"old_password": "not mine", "new_password": NEW}
    refused = desk.send(f"{HERE}password", wrong, seen_at=HERE)
    assert refused.status == 422
    assert "Present password: This is not the present password" in refused.text
    weak = {"old_password": PASSWORD, "new_password": "1234"}
    assert "New password:" in desk.send(f"{HERE}password", weak, seen_at=HERE).text
    right = {"old_password": PASSWORD, "new_password": NEW}
    assert "was changed" in desk.follow(desk.send(f"{HERE}password", right, seen_at=HERE)).text
    assert len(sessions_of(shop, MYSELF)) == 1


def test_the_address_moves_by_a_mailed_link(staff_desk: StaffDesk, shop: Ports) -> None:
    desk = staff_desk()
    given = {"new_email": "new@example.com", "password": PASSWORD}
    wrong = desk.send(f"{HERE}email", {**given, "password": "wrong"}, seen_at=HERE)
    assert wrong.status == 422
    asked = desk.follow(desk.send(f"{HERE}email", given, seen_at=HERE)).text
    assert "Open the link that was mailed to new@example.com" in asked
    (mail,) = mails(shop, MailKind.EMAIL_CHANGE_REQUEST)
    followed = desk.open(str(mail.values["link"]))
    assert followed.leads_to == f"{HERE}new-email"
    assert "Move your account there?" in desk.follow(followed).text
    assert user_as_stored(shop, MYSELF).email == "staff@example.com"
    moved = desk.follow(desk.send(f"{HERE}new-email")).text
    assert "You sign in as new@example.com from now on" in moved
    again = desk.send(f"{HERE}new-email", seen_at=HERE)
    assert again.status == 422
    assert "This link does not work" in again.text


def test_email_link_needs_a_session(nobody: Desk, shop: Ports) -> None:
    make_user(shop, "staff@example.com", is_staff=True)
    followed = nobody.open(f"{HERE}follow?token=secret-of-the-link")
    assert followed.leads_to == f"{HERE}new-email"
    door = nobody.follow(followed)
    assert "secret-of-the-link" not in door.leads_to
    nobody.sign_in("staff@example.com")
    assert "Open the link in the mail again" in nobody.open(f"{HERE}new-email").text


def test_end_one_session_then_all_other_sessions(staff_desk: StaffDesk, shop: Ports) -> None:
    desk = staff_desk()
    for _ in range(3):
        sign_in(shop, MYSELF)
    other = sessions_of(shop, MYSELF)[-1].id
    ended = desk.send(f"{HERE}sessions/{other}/end", seen_at=HERE)
    assert "The session has ended" in desk.follow(ended).text
    twice = desk.send(f"{HERE}sessions/{other}/end", seen_at=HERE)
    assert "You have no such session" in desk.follow(twice).text
    assert "2 other sessions end at once" in desk.open(f"{HERE}?ask=others").text
    all_ = desk.follow(desk.send(f"{HERE}sessions/end-others", seen_at=HERE)).text
    assert "2 other sessions have ended" in all_
    assert len(sessions_of(shop, MYSELF)) == 1


def test_newest_sessions_are_listed_and_all_are_counted(
    staff_desk: StaffDesk, shop: Ports
) -> None:
    desk = staff_desk(Permission.MANAGE_STAFF)
    for _ in range(104):
        sign_in(shop, MYSELF)
    assert "These are the newest 100 of 105." in desk.open(HERE).text
    assert "104 other sessions end at once" in desk.open(f"{HERE}?ask=others").text
    person = f"/console/staff/{MYSELF}"
    assert "These are the newest 100 of 105 sessions." in desk.open(person).text
    asked = desk.open(f"{person}?ask=sign-out").text
    assert "105 sessions end at once" in asked


def test_without_a_password_one_is_led_to_a_link(staff_desk: StaffDesk, shop: Ports) -> None:
    desk = staff_desk()
    change_user(shop, MYSELF, password_hash=None)
    page = desk.open(HERE)
    assert "Ask for a link to set one" in page.text
    assert "To move to another address takes a password" in page.text


def test_the_page_costs_four_statements(staff_desk: StaffDesk, statements: Statements) -> None:
    desk = staff_desk()
    with statements() as seen:
        desk.open(HERE)
    assert len(seen) <= 4
