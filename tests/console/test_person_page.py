"""What the pages of accounts share: sessions, what can be done, and dialogs."""

from dataclasses import replace

from app.console.frame.parts import Consequence
from app.console.people.person_page import (
    AccountActions,
    account_actions,
    account_dialog,
    email_below_name,
    ended_sessions,
    name_of,
    newest_of,
    session_rows,
    sessions_table,
)
from app.domain.accounts.users import User
from app.domain.authorization.actor import SessionOrigin
from app.services.people.user_status import Person
from tests.console.example_people import ADA, NOW, SESSION, SUPPORT
from tests.fixtures.cases import cases

LOCKED = replace(ADA, is_active=False)
ROOT = replace(ADA, is_superuser=True)
NO_ACCESS = (
    "This person has permissions you don't have. Only someone with all of them can do this."
)


@cases(
    ("first", "last", "name", "email"),
    [
        ("Ada", "Okafor", "Ada Okafor", "ada@example.com"),
        ("", "Okafor", "Okafor", "ada@example.com"),
        ("", "", "ada@example.com", ""),
    ],
)
def test_account_without_a_name_is_called_by_its_email(
    first: str, last: str, name: str, email: str
) -> None:
    user = replace(ADA, first_name=first, last_name=last)
    assert (name_of(user), email_below_name(user)) == (name, email)


@cases(
    ("origin", "method"),
    [
        (SessionOrigin.PASSWORD, "Password"),
        (SessionOrigin.OIDC, "SSO"),
        (SessionOrigin.NONE, "Unknown"),
    ],
)
def test_sessions_name_their_method(origin: SessionOrigin, method: str) -> None:
    (row,) = session_rows([replace(SESSION, origin=origin)])
    assert row.method == method


def test_session_is_named_with_device_and_address() -> None:
    (known,), (unknown,) = session_rows([SESSION]), session_rows([replace(SESSION, address="")])
    assert known.end_label == "End session on Firefox on Linux at 203.0.113.7"
    assert unknown.end_label == "End session on Firefox on Linux"
    assert unknown.address == "Unknown"
    assert known.last_active_at == NOW


@cases(
    ("shown", "sessions", "summary"),
    [(0, 0, ""), (3, 3, ""), (100, 1240, "Newest 100 of 1,240 sessions")],
)
def test_summary_tells_of_more_sessions_than_are_shown(
    shown: int, sessions: int, summary: str
) -> None:
    assert newest_of(shown, sessions) == summary
    table = sessions_table(Person(ADA, (SESSION,) * shown, sessions))
    assert table.summary == summary
    assert table.caption == "Sessions of Ada <i>"


def test_ended_sessions_are_left_out_without_any() -> None:
    assert ended_sessions(0) == ()
    assert ended_sessions(1) == (Consequence("bad", "<b>1 session</b> ends immediately."),)
    assert ended_sessions(1240) == (Consequence("bad", "<b>1,240 sessions</b> end immediately."),)


LINK = "The link lets them choose a password. It is sent only to them."


@cases(
    ("user", "sessions", "is_self", "actions"),
    [
        (
            ADA,
            0,
            False,
            AccountActions(
                LINK,
                "Deactivating blocks sign-in. No data is deleted.",
                can_send_link=True,
                can_deactivate=True,
                can_remove=True,
            ),
        ),
        (
            ADA,
            2,
            False,
            AccountActions(
                LINK,
                "Deactivating ends 2 sessions and blocks sign-in. No data is deleted.",
                can_send_link=True,
                can_deactivate=True,
                can_remove=True,
            ),
        ),
        (
            LOCKED,
            0,
            False,
            AccountActions(
                "Activate the account to send a password reset link.",
                "This account is deactivated and can't sign in.",
                can_activate=True,
                can_remove=True,
            ),
        ),
        (
            ADA,
            1,
            True,
            AccountActions(
                LINK,
                "You can't deactivate or remove your own account. Ask another staff manager.",
                can_send_link=True,
            ),
        ),
        (
            ROOT,
            1,
            False,
            AccountActions(
                LINK,
                "Only a server administrator can deactivate or remove a superuser.",
                can_send_link=True,
            ),
        ),
    ],
)
def test_actions_depend_on_the_account(
    user: User, sessions: int, *, is_self: bool, actions: AccountActions
) -> None:
    person = Person(user, (), sessions)
    assert account_actions(person, is_manageable=True, is_self=is_self) == actions
    assert account_actions(person, is_manageable=False, is_self=is_self) == AccountActions(
        NO_ACCESS, NO_ACCESS
    )


@cases(
    ("question_name", "endpoint", "title", "action"),
    [
        ("deactivate", "deactivate", "Deactivate Ada <i>?", "Deactivate Ada <i>"),
        ("remove", "remove", "Remove Ada <i>?", "Remove Ada <i>"),
        ("sign-out", "sign_out", "End all sessions of Ada <i>?", "End all sessions"),
        ("link", "send_link", "Send Ada <i> a password reset link?", "Send password reset link"),
    ],
)
def test_dialogs_name_the_act(question_name: str, endpoint: str, title: str, action: str) -> None:
    dialog = account_dialog(question_name, Person(ADA, (), 2))
    assert dialog is not None
    assert dialog.endpoint == f"console.account_actions.{endpoint}"
    assert dialog.arguments == {"key": 1}
    assert (dialog.title, dialog.action) == (title, action)
    assert dialog.is_harmless is (question_name == "link")
    ends = Consequence("bad", "<b>2 sessions</b> end immediately.")
    assert (ends in dialog.consequences) is (question_name != "link")
    assert all("<i>" not in one.sentence for one in dialog.consequences)


@cases("question_name", ["", "delete"])
def test_unknown_question_opens_no_dialog(question_name: str) -> None:
    assert account_dialog(question_name, Person(ADA)) is None


@cases(
    ("user", "deleted", "kept"),
    [
        (ADA, "is deleted. This can", "Their orders are kept."),
        (
            replace(ADA, is_staff=True, groups=(SUPPORT,)),
            "is deleted and leaves 1 group. This can",
            "The audit log keeps their activity.",
        ),
        (
            replace(ADA, is_staff=True, groups=(SUPPORT, SUPPORT)),
            "is deleted and leaves 2 groups. This can",
            "The audit log keeps their activity.",
        ),
    ],
)
def test_removal_says_what_is_kept(user: User, deleted: str, kept: str) -> None:
    dialog = account_dialog("remove", Person(user))
    assert dialog is not None
    first, last = dialog.consequences
    assert deleted in first.sentence
    assert last.sentence.startswith(kept)
