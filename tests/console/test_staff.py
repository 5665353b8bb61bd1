"""Staff in the console: found, invited, put into groups, locked out."""

import html
import re
from dataclasses import replace
from urllib.parse import urlsplit

from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.outbox import mails
from tests.builders.people import (
    PASSWORD,
    make_group,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
)
from tests.builders.provider_records import link_identity, make_provider
from tests.console.conftest import StaffConsole, Statements
from tests.console.list_cells import active_filters
from tests.console.staff_client import ConsoleClient
from tests.fixtures.kept_application import AppOn

STAFF, ORDERS, APPS = Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS, Permission.MANAGE_APPS
LIST = "/console/staff/"
INVITE = "/console/staff/invite/"
MATRIX = "/console/staff/matrix/"


def group_id(key: int) -> str:
    return to_global_id("Group", key)


def test_pages_need_manage_staff_and_say_so(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_USERS)
    clerk = make_staff(shop, "clerk@example.com")
    for path in (LIST, INVITE, MATRIX, f"{LIST}{clerk}", "/console/staff/groups/new"):
        page = console.open(path)
        assert page.status == 403, path
        assert "MANAGE_STAFF" in page.text


def test_staff_list_shows_sign_in_methods(staff_console: StaffConsole, shop: Ports) -> None:
    support = make_group(shop, "Support", ORDERS)
    make_user(shop, "tom@example.com", is_staff=True, first_name="Tom", groups=[support])
    make_user(shop, "new@example.com", is_staff=True, password=None)
    console = staff_console(STAFF)
    page = console.open(LIST).text
    assert "Tom tom@example.com Support Password only" in page
    assert "new@example.com None Invited" in page
    assert "staff@example.com You" in page
    assert "new@example.com" not in console.open(f"{LIST}?q=tom").text
    assert "No matching people" in console.open(f"{LIST}?q=zzz&sort=email").text


def test_list_is_narrowed_by_group_and_by_the_way_in(
    staff_console: StaffConsole, shop: Ports
) -> None:
    support = make_group(shop, "Support & more", ORDERS)
    make_provider(shop)
    make_user(shop, "tom@example.com", is_staff=True, groups=[support])
    sofia = make_user(shop, "sofia@example.com", is_staff=True, password=None, groups=[support])
    link_identity(shop, sofia)
    console = staff_console(STAFF)
    page = console.open(f"{LIST}?group={support}")
    assert active_filters(page.html) == ["Group: Support & more"]
    assert "2 of 3 people" in page.text
    assert "staff@example.com You" not in page.text
    narrowed = console.open(f"{LIST}?group={support}&by=sso")
    assert active_filters(narrowed.html)[1:] == ["Signs in with: SSO, no password"]
    assert "sofia@example.com" in narrowed.text
    assert "tom@example.com" not in narrowed.text
    assert f'href="{LIST}?group={support}"' in narrowed.html
    for nothing in ("group=999", "by=neither"):
        assert "No matching people" in console.open(f"{LIST}?{nothing}").text
    for nonsense in ("group=x", f"group={'9' * 40}", "by=magic"):
        assert "tom@example.com" in console.open(f"{LIST}?{nonsense}").text


def test_invited_staff_sign_in_by_the_mailed_link(
    staff_console: StaffConsole, shop: Ports, anonymous_console: ConsoleClient
) -> None:
    support = make_group(shop, "Support", ORDERS)
    console = staff_console(STAFF, ORDERS)
    given = {"email": "sofia@example.com", "first_name": "Sofia", "groups": group_id(support)}
    sent = console.send(INVITE, given)
    assert "Invitation sent to sofia@example.com." in console.follow(sent).text
    (mail,) = mails(shop)
    assert mail.kind is MailKind.STAFF_INVITATION
    followed = anonymous_console.open(str(mail.values["link"]))
    chosen = anonymous_console.send(followed.leads_to, {"password": "a heron walks at dawn"})
    assert chosen.status == 303
    assert anonymous_console.open("/console/apps/").status == 200


