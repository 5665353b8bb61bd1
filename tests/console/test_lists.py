"""The state of every list is its address: what narrows it, its order, its page."""

import html
import re

from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.conftest import StaffConsole
from tests.console.list_cells import active_filters
from tests.console.staff_client import Page
from tests.fakes.clock import FakeClock

AUDIT, DELIVERIES = "/console/audit/", "/console/deliveries/"
GROUPS, PROVIDERS = "/console/staff/groups/", "/console/single-sign-on/"
WEBHOOKS = "/console/webhooks/"
MAY = (Permission.MANAGE_STAFF, Permission.MANAGE_APPS, Permission.MANAGE_PLUGINS)


def order(page: Page, *words: str) -> list[str]:
    """``words`` in the order in which the list has them."""
    rows = page.html.split("<tbody>")[1].split("</tbody>")[0]
    return sorted(words, key=rows.index)


def chosen(page: Page) -> str:
    """The order that the page says it has."""
    found = re.search(r"<span>Sort: <b>([^<]*)</b></span>", page.html)
    return found[1] if found else ""


def next_page(page: Page, label: str) -> str:
    """Where the button ``label`` below the list leads."""
    pages = page.html.split('aria-label="Pages"')[1]
    found = re.search(rf'href="([^"]*)"[^>]*>{label}<', pages)
    assert found is not None
    return html.unescape(found[1])


def test_webhooks_are_sorted_and_stay_so_on_the_next_page(
    staff_console: StaffConsole, shop: Ports
) -> None:
    app_id, _ = make_app(shop, "Labels")
    other, _ = make_app(shop, "Almanac")
    for number in range(27):
        key = make_webhook(shop, other if number == 26 else app_id)
        with shop.database.transaction() as session:
            named = update(models.Webhook).where(models.Webhook.id == key)
            session.execute(named.values(name=f"hook-{99 - number}"))
    console = staff_console(*MAY)
    assert order(console.open(WEBHOOKS), "hook-74", "hook-73", "hook-75")[0] == "hook-73"
    by_name = console.open(f"{WEBHOOKS}?sort=name&state=on")
    assert chosen(by_name) == "Name"
    assert order(by_name, "hook-75", "hook-73", "hook-74") == ["hook-73", "hook-74", "hook-75"]
    on = next_page(by_name, "Next")
    assert "sort=name" in on
    assert "state=on" in on
    second = console.open(on)
    assert order(second, "hook-99", "hook-98") == ["hook-98", "hook-99"]
    assert "hook-73" not in second.html.split("<tbody>")[1]
    back = console.open(next_page(second, "Previous"))
    assert "sort=name" in next_page(second, "Previous")
    assert order(back, "hook-75", "hook-73", "hook-74") == ["hook-73", "hook-74", "hook-75"]
    assert "hook-98" not in back.html.split("<tbody>")[1]
    without = re.search(r'href="([^"]*)" aria-label="Remove filter', second.html)
    assert without is not None
    assert html.unescape(without[1]) == f"{WEBHOOKS}?sort=name"
    assert "hook-98" in console.open(next_page(back, "Next")).html.split("<tbody>")[1]
    assert order(console.open(f"{WEBHOOKS}?sort=app"), "hook-99", "hook-73")[0] == "hook-73"
    assert chosen(console.open(f"{WEBHOOKS}?sort=nonsense")) == "Newest first"


def test_active_filters_are_described(staff_console: StaffConsole, shop: Ports) -> None:
    app_id, _ = make_app(shop, "Labels")
    hook = make_webhook(shop, app_id)
    make_delivery(shop, hook)
    console = staff_console(*MAY)
    assert active_filters(console.open(f"{WEBHOOKS}?app={app_id}").html) == ["App: Labels"]
    assert active_filters(console.open(f"{WEBHOOKS}?state=failing").html) == ["State: Failing"]
    assert active_filters(console.open(f"{DELIVERIES}?status=waiting").html) == ["Status: Waiting"]
    assert active_filters(console.open(f"{DELIVERIES}?webhook={hook}").html) == ["Webhook: hook"]
    who = console.open(f"{AUDIT}?who=operator").html
    assert active_filters(who) == ["Actor: Server administrator"]
    assert "Reason: Incorrect passwords" in console.open("/console/throttle/?why=accounts").text
    staff = console.open("/console/staff/?status=inactive")
    assert active_filters(staff.html) == ["Status: Deactivated"]


