"""The search box and the palette: pages, things to do, and what the shop has."""

import pytest
from sqlalchemy import update

from app.domain.authorization.permissions import Permission
from app.models import UserRecord
from app.ports import Ports
from tests.builders.orders import make_order
from tests.builders.people import NOBODY, actor_of, make_group, make_user
from tests.builders.products import make_product
from tests.builders.provider_records import make_provider
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient

SEARCH = "/console/search/"
STAFF, USERS, ORDERS = (
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
    Permission.MANAGE_ORDERS,
)


def test_without_words_it_offers_the_pages(admin: ConsoleClient) -> None:
    page = admin.open(SEARCH)
    assert '<section class="lk-card lk-found" id="palette"' in page.html
    assert "data-results" in page.html
    assert 'href="/console/keys/"' in page.html.split("data-results")[1]


def test_pages_are_found_by_the_other_words_that_people_use(admin: ConsoleClient) -> None:
    found = admin.open(f"{SEARCH}?q=rotate").html.split("data-results")[1]
    assert 'href="/console/keys/"' in found
    assert 'href="/console/apps/"' not in found
    do = admin.open(f"{SEARCH}?q=new+gro").html.split("data-results")[1]
    assert 'href="/console/staff/groups/new"' in do


def test_search_finds_people_and_groups_with_permission_only(
    staff_console: StaffConsole, shop: Ports
) -> None:
    customer = make_user(shop, "okafor@example.com", first_name="Ines")
    group = make_group(shop, "Okapi keepers", ORDERS)
    clerk = make_user(shop, "clerk@example.com", is_staff=True, last_name="Okafor")
    page = staff_console(STAFF, USERS).open(f"{SEARCH}?q=oka").html
    for address in (
        f"/console/customers/{customer}",
        f"/console/staff/{clerk}",
        f"/console/staff/groups/{group}",
    ):
        assert f'href="{address}"' in page
    blind = staff_console(email="blind@example.com").open(f"{SEARCH}?q=oka").text
    assert "No results" in blind
    assert "Okafor" not in blind


def test_search_finds_providers_with_permission_only(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_provider(shop, "northlight", name="Harbour ID")
    found = staff_console(Permission.MANAGE_PLUGINS).open(f"{SEARCH}?q=harb").html
    assert 'href="/console/single-sign-on/northlight/"' in found
    blind = staff_console(STAFF, email="b@example.com").open(f"{SEARCH}?q=harb").text
    assert "No results" in blind


def test_every_place_and_everything_that_is_begun_somewhere_is_found(
    admin: ConsoleClient,
) -> None:
    found_by = {
        "invite": "/console/staff/invite/",
        "unblock": "/console/throttle/",
        "matrix": "/console/staff/matrix/",
        "add provider": "/console/single-sign-on/new",
        "playground": "/graphql/",
        "own password": "/console/account/",
        "export": "/console/audit/",
        "reset link": "/console/customers/",
        "decode": "/console/inspector/",
    }
    for words, leads_to in found_by.items():
        found = admin.open(f"{SEARCH}?q={words.replace(' ', '+')}").html.split("data-results")[1]
        assert f'href="{leads_to}"' in found, words


def test_markup_is_text(staff_console: StaffConsole, shop: Ports) -> None:
    make_user(shop, first_name="Eve <script>alert(1)</script>")
    page = staff_console(USERS).open(f"{SEARCH}?q=eve").html
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page
    found_by = (
        staff_console(email="b@example.com").open(f'{SEARCH}?q="><script>alert(1)</script>').html
    )
    assert "<script>alert" not in found_by


def test_it_costs_four_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(STAFF, USERS)
    with statements() as seen:
        console.open(f"{SEARCH}?q=ines+dua")
    assert len(seen) <= 4


def test_order_number_leads_to_its_customer(staff_console: StaffConsole, shop: Ports) -> None:
    customer = make_user(shop, "okafor@example.com", first_name="Ines")
    order = make_order(shop, actor_of(shop, customer), make_product(shop, "Bowl"))
    page = staff_console(ORDERS).open(f"{SEARCH}?q=%23{order.id}")
    assert f"Order #{order.id}" in page.text
    assert f'href="/console/customers/{customer}"' in page.html
    anonymous = make_order(shop, NOBODY, make_product(shop, "Vase"))
    page = staff_console(ORDERS, email="other@example.com").open(f"{SEARCH}?q={anonymous.id}")
    assert f"Order #{anonymous.id}" in page.text
    assert 'href="/console/customers/?q=' in page.html


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("log out", "/console/account/"),
        ("dark mode", "/console/account/"),
        ("sign out everywhere", "/console/account/"),
        ("webhook failures", "/console/deliveries/"),
        ("team", "/console/staff/"),
        ("users", "/console/customers/"),
    ],
)
def test_page_is_found_by_other_names(
    staff_console: StaffConsole, words: str, address: str
) -> None:
    found = staff_console(*Permission).open(f"{SEARCH}?q={words.replace(' ', '+')}").html
    assert f'href="{address}"' in found.split("data-results")[1]


def test_pages_are_found_by_words_of_the_person_s_language_and_in_english(
    admin: ConsoleClient, shop: Ports
) -> None:
    assert 'href="/console/deliveries/"' not in found_by(admin, "nachsenden")
    with shop.database.transaction() as session:
        session.execute(update(UserRecord).values(language_code="DE"))
    for word in ("nachsenden", "Zustell", "replay", "Deliver"):
        found = found_by(admin, word)
        assert 'href="/console/deliveries/"' in found
        assert "<span>Zustellungen</span>" in found


def found_by(console: ConsoleClient, text: str) -> str:
    return console.open(f"{SEARCH}?q={text}").html.split("data-results")[1]
