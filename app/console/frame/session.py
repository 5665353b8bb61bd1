"""The console's session: flask-login over a row of the database."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import cast

from flask import Flask, flash, request, session, url_for
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from markupsafe import Markup
from werkzeug.exceptions import Unauthorized
from werkzeug.wrappers import Response

from app.console.frame.formatting import html_text
from app.domain.accounts.languages import CONSOLE_TAGS
from app.domain.authorization.actor import PROOF_LASTS, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.second_factors import began_with_passkey
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.ports.database import MAX_AGE
from app.services.console.console_sessions import (
    ConsoleCaller,
    ConsoleSession,
    find_console_caller,
    sign_out_of_console,
)
from app.web.installation import installation
from app.web.request_hooks import record_actor
from app.web.sessions import page_visitor
from app.web.translation import language_name, page_language, person_language, text, use_language

_READS = ("GET", "HEAD")
_REDIRECTS = (302, 303)
_CHANGED = "changed"


def with_own_changes(ports: Ports) -> Ports:
    """Return ``ports``, whose lists may be late unless this browser has just changed something."""
    if ports.replica is None or request.method not in _READS:
        return ports
    return ports if cookie_name(_CHANGED) in request.cookies else ports.tolerating_lag()


def remember_change(ports: Ports, answer: Response) -> None:
    """Remember in this browser that something was changed, if there is a replica.

    The browser counts the seconds, so the hosts' clocks don't matter. A forged cookie only makes
    its sender read from the primary.
    """
    if ports.replica is None:
        return
    # A link in an email changes something with GET, and leads elsewhere as a form does.
    if request.method not in _READS or answer.status_code in _REDIRECTS:
        keep_in_browser(answer, _CHANGED, "1", int(MAX_AGE))


def keep_in_browser(answer: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie of the console's, which is in no session; ``cookie_name`` is its full name."""
    answer.set_cookie(
        cookie_name(name),
        value,
        max_age=seconds,
        secure=_is_secure(),
        httponly=True,
        samesite="Lax",
    )


def cookie_name(name: str) -> str:
    """Return the name of a cookie as browsers have it."""
    return f"__Host-latchkey-{name}" if _is_secure() else f"latchkey-{name}"


def _is_secure() -> bool:
    return installation().ports.configuration.public_url.startswith("https://")


IDLE = timedelta(minutes=30)
"""Without use for so long, staff sign in again."""

_NOTED_EVERY = 60.0
_REASON = "signed_out_because"
_BY_FACTOR = "proved_by_factor"


@dataclass(frozen=True, slots=True)
class SignedInBy:
    origin: SessionOrigin
    provider: str
    since: float
    until: float


class ConsoleUser(UserMixin):  # type: ignore[misc]
    """flask-login's user: the caller as the session's row has it at this request."""

    def __init__(self, token: str, caller: ConsoleCaller | None, by: SignedInBy) -> None:
        self.id = token
        self.caller = caller
        self.by = by


def set_up_sessions(app: Flask) -> None:
    manager = LoginManager()
    manager.session_protection = None  # addresses change on the way; sessions can be listed, ended
    manager.user_loader(_load)
    manager.init_app(app)


def open_console_session(opened: ConsoleSession) -> None:
    """Sign in with a new cookie, which keeps nothing of the old one.

    A provider with an open session may not have asked for a password, so dangerous changes need a
    fresh proof. Messages are in the person's language from here on.
    """
    now = ports().clock.timestamp()
    session.clear()
    by = SignedInBy(opened.origin, opened.provider, now, opened.expires.timestamp())
    session.update(
        {
            "user": opened.user_id,
            "origin": by.origin.value,
            "provider": by.provider,
            "since": by.since,
            "until": by.until,
            "seen": now,
            "proved": now - opened.proved_ago,
            _BY_FACTOR: opened.used_second_factor,
        }
    )
    login_user(ConsoleUser(opened.token, None, by))
    _continue_in(opened.language_code)


def _continue_in(code: str) -> None:
    """Use the language of an account; tell people who signed in in another how to change it."""
    signed_in, own = page_language(), person_language(code)
    if own == signed_in:
        return
    if signed_in in CONSOLE_TAGS:
        words = html_text(
            "The console is in your account's language: {language}.",
            language=language_name(own.upper()),
        )
        address = url_for("console.account.index")
        offer = (signed_in, words, address, text("Change language"))
        flash(Markup('<span lang="{}">{} <a href="{}">{}</a></span>').format(*offer), "info")
    use_language(own)


