"""Pages of people whose accounts were imported."""

from dataclasses import replace

from app.console.people.person_page import OriginFacts, origin_facts
from app.domain.authorization.permissions import Permission
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.ports import Ports
from app.services.people.user_status import AccountOrigin, Person
from tests.builders.imports import SOURCE, make_imported_user
from tests.builders.people import make_user
from tests.console.conftest import StaffConsole
from tests.console.example_people import ADA, NOW
from tests.fixtures.cases import cases
from tests.fixtures.foreign_hashes import FOREIGN

IMPORTED, REPLACED, CHANGED, MUST_RESET, NONE = ImportedPasswordState
MD5 = "md5$salt$5f4dcc3b5aa765d61d8327deb882cf99"


@cases(
    ("state", "words"),
    [
        (IMPORTED, "Works. The next sign-in replaces its hash."),
        (REPLACED, "Replaced at sign-in"),
        (CHANGED, "Changed since the import"),
        (MUST_RESET, "Couldn't be imported. Must be reset."),
        (NONE, "None"),
    ],
)
def test_page_says_what_became_of_the_password(state: ImportedPasswordState, words: str) -> None:
    origin = AccountOrigin(SOURCE, NOW, state, NOW)
    replaced_at = NOW if state is REPLACED else None
    assert origin_facts(Person(ADA, origin=origin)) == OriginFacts(SOURCE, NOW, words, replaced_at)


def test_hash_of_ours_just_works() -> None:
    facts = origin_facts(Person(ADA, origin=AccountOrigin(SOURCE, NOW, REPLACED)))
    assert facts == OriginFacts(SOURCE, NOW, "Works", None)


def test_account_that_was_created_here_has_no_origin() -> None:
    assert origin_facts(Person(replace(ADA, is_staff=True))) is None


def test_page_shows_where_the_account_came_from(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
    for folder, is_staff in (("customers", False), ("staff", True)):
        email = f"{folder}@mail.example"
        key = make_imported_user(shop, FOREIGN[0].hash, email, is_staff=is_staff)
        page = console.open(f"/console/{folder}/{key}").text
        assert f"Imported from {SOURCE}" in page, folder
        assert "Imported password Works. The next sign-in replaces its hash." in page, folder

        created = make_user(shop, f"created-{email}", is_staff=is_staff)
        assert "Imported" not in console.open(f"/console/{folder}/{created}").text, folder


def test_origin_is_not_for_those_who_see_orders_only(
    staff_console: StaffConsole, shop: Ports
) -> None:
    key = make_imported_user(shop, FOREIGN[0].hash)
    page = staff_console(Permission.MANAGE_ORDERS).open(f"/console/customers/{key}").text
    assert "customer@example.com" in page
    assert "Imported" not in page


def test_customer_who_must_reset_is_explained(staff_console: StaffConsole, shop: Ports) -> None:
    key = make_imported_user(shop, MD5)
    page = staff_console(Permission.MANAGE_USERS).open(f"/console/customers/{key}").text
    assert "The password couldn't be imported. Send a password reset link." in page
    assert "Imported password Couldn't be imported. Must be reset." in page