def test_invitation_that_is_refused_says_why_and_keeps_what_was_typed(
    staff_console: StaffConsole, shop: Ports
) -> None:
    beyond = make_group(shop, "Developers", APPS)
    console = staff_console(STAFF)
    assert (
        "You can't change who is in Developers : it has permissions you don't have."
        in console.open(INVITE).text
    )
    twice = console.send(INVITE, {"email": "staff@example.com", "first_name": "Again"})
    assert twice.status == 422
    assert "Email:" in twice.text
    assert 'value="Again"' in twice.html
    forced = console.send(INVITE, {"email": "x@example.com", "groups": group_id(beyond)})
    assert forced.status == 422
    assert "it has permissions you don" in forced.text
    assert console.send(INVITE, {"email": ""}).status == 422


def test_direct_permission_is_removed_and_the_group_keeps_its_own(
    staff_console: StaffConsole, shop: Ports
) -> None:
    support = make_group(shop, "Support", ORDERS)
    key = make_user(
        shop, "tom@example.com", is_staff=True, groups=[support], permissions=[ORDERS, APPS]
    )
    here, console = f"{LIST}{key}", staff_console(STAFF, ORDERS, APPS)
    page = console.open(here).text
    assert f"{ORDERS.allows} Support · Granted directly" in page
    assert f"{APPS.allows} Granted directly" in page
    kept = {"permissions": ["MANAGE_ORDERS"]}
    page = console.follow(console.send(f"{here}/permissions", kept, seen_at=here)).text
    assert "Saved the direct permissions of tom@example.com." in page
    assert "Manage apps" not in page
    page = console.follow(console.send(f"{here}/permissions", seen_at=here)).text
    assert f"{ORDERS.allows} Support" in page
    assert "Granted directly" not in page


def test_groups_are_ticked_and_unticked(staff_console: StaffConsole, shop: Ports) -> None:
    old, new = make_group(shop, "Old", ORDERS), make_group(shop, "New", ORDERS)
    key = make_user(shop, "tom@example.com", is_staff=True, groups=[old])
    here = f"{LIST}{key}"
    console = staff_console(STAFF, ORDERS)
    page = console.open(here)
    assert f"{ORDERS.allows} Old" in page.text
    given = {"groups": group_id(new)}
    saved = console.send(f"{here}/groups", given, seen_at=here)
    assert "Groups of tom@example.com: New." in console.follow(saved).text


def test_group_with_more_permissions_cannot_be_assigned(
    staff_console: StaffConsole, shop: Ports
) -> None:
    beyond = make_group(shop, "Developers", APPS)
    key = make_staff(shop, "tom@example.com")
    here = f"{LIST}{key}"
    console = staff_console(STAFF)
    assert "You can't change who is in" in console.open(f"{here}?view=permissions").text
    sent = console.send(f"{here}/groups", {"groups": group_id(beyond)}, seen_at=here)
    assert "Nothing was changed." in console.follow(sent).text


