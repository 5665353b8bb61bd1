"""What the page of the own account says, without HTTP."""

from dataclasses import replace

from app.console.account.account import make_account_page
from app.console.frame.parts import Consequence
from app.services.console.sign_in_methods import SignInMethods
from tests.console.example_people import ADA, APPS, ORDERS, SESSION
from tests.fixtures.cases import cases

CURRENT = replace(SESSION, id=1, is_current=True)


@cases(
    ("methods", "password", "sso", "sentence"),
    [
        (
            SignInMethods(has_password=True, providers=(), sessions=1, last_used_at=None),
            "Set",
            "Not linked",
            "You don't have a password.",
        ),
        (
            SignInMethods(
                has_password=False,
                providers=("Kiln", "Northlight ID"),
                sessions=1,
                last_used_at=None,
            ),
            "Not set",
            "Kiln, Northlight ID",
            "You don't have a password. You sign in with Kiln, Northlight ID.",
        ),
    ],
)
def test_sign_in_methods_are_in_words(
    methods: SignInMethods, password: str, sso: str, sentence: str
) -> None:
    page = make_account_page(ADA, [CURRENT], methods)
    assert (page.password_status, page.sso_status, page.no_password) == (password, sso, sentence)


@cases(
    ("sessions", "sentence"),
    [
        (1, ""),
        (2, "<b>1 session</b> ends immediately."),
        (1241, "<b>1,240 sessions</b> end immediately."),
    ],
)
def test_question_counts_the_other_sessions(sessions: int, sentence: str) -> None:
    methods = SignInMethods(has_password=True, providers=(), sessions=sessions, last_used_at=None)
    page = make_account_page(ADA, [CURRENT], methods, asks_others=True)
    assert page.has_others is (sessions > 1)
    assert (page.dialog is None) is (sessions == 1)
    if page.dialog is not None:
        assert page.dialog.consequences[0] == Consequence("bad", sentence)
    assert make_account_page(ADA, [CURRENT], methods).dialog is None


def test_permissions_are_sorted_and_the_picture_is_optional() -> None:
    methods = SignInMethods(has_password=True, providers=(), sessions=1, last_used_at=None)
    page = make_account_page(replace(ADA, permissions=frozenset({ORDERS, APPS})), [], methods)
    assert page.permissions == ("Manage apps", "Manage orders")
    assert page.picture == ""
    assert "abc" in make_account_page(replace(ADA, avatar="abc"), [], methods).picture
    assert page.picture_hint == "PNG, JPEG or WebP, up to 5 MiB. Metadata is removed."