def close_console_session() -> None:
    """Sign out: the session ends everywhere, and the cookie is emptied."""
    if current_user.is_authenticated:
        sign_out_of_console(ports(), caller().actor)
    logout_user()
    session.clear()


def prove_now(*, by_factor: bool) -> None:
    """Note that the person at the keyboard has just proved who they are.

    ``by_factor``: with a second factor, or by adding one.
    """
    session["proved"] = ports().clock.timestamp()
    session[_BY_FACTOR] = by_factor


def is_proved() -> bool:
    """Whether that was a few minutes ago at most, and with the account's second factor if any.

    A password that was entered before the second factor was added proves nothing from then on,
    in any copy of the cookie.
    """
    proved = float(session.get("proved", 0))
    is_recent = ports().clock.timestamp() - proved <= PROOF_LASTS.total_seconds()
    known = cast("ConsoleUser", current_user).caller if is_signed_in() else None
    needs_factor = known is not None and known.has_second_factor
    return is_recent and (bool(session.get(_BY_FACTOR)) or not needs_factor)


def proved_at() -> datetime:
    return datetime.fromtimestamp(float(session.get("proved", 0)), UTC)


def is_refresh() -> bool:
    """Whether an open page asks by itself, not because of a person."""
    return request.headers.get("X-Requested-With") == "refresh"


def record_activity() -> None:
    """Keep the session from growing idle; the cookie is written once a minute at most."""
    if is_refresh():
        return
    now = ports().clock.timestamp()
    if now - float(session.get("seen", 0)) >= _NOTED_EVERY:
        session["seen"] = now
    session_id = caller().actor.session_id
    if session_id is not None:
        ports().activity.record_session_use(session_id)


def is_signed_in() -> bool:
    """Return whether the request has a live session, regardless of the login mode."""
    return bool(current_user.is_authenticated)


def caller() -> ConsoleCaller:
    """Return the caller; raises ``Unauthorized`` without a session."""
    user = cast("ConsoleUser", current_user)
    if not is_signed_in() or user.caller is None:
        raise Unauthorized
    return user.caller


def actor() -> Actor:
    """The actor of the use cases that a page calls."""
    return replace(caller().actor, proof_is_old=not is_proved())


def require(permission: Permission) -> None:
    """Raise ``PermissionDenied`` before a form is shown whose use case would."""
    if not actor().holds(permission):
        raise PermissionDenied(permission)


def sign_out_because(reason: str) -> None:
    """Keep why a sign-in has to begin again, for the sign-in page."""
    session[_REASON] = reason


def why_signed_out() -> str:
    """Return why the cookie's session ended; empty if the browser never had one."""
    reason = session.pop(_REASON, "")
    if reason:
        return str(reason)
    if is_signed_in() or "user" not in session:
        return ""
    present = ports().clock.timestamp()
    if present - float(session.get("seen", 0)) > IDLE.total_seconds():
        return text(
            "You were signed out after {count} minute of inactivity.",
            "You were signed out after {count} minutes of inactivity.",
            count=IDLE // timedelta(minutes=1),
        )
    if present >= float(session.get("until", 0)):
        return text("Your session expired.")
    return text("Your session was ended.")


def signed_in_by() -> SignedInBy:
    return cast("ConsoleUser", current_user).by


def is_by_passkey() -> bool:
    """Whether the present session began with a passkey, not with a password or a provider."""
    is_local = signed_in_by().origin is SessionOrigin.PASSWORD
    return is_local and began_with_passkey(actor().amr)


def ports() -> Ports:
    """The ports of this installation; lists may come from the replica, see ``own_changes``."""
    return with_own_changes(installation().ports)


def now() -> datetime:
    return ports().clock.now()


def _load(token: str) -> ConsoleUser | None:
    """Return the cookie's session if it is neither idle, expired nor ended."""
    present = ports().clock.timestamp()
    by = SignedInBy(
        SessionOrigin(session.get("origin", SessionOrigin.NONE.value)),
        str(session.get("provider", "")),
        float(session.get("since", 0)),
        float(session.get("until", 0)),
    )
    idle = present - float(session.get("seen", 0))
    if idle > IDLE.total_seconds() or present >= by.until:
        return None
    found = find_console_caller(ports(), page_visitor(), token, int(session.get("user", 0)))
    if found is None:
        return None
    record_actor(found.actor)
    return ConsoleUser(token, found, by)
