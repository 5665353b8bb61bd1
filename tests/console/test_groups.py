"""Groups in the console: made, changed, filled, deleted, never beyond what one holds."""

import html
import re

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_group, make_staff, make_user
from tests.console.conftest import StaffConsole

STAFF, ORDERS, APPS = Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS, Permission.MANAGE_APPS
LIST = "/console/staff/groups/"


def test_empty_list_leads_to_the_first_group(staff_console: StaffConsole) -> None:
    console = staff_console(STAFF)
    assert "No groups yet" in console.open(LIST).text
    assert "No matching groups" in console.open(f"{LIST}?q=zzz").text


def test_group_can_only_grant_own_permissions(staff_console: StaffConsole) -> None:
    console = staff_console(STAFF, ORDERS)
    assert "You can't grant permissions that you don't have." in console.open(f"{LIST}new").text
    given = {"name": "Support", "permissions": "MANAGE_ORDERS"}
    made = console.follow(console.send(f"{LIST}new", given)).text
    assert "Created the group Support." in made
    again = console.send(f"{LIST}new", given)
    assert again.status == 422
    assert "Name: Group with this name already exists" in again.text
    beyond = console.send(f"{LIST}new", {"name": "More", "permissions": "MANAGE_APPS"})
    assert beyond.status == 422
    assert "add permission that you don't have" in beyond.text
    assert console.send(f"{LIST}new", {"name": ""}).status == 422


def test_group_is_renamed_and_gives_something_else(
    staff_console: StaffConsole, shop: Ports
) -> None:
    here = f"{LIST}{make_group(shop, 'Support', ORDERS)}"
    console = staff_console(STAFF, ORDERS)
    given = {"name": "Help", "permissions": "MANAGE_STAFF"}
    saved = console.follow(console.send(f"{here}/save", given, seen_at=here)).text
    assert "Saved the group Help." in saved
    wrong = console.send(f"{here}/save", {"name": ""}, seen_at=here)
    assert wrong.status == 422


def test_members_come_by_their_address_and_go(staff_console: StaffConsole, shop: Ports) -> None:
    here = f"{LIST}{make_group(shop, 'Support', ORDERS)}"
    key = make_staff(shop, "tom@example.com")
    make_user(shop)
    console = staff_console(STAFF, ORDERS, Permission.MANAGE_USERS)
    assert "No members" in console.open(here).text
    added = console.send(f"{here}/members", {"email": "tom@example.com"}, seen_at=here)
    assert "Added tom@example.com to Support." in console.follow(added).text
    unknown = console.send(f"{here}/members", {"email": "who@example.com"}, seen_at=here)
    assert unknown.status == 422
    assert "No account has the email who@example.com" in unknown.text
    customer = console.send(f"{here}/members", {"email": "customer@example.com"}, seen_at=here)
    assert "You can assign only staff members" in customer.text
    left = console.send(f"{here}/members/{key}/leave", seen_at=here)
    assert "Removed a member from Support." in console.follow(left).text


def test_members_of_a_large_group_are_paged_and_all_counted(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_group(shop, "Support", ORDERS)
    for number in range(27):
        make_user(shop, f"p{number}@example.com", is_staff=True, groups=[key], password=None)
    console, here = staff_console(STAFF, ORDERS), f"{LIST}{key}"
    page = console.open(here)
    assert "27 members" in page.text
    assert "p24@example.com" in page.text
    assert "p25@example.com" not in page.text
    assert f'href="/console/staff/?group={key}"' in page.html
    on = re.search(r'href="([^"]*)"[^>]*>Next<', page.html)
    assert on is not None
    rest = console.open(html.unescape(on[1])).text
    assert "p26@example.com" in rest
    assert "27 members" in rest
    assert "27 members lose these permissions" in console.open(f"{here}?ask=delete").text
    refused = console.send(f"{here}/members", {"email": "who@example.com"}, seen_at=here)
    assert ">Next<" not in refused.html


def test_group_with_more_permissions_is_read_only(
    staff_console: StaffConsole, shop: Ports
) -> None:
    here = f"{LIST}{make_group(shop, 'Developers', APPS)}"
    console = staff_console(STAFF)
    assert "You can't edit this group" in console.open(LIST).text
    page = console.open(f"{here}?ask=delete")
    assert "permissions you don't have: MANAGE_APPS" in page.text
    assert '<dialog class="lk-dialog" open' not in page.html
    refused = console.follow(console.send(f"{here}/delete", seen_at=f"{LIST}new")).text
    assert "Nothing was changed" in refused
    saved = console.send(f"{here}/save", {"name": "Mine"}, seen_at=here)
    assert saved.status == 422


def test_group_is_deleted_after_a_question_that_counts(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_group(shop, "Support", ORDERS)
    make_user(shop, "tom@example.com", is_staff=True, groups=[key])
    here = f"{LIST}{key}"
    console = staff_console(STAFF, ORDERS)
    assert (
        "1 member loses these permissions unless another group grants them: "
        in console.open(f"{here}?ask=delete").text
    )
    gone = console.follow(console.send(f"{here}/delete", seen_at=here)).text
    assert "Deleted the group Support." in gone
    assert console.open(here).status == 404


def test_group_sent_twice_is_created_once(staff_console: StaffConsole) -> None:
    console = staff_console(STAFF)
    form = {"name": "Support", "submission": "k" * 32}
    first, second = console.send(f"{LIST}new", form), console.send(f"{LIST}new", form)
    assert first.status == second.status == 303
    assert console.follow(second).leads_to == first.leads_to
    assert "1 group" in console.open(LIST).text