def test_staff_with_more_permissions_are_read_only(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_staff(shop, "dev@example.com", APPS)
    sign_in(shop, key)
    here = f"{LIST}{key}"
    console = staff_console(STAFF)
    page = console.open(here).text
    assert "has a permission you don't have: Manage apps" in page
    assert "Deactivate …" not in console.open(f"{here}?view=account").text
    for act in ("deactivate", "remove", "sign-out", "link"):
        sent = console.send(f"/console/people/{key}/{act}", seen_at=LIST)
        assert "they have permissions that you don't have" in console.follow(sent).text, act
    assert len(sessions_of(shop, key)) == 1
    assert user_as_stored(shop, key).is_active


def test_last_staff_manager_cannot_be_removed(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    chiefs, support = make_group(shop, "Chiefs", STAFF), make_group(shop, "Support")
    groups = [chiefs, support]
    key = make_user(shop, "chief@example.com", is_staff=True, groups=groups)
    anonymous_console.sign_in("chief@example.com")
    here = f"{LIST}{key}"
    given = {"groups": group_id(support)}
    left = anonymous_console.send(f"{here}/groups", given, seen_at=here)
    reason = "No one else could manage these permissions: MANAGE_STAFF"
    assert reason in anonymous_console.follow(left).text
    group = f"{LIST}groups/{chiefs}"
    deleted = anonymous_console.send(f"{group}/delete", seen_at=group)
    assert reason in anonymous_console.follow(deleted).text
    account = anonymous_console.open(f"{here}?view=account").text
    assert "You can't deactivate or remove your own account" in account
    locked = anonymous_console.send(f"/console/people/{key}/deactivate", seen_at=here)
    assert "You cannot deactivate your own account" in anonymous_console.follow(locked).text


def test_details_are_saved(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_staff(shop, "tom@example.com")
    here = f"{LIST}{key}"
    console = staff_console(STAFF)
    wrong = console.send(
        f"{here}/details", {"email": "no address"}, seen_at=f"{here}?edit=details"
    )
    assert wrong.status == 422
    given = {"first_name": "Tom", "last_name": "Okafor", "email": "tom@example.com"}
    saved = console.send(f"{here}/details", given, seen_at=f"{here}?edit=details")
    assert "Saved the details of Tom Okafor." in console.follow(saved).text


def test_staff_removal_needs_confirmation(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_staff(shop, "tom@example.com")
    console = staff_console(STAFF)
    assert "This can't be undone" in console.open(f"{LIST}{key}?ask=remove").text
    gone = console.follow(console.send(f"/console/people/{key}/remove", seen_at=LIST)).text
    assert "Removed " in gone
    assert console.open(f"{LIST}{key}").status == 404


def test_superuser_is_left_to_the_server_administrator(admin: ConsoleClient, shop: Ports) -> None:
    key = make_user(shop, "root@example.com", is_superuser=True)
    page = admin.open(f"{LIST}{key}?view=account").text
    assert "Only a server administrator can deactivate or remove a superuser." in page
    refused = admin.follow(admin.send(f"/console/people/{key}/remove", seen_at=LIST)).text
    assert "Cannot delete superuser's account" in refused


def test_matrix_shows_groups_and_people(staff_console: StaffConsole, shop: Ports) -> None:
    make_group(shop, "Support", ORDERS)
    console = staff_console(STAFF)
    by_group = console.open(MATRIX).text
    assert "Permission Support" in by_group
    assert "Manage orders MANAGE_ORDERS · you don't have it Yes" in by_group
    assert re.search("Manage staff MANAGE_STAFF . No", by_group)
    by_person = console.open(f"{MATRIX}?by=people").text
    assert "Manage staff MANAGE_STAFF Yes" in by_person


def test_markup_in_names_shows_as_text(staff_console: StaffConsole, shop: Ports) -> None:
    wild = "<script>alert(1)</script>"
    group = make_group(shop, wild, ORDERS)
    key = make_user(shop, "x@example.com", is_staff=True, first_name=wild, groups=[group])
    console = staff_console(STAFF, ORDERS)
    groups = f"{LIST}groups/"
    for path in (LIST, f"{LIST}{key}", f"{LIST}{key}?ask=link", MATRIX, groups, INVITE):
        page = console.open(path).html
        assert "<script>alert" not in page, path
        assert "&lt;script&gt;alert(1)" in page, path
    page = console.open(f"{groups}{group}?ask=delete").html
    assert "<script>alert" not in page


def test_customers_are_shown_among_the_customers(admin: ConsoleClient, shop: Ports) -> None:
    key = make_user(shop)
    assert admin.open(f"{LIST}{key}").leads_to == f"/console/customers/{key}"


def test_the_pages_cost_six_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    group = make_group(shop, "Support", ORDERS)
    key = make_user(shop, "tom@example.com", is_staff=True, groups=[group])
    console = staff_console(STAFF, ORDERS)
    groups = f"{LIST}groups/"
    paths = (LIST, f"{LIST}?q=tom", f"{LIST}{key}", MATRIX, f"{MATRIX}?by=people", INVITE)
    for path in (*paths, groups, f"{groups}{group}"):
        with statements() as seen:
            console.open(path)
        # The page of a member has their emails, too.
        assert len(seen) <= (7 if path == f"{LIST}{key}" else 6), path


def test_invitation_is_sent_again_and_its_link_can_be_copied(
    staff_console: StaffConsole, shop: Ports, anonymous_console: ConsoleClient
) -> None:
    console = staff_console(STAFF)
    sent = console.send(INVITE, {"email": "sofia@example.com"})
    page = console.follow(sent)
    assert "Signs in with Invited" in page.text
    key = sent.leads_to.rpartition("/")[2]
    again = console.send(f"{INVITE}{key}/resend", seen_at=sent.leads_to)
    assert "Invitation sent again." in console.follow(again).text
    assert [mail.kind for mail in mails(shop)] == [MailKind.STAFF_INVITATION] * 2
    early = console.follow(console.send(f"{INVITE}{key}/resend", seen_at=sent.leads_to))
    assert "wait before you send another" in early.text
    made = console.send(f"{INVITE}{key}/link", seen_at=sent.leads_to)
    shown = console.follow(made)
    link = html.unescape(shown.html.split('id="link"')[1].split('value="')[1].split('"')[0])
    assert "Anyone who opens it can choose the password." in shown.text
    assert link not in html.unescape(console.follow(made).html)
    address = urlsplit(link)
    anonymous_console.follow(anonymous_console.open(f"{address.path}?{address.query}"))
    chosen = anonymous_console.send(
        "/console/new-password", {"password": "an otter in the harbour"}
    )
    assert chosen.status == 303
    assert "Resend invitation" not in console.open(sent.leads_to).text


def test_invitation_sent_twice_creates_one_person(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(STAFF)
    form = {"email": "sofia@example.com", "submission": "k" * 32}
    first, second = console.send(INVITE, form), console.send(INVITE, form)
    assert first.status == second.status == 303
    assert console.follow(second).leads_to == first.leads_to
    assert len(mails(shop)) == 1


def test_invitation_without_a_mail_server_is_not_called_sent(shop: Ports, app_on: AppOn) -> None:
    ports = replace(shop, configuration=replace(shop.configuration, sends_mail=False))
    make_user(ports, "admin@example.com", is_superuser=True)
    console = ConsoleClient(app_on(ports).test_client(), ports)
    console.sign_in("admin@example.com")
    invited = console.send(INVITE, {"email": "sofia@example.com"})
    page = console.follow(invited)
    assert "The invitation for sofia@example.com was written to a file on the server." in page.text
    assert f"{INVITE}{invited.leads_to.rpartition('/')[2]}/link" in page.html
    key = make_user(ports)
    link = console.send(f"/console/people/{key}/link", seen_at=f"/console/customers/{key}")
    said = console.follow(link).text
    assert "The password reset link for customer@example.com was written to a file" in said
    change = {"new_email": "new@example.com", "password": PASSWORD}
    asked = console.send("/console/account/email", change, seen_at="/console/account/")
    assert "The link for new@example.com was written to a file" in console.follow(asked).text
    look = "/console/emails/look"
    tried = console.send(f"{look}/test", {"accent_color": "#0b5563"}, seen_at=look)
    said = "Test to admin@example.com written to a file on the server."
    assert said in console.follow(tried).text
    forgotten = {"email": "customer@example.com"}
    visitor = ConsoleClient(app_on(ports).test_client(), ports)
    told = visitor.send("/console/forgotten", forgotten)
    assert "a link was written to a file on the server" in told.text
