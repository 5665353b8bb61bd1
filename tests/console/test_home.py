"""The first page: what the doors look like, and what wants a look."""

from app.domain.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_user
from tests.console.conftest import StaffDesk, Statements
from tests.console.desk import Desk


def test_the_bare_address_leads_to_the_console(nobody: Desk) -> None:
    assert nobody.open("/").leads_to == "/console/"


def test_staff_without_permissions_see_the_doors_and_no_numbers(staff_desk: StaffDesk) -> None:
    page = staff_desk().open("/console/")
    assert page.status == 200
    assert "Customers and staff sign in by password." in page.text
    assert "Last 24 hours" not in page.text
    assert "Last changes" not in page.text


def test_who_may_see_everything_sees_it_with_six_statements(
    admin: Desk, statements: Statements
) -> None:
    with statements() as seen:
        page = admin.open("/console/")
    assert "Deliveries by hour" in page.text
    assert "1 password session of staff is open." in page.text
    assert len(seen) <= 6


def test_names_are_shown_as_they_are_and_never_as_markup(
    staff_desk: StaffDesk, shop: Ports
) -> None:
    desk = staff_desk(Permission.MANAGE_STAFF, email="first@example.com")
    make_user(shop, first_name="<script>alert(1)</script>", email="b@example.com", is_staff=True)
    desk.sign_in("b@example.com")
    page = desk.open("/console/")
    assert "<script>alert(1)" not in page.html


def test_an_address_that_is_none_gets_its_answer_in_the_frame(admin: Desk) -> None:
    told = admin.open("/console/nowhere")
    assert told.status == 404
    assert "There is no such page" in told.text
    assert "Sign out" in told.text
