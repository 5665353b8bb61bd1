"""What the pages of staff say, without HTTP."""

from dataclasses import replace

import pytest

from app.console.frame.parts import Pill
from app.console.people.groups import GroupChoice
from app.console.people.staff_pages import HeldPermission, make_staff_page, staff_columns
from app.domain.accounts.users import User
from app.domain.authorization.permissions import Permission
from app.services.console.sign_in_methods import SignInMethods
from app.services.people.user_status import Person
from app.services.second_factors.stored_factors import FactorCounts
from tests.console.example_people import ADA, APPS, NOW, ORDERS, STAFF, SUPPORT, viewer
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

STAFF_ADA = replace(ADA, is_staff=True)
NO_GROUPS = GroupChoice((), "")
PASSWORD = SignInMethods(has_password=True, providers=(), sessions=0, last_used_at=None)
BOTH = SignInMethods(
    has_password=True, providers=("Northlight ID", "Kiln"), sessions=1240, last_used_at=NOW
)
SSO = SignInMethods(has_password=False, providers=("Northlight ID",), sessions=1, last_used_at=NOW)
PASSKEYS = FactorCounts(passkeys=1)
NEITHER = SignInMethods(has_password=False, providers=(), sessions=0, last_used_at=None)


@cases(
    ("user", "methods", "pill", "also", "message"),
    [
        (STAFF_ADA, PASSWORD, Pill("", "Password only"), "", "Password only"),
        (
            STAFF_ADA,
            BOTH,
            Pill("ok", "Northlight ID, Kiln"),
            "and password",
            "Northlight ID, Kiln or password",
        ),
        (STAFF_ADA, SSO, Pill("ok", "Northlight ID"), "", "Northlight ID"),
        (
            STAFF_ADA,
            replace(PASSWORD, factors=PASSKEYS),
            Pill("", "Password or passkey"),
            "",
            "Password or passkey",
        ),
        (
            STAFF_ADA,
            replace(SSO, factors=PASSKEYS),
            Pill("ok", "Northlight ID"),
            "and passkey",
            "Northlight ID or passkey",
        ),
        (
            STAFF_ADA,
            replace(NEITHER, factors=PASSKEYS),
            Pill("", "Passkey only"),
            "",
            "Passkey only",
        ),
        (STAFF_ADA, NEITHER, Pill("info", "Invited"), "", "Invited"),
        (STAFF_ADA, None, Pill("info", "Invited"), "", "Invited"),
        (
            replace(STAFF_ADA, last_login=NOW),
            NEITHER,
            Pill("warn", "No sign-in method"),
            "",
            "No sign-in method",
        ),
        (
            replace(STAFF_ADA, is_active=False),
            BOTH,
            Pill("off", "Deactivated"),
            "",
            "Northlight ID, Kiln or password",
        ),
    ],
)
def test_sign_in_methods_are_in_words(
    user: User, methods: SignInMethods | None, pill: Pill, also: str, message: str
) -> None:
    columns = staff_columns({} if methods is None else {user.id: methods}, None)
    assert cell_text(columns, "Signs in with", user) == f"{pill.words} {also}".strip()
    page = make_staff_page(Person(user), viewer(), NO_GROUPS, methods)
    assert page.sign_in_method == message


@cases(
    ("user", "groups"),
    [
        (STAFF_ADA, "None"),
        (replace(STAFF_ADA, is_superuser=True), "Superuser"),
        (replace(STAFF_ADA, is_superuser=True, groups=(SUPPORT,)), "Support"),
    ],
)
def test_row_names_groups(user: User, groups: str) -> None:
    assert cell_text(staff_columns({}, None), "Groups", user) == groups


@pytest.mark.usefixtures("translated_page")
def test_row_counts_sessions_and_marks_the_viewer() -> None:
    columns = staff_columns({STAFF_ADA.id: BOTH}, STAFF_ADA.id)
    others = staff_columns({}, STAFF_ADA.id + 1)
    assert cell_text(columns, "Sessions", STAFF_ADA) == "1,240"
    assert cell_text(others, "Sessions", STAFF_ADA) == "0"
    assert " You " in cell_text(columns, "Person", STAFF_ADA)
    assert " You " not in cell_text(others, "Person", STAFF_ADA)


@cases(
    ("permissions", "sentence"),
    [
        ({ORDERS}, ""),
        ({ORDERS, APPS}, "Ada &lt;i&gt; has a permission you don't have: <b>Manage apps</b>. "),
        (
            {STAFF, APPS},
            (
                "Ada &lt;i&gt; has permissions you don't have: <b>Manage apps</b>, "
                "<b>Manage staff</b>. "
            ),
        ),
    ],
)
def test_permissions_beyond_the_viewer_are_named(
    permissions: set[Permission], sentence: str
) -> None:
    user = replace(STAFF_ADA, permissions=frozenset(permissions))
    page = make_staff_page(Person(user), viewer(ORDERS), NO_GROUPS, None, "remove")
    assert str(page.beyond).replace("&#39;", "'").startswith(sentence)
    assert bool(page.beyond) is bool(sentence)
    assert page.can_edit is not bool(sentence)
    assert (page.dialog is None) is bool(sentence)


@cases(
    ("question_name", "is_open"),
    [("deactivate", False), ("remove", False), ("sign-out", True), ("link", True)],
)
def test_nobody_removes_their_own_account(question_name: str, *, is_open: bool) -> None:
    page = make_staff_page(Person(STAFF_ADA), viewer(user_id=1), NO_GROUPS, None, question_name)
    assert (page.dialog is not None) is is_open
    assert page.permissions_title == "Your permissions"
    assert Pill("info", "You") in page.pills


@cases(
    ("direct", "of_orders"), [({APPS}, "Support"), ({APPS, ORDERS}, "Support · Granted directly")]
)
def test_permissions_name_every_source(direct: set[Permission], of_orders: str) -> None:
    user = replace(STAFF_ADA, permissions=frozenset({APPS, ORDERS}), groups=(SUPPORT,))
    person = Person(user, direct_permissions=frozenset(direct))
    page = make_staff_page(person, viewer(*direct, ORDERS), NO_GROUPS, None)
    assert set(page.permissions) == {
        HeldPermission("MANAGE_APPS", "Manage apps", APPS.allows, "Granted directly"),
        HeldPermission("MANAGE_ORDERS", "Manage orders", ORDERS.allows, of_orders),
    }
    assert {one.name for one in page.direct_permissions} == direct


def test_direct_permissions_are_fixed_for_a_viewer_who_lacks_one() -> None:
    user = replace(STAFF_ADA, permissions=frozenset({APPS, ORDERS}))
    person = Person(user, direct_permissions=user.permissions)
    assert make_staff_page(person, viewer(APPS), NO_GROUPS, None).direct_permissions == ()
