"""The search box and the palette: pages, things to do, and what the shop has."""

import html
from urllib.parse import quote

from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.orders import make_order
from tests.builders.people import NOBODY, actor_of, make_group, make_user, sign_in
from tests.builders.products import make_product
from tests.builders.provider_records import make_provider
from tests.builders.sign_in_events import make_sign_in
from tests.console.conftest import StaffConsole, Statements
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases

SEARCH = "/console/search/"
STAFF, USERS, ORDERS = (Permission.MANAGE_STAFF, Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)


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


def test_every_place_and_everything_that_is_begun_somewhere_is_found(admin: ConsoleClient) -> None:
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


@cases(
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
def test_page_is_found_by_other_names(admin: ConsoleClient, words: str, address: str) -> None:
    found = admin.open(f"{SEARCH}?q={words.replace(' ', '+')}").html
    assert f'href="{address}"' in found.split("data-results")[1]


def test_pages_are_found_by_words_of_the_person_s_language_and_in_english(
    admin: ConsoleClient, shop: Ports
) -> None:
    assert 'href="/console/deliveries/"' not in found_by(admin, "nachsenden")
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(language_code="DE"))
    for word in ("nachsenden", "Zustell", "replay", "Deliver"):
        found = found_by(admin, word)
        assert 'href="/console/deliveries/"' in found
        assert "<span>Zustellungen</span>" in found


def found_by(console: ConsoleClient, text: str) -> str:
    return console.open(f"{SEARCH}?q={text}").html.split("data-results")[1]


def test_token_is_explained_and_in_no_url_and_no_page(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    app_id, token = make_app(shop, "Parcel Post")
    console = staff_console()
    with statements() as seen:
        page = console.send(SEARCH, {"q": f"Bearer {token}"})
    assert page.status == 200
    found = page.html.split("data-results")[1]
    assert f'href="/console/apps/{app_id}"' in found
    assert "Parcel Post" in found
    assert "Valid" in found
    assert token not in page.html
    assert not any(token in statement for statement in seen)
    assert len(seen) <= 8  # of the page that has the form, too
    person = make_user(shop, "ines@example.com")
    access = sign_in(shop, person).access
    staff = staff_console(USERS, email="support@example.com")
    found = staff.send(SEARCH, {"q": access}).html
    assert f'href="/console/customers/{person}"' in found.split("data-results")[1]
    assert access not in found
    blind = console.send(SEARCH, {"q": access}).html.split("data-results")[1]
    assert f'href="/console/customers/{person}"' not in blind


def test_text_that_can_be_a_token_is_never_put_into_the_url(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_user(shop, "okafor@example.com", first_name="Donaudampfschifffahrtsgesellschaft")
    console = staff_console(USERS)
    for secret in ("lkapp_0123456789abcdefg", "whsec_c2VjcmV0c2VjcmV0", "Z" * 30):
        page = console.send(SEARCH, {"q": secret})
        assert page.status == 200
        assert "Location" not in page.response.headers
    page = console.send(SEARCH, {"q": "Donaudampfschifffahrtsgesellschaft"})
    assert "okafor@example.com" in page.text
    for words in ("okafor", "okafor.has.a.long.one@example.com", "#44"):
        page = console.send(SEARCH, {"q": words})
        assert page.leads_to == f"{SEARCH}?q={quote(words, safe='@')}"
    assert "okafor@example.com" in console.open(f"{SEARCH}?q=okafor").text


def test_ip_address_leads_to_its_attempts(staff_console: StaffConsole, shop: Ports) -> None:
    make_sign_in(shop, address="203.0.113.7", attempts=4)
    make_sign_in(shop, address="203.0.113.70", name="other@example.com")
    console = staff_console(USERS)
    page = console.open(f"{SEARCH}?q=203.0.113.7")
    assert "4 sign-in attempts" in page.text
    address = "/console/sign-ins/?q=203.0.113.7&since=90d"
    found = html.unescape(page.html)
    assert f'href="{address}"' in found, found[found.index("data-results") :][:900]
    log = console.open(address).text
    assert "203.0.113.7" in log
    assert "203.0.113.70" not in log
