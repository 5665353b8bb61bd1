"""The view model of the caller's own account."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.console.parts import Consequence, Question
from app.console.people.person_page import SessionRow, ended_sessions, newest_of, session_rows
from app.domain.accounts.avatars import MAX_FILE_SIZE, avatar_path
from app.domain.accounts.users import User
from app.domain.sign_in.devices import SignedIn
from app.domain.values.languages import CONSOLE_TAGS, shipped_tag
from app.services.console.sign_in_methods import SignInMethods
from app.web.translation import text

_SHOWN = 128
"""Pixels of the picture's side, for sharp screens."""

_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class AccountPage:
    """The account; ``has_others`` when there are sessions besides the current one."""

    email: str
    language_hint: str
    picture: str
    picture_hint: str
    sessions: tuple[SessionRow, ...]
    sessions_summary: str
    has_others: bool
    has_password: bool
    no_password: str
    password_status: str
    sso_status: str
    is_superuser: bool
    permissions: tuple[str, ...]
    dialog: Question | None


def make_account_page(
    user: User, sessions: Sequence[SignedIn], methods: SignInMethods, *, asks_others: bool = False
) -> AccountPage:
    """Return the page, with the question before all other sessions end if it is asked."""
    others = methods.sessions - sum(session.is_current for session in sessions)
    providers = ", ".join(methods.providers)
    return AccountPage(
        email=user.email,
        language_hint=_language_hint(user.language_code),
        picture=avatar_path(user.avatar, _SHOWN) if user.avatar else "",
        picture_hint=text(
            "PNG, JPEG or WebP, up to {megabytes} MiB. Metadata is removed.",
            megabytes=MAX_FILE_SIZE // _MEBIBYTE,
        ),
        sessions=session_rows(sessions),
        sessions_summary=newest_of(len(sessions), methods.sessions),
        has_others=others > 0,
        has_password=methods.has_password,
        no_password=_no_password(providers),
        password_status=text("Set") if methods.has_password else text("Not set"),
        sso_status=providers or text("Not linked"),
        is_superuser=user.is_superuser,
        permissions=tuple(sorted(text(permission.label) for permission in user.permissions)),
        dialog=_end_others(others) if asks_others and others > 0 else None,
    )


def _language_hint(code: str) -> str:
    """Return what is in this language; the console isn't translated into all of them."""
    if shipped_tag(code, CONSOLE_TAGS):
        return text("For your emails and the console.")
    if shipped_tag(code):
        return text("For your emails. The console is in English.")
    return text("Your emails are in the shop's default language, the console is in English.")


def _no_password(providers: str) -> str:
    if not providers:
        return text("You don't have a password.")
    return text("You don't have a password. You sign in with {providers}.", providers=providers)


def _end_others(others: int) -> Question:
    return Question(
        title=text("End all other sessions?"),
        endpoint="console.account.end_others",
        consequences=(
            *ended_sessions(others),
            Consequence("warn", text("Unsaved work on those devices is lost.")),
            Consequence("ok", text("You stay signed in here.")),
        ),
        action=text("End all other sessions"),
    )
