"""Apps in the console: made, changed, stopped, removed; their tokens shown once."""

import re

from app import models
from app.adapters.activity import SqlActivity
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import change_app
from tests.builders.apps import make_app as store_app
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_ORDERS)


def make_app(console: ConsoleClient, name: str = "Labels", *permissions: Permission) -> Page:
    data = {"name": name, "permissions": list(permissions)}
    return followed(console, console.send("/console/apps/connect", data))


def followed(console: ConsoleClient, page: Page) -> Page:
    """The page that a redirection leads to, else ``page``."""
    return console.follow(page) if page.leads_to else page


def secret_in(page: Page) -> str:
    found = re.search(r'value="(lkapp_[^"]+)"', page.html)
    assert found is not None
    return found[1]


def ask(console: ConsoleClient, token: str) -> object:
    headers = {"Authorization": f"Bearer {token}"}
    body = {"query": "{ app { name } }"}
    answer = console.client.post("/graphql/", json=body, headers=headers).json
    assert answer is not None
    return answer["data"]["app"]


def test_app_is_made_and_its_token_is_shown_this_once(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    made = make_app(console, "Labels", Permission.MANAGE_ORDERS)
    assert made.status == 200
    assert made.response.headers["Cache-Control"] == "no-store"
    token = secret_in(made)
    assert ask(console, token) == {"name": "Labels"}
    later = console.open("/console/apps/1")
    assert token not in later.html
    assert f"…{token[-4:]}" in later.text


def test_nothing_is_given_that_one_does_not_hold(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    page = console.open("/console/apps/connect")
    assert 'value="MANAGE_PLUGINS" disabled' in page.html
    assert 'value="MANAGE_APPS" disabled' in page.html
    refused = make_app(console, "Labels", Permission.MANAGE_PLUGINS)
    assert refused.status == 422
    assert "Labels" not in console.open("/console/apps/").text


def test_name_is_needed_and_markup_in_it_is_text(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    assert "Enter a name." in make_app(console, "").text
    make_app(console, "<script>alert(1)</script>")
    for path in ("/console/apps/", "/console/apps/1", "/console/"):
        page = console.open(path)
        assert "<script>alert" not in page.html
    assert "<script>alert(1)</script>" in console.open("/console/apps/").text


def test_app_is_deactivated_and_activated_again(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    token = secret_in(make_app(console))
    question_url = "/console/apps/1?ask=deactivate"
    assert "1 token" in console.open(question_url).text
    done = console.follow(console.send("/console/apps/1/deactivate", seen_at=question_url))
    assert "Labels was deactivated." in done.text
    assert ask(console, token) is None
    console.send("/console/apps/1/activate", seen_at="/console/apps/1")
    assert ask(console, token) == {"name": "Labels"}


def test_permissions_are_lines_with_what_they_allow(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    store_app(shop, "Labels", *MAY)
    lines = " ".join(f"{one.label} {one.allows}" for one in MAY)
    page = console.open("/console/apps/1")
    assert f"Permission Allows {lines}" in page.text
    read = page.html.partition("Permissions of Labels")[2].partition("</table>")[0]
    assert "<input" not in read


def test_permissions_and_name_are_changed(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    make_app(console)
    data = {"permissions": ["MANAGE_ORDERS"]}
    done = console.send(
        "/console/apps/1/permissions", data, seen_at="/console/apps/1?view=permissions"
    )
    assert "Permissions of Labels: Manage orders." in console.follow(done).text
    settings = "/console/apps/1?view=settings"
    renamed = console.send("/console/apps/1/details", {"name": "Till"}, seen_at=settings)
    assert "Till was saved." in console.follow(renamed).text
    empty = console.send("/console/apps/1/details", {"name": ""}, seen_at=settings)
    assert empty.status == 422


def test_tokens_that_an_app_refuses_work_again_with_the_password(
    staff_console: StaffConsole, clock: FakeClock
) -> None:
    console = staff_console(*MAY)
    token = secret_in(make_app(console))
    settings = "/console/apps/1?view=settings"
    assert "1 token stops working." in console.open(settings).text
    only = {"name": "Labels", "client_credentials_only": "y"}
    console.send("/console/apps/1/details", only, seen_at=settings)
    assert ask(console, token) is None
    assert "Without it, 1 token works again." in console.open(settings).text
    clock.pass_(minutes=6)
    asked = console.send("/console/apps/1/details", {"name": "Labels"}, seen_at=settings)
    assert (asked.status, "let an app's tokens work again" in asked.text) == (403, True)
    assert ask(console, token) is None
    renamed = console.send("/console/apps/1/details", {**only, "name": "Till"}, seen_at=settings)
    assert "Till was saved." in console.follow(renamed).text


def test_token_is_replaced_with_an_overlap_and_revoked_at_once(
    staff_console: StaffConsole,
) -> None:
    console = staff_console(*MAY)
    old = secret_in(make_app(console))
    question_url = "/console/apps/1?ask=rotate&token=1"
    assert "The old token keeps working for a grace period." in console.open(question_url).text
    rotated = console.send(
        "/console/apps/1/tokens/1/rotate", {"overlap": "24"}, seen_at=question_url
    )
    new = secret_in(console.follow(rotated))
    assert ask(console, old) == ask(console, new) == {"name": "Labels"}
    question_url = "/console/apps/1?ask=revoke&token=1"
    assert "1 other token of Labels keeps working." in console.open(question_url).text
    console.send("/console/apps/1/tokens/1/revoke", seen_at=question_url)
    assert ask(console, old) is None
    assert ask(console, new) == {"name": "Labels"}
    last = console.open("/console/apps/1?ask=revoke&token=2").text
    assert "This is the only token of Labels. The app will lose all access." in last


def test_token_may_end_and_be_narrower_than_its_app(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    make_app(console, "Labels", Permission.MANAGE_ORDERS)
    data = {"name": "Station", "life": "30", "permissions": ["MANAGE_ORDERS"]}
    made = console.follow(console.send("/console/apps/1/tokens/new", data))
    assert "Token “Station” created" in made.text
    assert "Limited to: Manage orders" in console.open("/console/apps/1").text


def test_app_is_removed_with_all_it_has(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    token = secret_in(make_app(console))
    question_url = "/console/apps/1?ask=remove"
    done = console.follow(console.send("/console/apps/1/remove", seen_at=question_url))
    assert "Labels was deleted" in done.text
    assert "No apps yet" in done.text
    assert ask(console, token) is None
    assert console.open("/console/apps/1").status == 404


def test_staff_without_manage_apps_look_and_change_nothing(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_app(staff_console(*MAY))
    other = staff_console(email="other@example.com")
    assert "You can view apps." in other.open("/console/apps/").text
    assert "Create token" not in other.open("/console/apps/1").text
    denied = other.send("/console/apps/1/remove", seen_at="/console/apps/1")
    assert denied.status == 403
    assert "MANAGE_APPS" in denied.text


def test_lists_are_narrowed_by_their_address(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    make_app(console, "Labels")
    make_app(console, "Till")
    assert "Till" not in console.open("/console/apps/?q=lab&status=active&kind=made").text
    assert "No matching apps" in console.open("/console/apps/?kind=installed").text


def test_invalid_manifest_installs_nothing(staff_console: StaffConsole) -> None:
    console = staff_console(*MAY)
    page = console.open("/console/apps/install/?url=http://10.0.0.1/manifest")
    assert page.status == 422
    nonsense = console.open("/console/apps/install/?url=nonsense")
    assert nonsense.status == 422
    assert "Manifest URL: Must be an http or https URL" in nonsense.text
    assert "manifestUrl" not in nonsense.text
    assert "Installing" not in console.open("/console/apps/").text


def test_both_pages_cost_eight_statements_at_most(
    staff_console: StaffConsole, statements: Statements
) -> None:
    console = staff_console(*MAY)
    make_app(console)
    for path in ("/console/apps/", "/console/apps/1"):
        with statements() as seen:
            console.open(path)
        assert len(seen) <= 8, seen


def test_page_shows_the_logo_and_the_problems_that_the_app_reports(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(*MAY)
    key, _ = store_app(shop, "Payments")
    plain = console.open(f"/console/apps/{key}")
    assert "Problems reported" not in plain.text
    assert "/media/apps/" not in plain.html
    change_app(shop, key, logo="a" * 32)
    now = shop.clock.now()
    with shop.database.transaction() as session:
        for name, critical, dismissed in (("gateway", True, None), ("solved", False, "")):
            session.add(
                models.AppProblem(
                    app_id=key,
                    key=name,
                    message=f"The {name} fails. <b>",
                    count=1200,
                    is_critical=critical,
                    created_at=now,
                    updated_at=now,
                    dismissed_by=dismissed,
                )
            )
    page = console.open(f"/console/apps/{key}")
    assert f'src="/media/apps/{"a" * 32}-64.webp"' in page.html
    assert "The gateway fails. <b>" in page.text
    assert "Reported 1,200 times" in page.text
    assert "Critical" in page.text
    assert "The solved fails." not in page.text
    dismiss = f"/console/apps/{key}/problems/1/dismiss"
    assert f'action="{dismiss}"' in page.html
    done = console.follow(console.send(dismiss, seen_at=f"/console/apps/{key}"))
    assert "Dismissed the problem." in done.text
    assert "The gateway fails." not in done.text
    viewer = staff_console(Permission.MANAGE_STAFF, email="other@example.com")
    assert viewer.send(dismiss).status == 403


def test_activity_tab_shows_requests_errors_and_unused_permissions(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock, statements: Statements
) -> None:
    app_id, _ = store_app(shop, "Feed", Permission.MANAGE_ORDERS)
    console = staff_console(Permission.MANAGE_APPS, Permission.MANAGE_ORDERS)
    tab = f"/console/apps/{app_id}?view=activity"
    empty = console.open(tab)
    assert "This app sent no requests in this period." in empty.text
    activity = SqlActivity(shop.database, clock, 3600.0)
    activity.count_app_request(app_id, "", 0.1)
    activity.count_app_request(app_id, "PermissionDenied", 1.2)
    activity.close()
    shown = console.open(tab)
    assert "PermissionDenied" in shown.text
    assert "Slowest 1.2 s" in " ".join(shown.text.split())
    assert "No permission has been unused for 90 days." in shown.text
    assert console.open(f"{tab}&chart=30d").status == 200
    with statements() as seen:
        console.open(tab)
    assert len(seen) <= 12