def test_what_goes_by_time_is_turned_round(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    app_id, _ = make_app(shop, "Labels")
    hook = make_webhook(shop, app_id)
    for number in range(27):
        update_shop(shop, OPERATOR, ShopUpdate(name=f"name-{number}"))
        make_delivery(shop, hook)
        clock.pass_(seconds=1)
    console = staff_console(*MAY)
    for path in (AUDIT, DELIVERIES):
        newest, oldest = console.open(path), console.open(f"{path}?sort=oldest")
        rows = [one.html.split("<tbody>")[1].split("</tbody>")[0] for one in (newest, oldest)]
        times = [re.findall(r'<time datetime="([^"]*)"', one) for one in rows]
        assert times[0] == sorted(times[0], reverse=True)
        assert times[1] == sorted(times[1])
        assert times[1][0] < times[0][-1]
        assert chosen(oldest) == "Oldest first"
        assert ">Older</a>" not in oldest.html
        on = next_page(oldest, "Newer")
        assert "sort=oldest" in on
        assert "sort=oldest" in next_page(console.open(on), "Older")


def test_groups_go_by_how_many_are_in_them_and_lead_to_their_people(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_group(shop, "Almonds")
    zebras = make_group(shop, "Zebras")
    make_user(shop, "tom@example.com", is_staff=True, groups=[zebras])
    console = staff_console(*MAY)
    assert order(console.open(GROUPS), "Zebras", "Almonds") == ["Almonds", "Zebras"]
    by_members = console.open(f"{GROUPS}?sort=members")
    assert order(by_members, "Zebras", "Almonds") == ["Zebras", "Almonds"]
    assert f'href="/console/staff/?group={zebras}"' in by_members.html
    assert "No groups yet" not in by_members.text


def test_providers_go_by_their_names(staff_console: StaffConsole, shop: Ports) -> None:
    make_provider(shop, name="Northlight")
    make_provider(shop, "acme", name="Acme & more", issuer="https://acme.invalid")
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    console = staff_console(*MAY)
    first, second = "Northlight", "Acme &amp; more"
    assert order(console.open(PROVIDERS), first, second) == [first, second]
    assert order(console.open(f"{PROVIDERS}?sort=name"), first, second) == [second, first]


def test_order_alone_narrows_nothing(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    for path in (WEBHOOKS, DELIVERIES, GROUPS, PROVIDERS, AUDIT):
        page = console.open(f"{path}?sort=name")
        assert "Nothing fits" not in page.text, path
        assert "remove filter" not in page.text, path


def test_invalid_filter_is_reported_and_not_shown_as_applied(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY, Permission.MANAGE_USERS)
    for path, query, label in (
        ("/console/apps/", "status", "Status"),
        ("/console/apps/", "kind", "Type"),
        (AUDIT, "who", "Actor"),
        (AUDIT, "kind", "Category"),
        (AUDIT, "from", "From date"),
        (AUDIT, "to", "To date"),
        (AUDIT, "on", "Subject"),
        ("/console/emails/log/", "result", "Result"),
        ("/console/emails/log/", "kind", "Email"),
        ("/console/emails/log/", "from", "From date"),
        ("/console/emails/log/", "to", "To date"),
        ("/console/sign-ins/", "result", "Result"),
        ("/console/sign-ins/", "reason", "Reason"),
        ("/console/sign-ins/", "method", "Method"),
        ("/console/sign-ins/", "type", "Account type"),
        ("/console/sign-ins/", "since", "Time"),
        ("/console/customers/", "status", "Status"),
        ("/console/staff/", "status", "Status"),
        ("/console/staff/", "group", "Group"),
        ("/console/staff/", "by", "Signs in with"),
        ("/console/throttle/", "why", "Reason"),
        (WEBHOOKS, "event", "Event"),
        (DELIVERIES, "code", "Response code"),
    ):
        page = console.open(f"{path}?{query}=<abc>&sort=x")
        assert page.status == 200, (path, query)
        assert f"{label}: “<abc>” isn't valid." in html.unescape(page.html)
        assert "<abc>" not in page.html, (path, query)
        assert "remove filter" not in page.text, (path, query)


def test_another_filter_keeps_no_selection_and_no_page(
    staff_console: StaffConsole, shop: Ports
) -> None:
    page = staff_console(*MAY).open(f"{DELIVERIES}?status=failed&select=all&ask=resend&after=x")
    assert f'<a href="{DELIVERIES}" aria-label="Remove filter Status: Failed">' in page.html
