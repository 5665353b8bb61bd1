"""Somebody at the console: a client that keeps its cookie, and reads pages as people do."""

import html
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from flask.testing import FlaskClient
from flask_wtf.csrf import generate_csrf
from sqlalchemy import select
from werkzeug.test import TestResponse

from app import models
from app.console.frame.session import open_console_session
from app.domain.authorization.actor import SessionOrigin
from app.domain.sign_in.sign_in_log import SignInPlace
from app.ports import Ports
from app.services.console.console_sessions import LIFETIME, ConsoleSession, show_sign_in_options
from app.services.sign_in.sessions import SessionStart, open_session
from app.web.sessions import anonymous_actor
from tests.builders.people import NOBODY, PASSWORD

_TAG = re.compile(r"<[^>]+>")
_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
_FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
_OWN_ACTION = re.compile(r"<form\b[^>]*\baction=")
_ACTION = re.compile(r'\b(?:form)?action="([^"]*)"')
_LOADED = re.compile(r'name="loaded"[^>]* value="([^"]*)"')
_SHOWN = re.compile(r'name="proof" value="([^"]*)"')
_PEER = {"REMOTE_ADDR": "127.0.0.1"}
_START = SessionStart(SessionOrigin.PASSWORD, lifetime=LIFETIME, place=SignInPlace.CONSOLE)
_DARK = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)

KEYBOARD = "/console/keyboard"
"""A page without a form of its own."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it came."""

    response: TestResponse

    @property
    def status(self) -> int:
        return self.response.status_code

    @property
    def html(self) -> str:
        return self.response.get_data(as_text=True)

    @property
    def text(self) -> str:
        """What people read: without tags, blanks as one."""
        bare = _TAG.sub(" ", _DARK.sub(" ", self.html.replace("<wbr>", "")))
        return " ".join(html.unescape(bare).split())

    @property
    def title(self) -> str:
        found = re.search(r"<title>(.*?)</title>", self.html, re.DOTALL)
        return " ".join(html.unescape(found[1]).split()) if found else ""

    @property
    def proof(self) -> str:
        """What the form carries of what its page shows; empty without such a form."""
        found = _SHOWN.search(self.html)
        return html.unescape(found[1]) if found else ""

    @property
    def leads_to(self) -> str:
        """The path of a redirection."""
        return self.response.headers.get("Location", "")


def loaded_of(shown: str, path: str, data: dict[str, Any]) -> dict[str, str]:
    """What the form to ``path`` carries of what it showed, unless ``data`` says so."""
    action = path.partition("?")[0]
    for form in _FORM.findall(shown):
        named = {html.unescape(name) for name in _ACTION.findall(form)}
        named = named if _OWN_ACTION.match(form) else set()
        found = _LOADED.search(form)
        if found and "loaded" not in data and (not named or action in named):
            return {"loaded": html.unescape(found[1])}
    return {}


@dataclass(slots=True)
class ConsoleClient:
    """A browser at the console of one installation."""

    client: FlaskClient
    ports: Ports
    _token: str = ""

    def open(self, path: str) -> Page:
        """Fetch a page, without following where it leads."""
        return Page(self.client.get(path))

    def send(self, path: str, data: dict[str, Any] | None = None, *, seen_at: str = "") -> Page:
        """Send a form with the token that the page ``seen_at`` gave (``path`` itself if empty).

        Somebody who is signed in has a token, so the page isn't opened for it. A proof counts once
        with each page that asked for it.
        """
        filled, answer = data or {}, None
        if self._token and not any(name.startswith("proof_") for name in filled):
            filled = {"csrf_token": self._token, **filled}
            answer = Page(self.client.post(path, data=filled))
        if answer is None or answer.status == HTTPStatus.BAD_REQUEST:
            filled = self._filled_at(seen_at or path, path, data or {})
            answer = Page(self.client.post(path, data=filled))
        if answer.status == HTTPStatus.CONFLICT and "loaded" not in filled:
            # The page wasn't opened: take what is stored as seen.
            filled |= loaded_of(answer.html, path, {})
            answer = Page(self.client.post(path, data=filled))
        return answer

    def send_twice(self, path: str, data: dict[str, Any], *, seen_at: str) -> list[Page]:
        """Send a form again as a double click does: with the same token, not with a new page's."""
        filled = self._filled_at(seen_at, path, data)
        return [Page(self.client.post(path, data=filled)) for _ in range(2)]

    def token(self, *, anew: bool = False) -> str:
        """Return the token that makes a form this browser's own, empty without one.

        It stays the same until somebody signs in or out, so it is looked for once.
        """
        if anew or not self._token:
            shown = self.open(KEYBOARD)
            if shown.status == HTTPStatus.SEE_OTHER:
                shown = self.open("/console/sign-in")
            found = _CSRF.search(shown.html)
            self._token = "" if found is None else html.unescape(found[1])
        return self._token

    def _filled_at(self, seen_at: str, path: str, data: dict[str, Any]) -> dict[str, Any]:
        shown = self.open(seen_at).html
        found = _CSRF.search(shown)
        token = {} if found is None else {"csrf_token": html.unescape(found[1])}
        return {**token, **loaded_of(shown, path, data), **data}

    def follow(self, page: Page) -> Page:
        """Go where a redirection leads."""
        return self.open(page.leads_to)

    def enter(self, email: str) -> None:
        """Be signed in as after ``sign_in``, without its pages, throttle, comparison and records.

        They take ten times as long as opening the session, and most tests ask for one. What the
        sign-in page reads, and the process keeps, is read here too.
        """
        app = self.client.application
        show_sign_in_options(self.ports, NOBODY)
        with app.test_request_context("/console/sign-in", environ_base=_PEER):
            open_console_session(self._open_session(email))
            self._token = generate_csrf()
            response = app.process_response(app.response_class())
        for cookie in response.headers.getlist("Set-Cookie"):
            name, _, value = cookie.partition(";")[0].partition("=")
            self.client.set_cookie(name, value)

    def _open_session(self, email: str) -> ConsoleSession:
        with self.ports.database.transaction() as session:
            user = session.scalars(select(models.User).where(models.User.email == email)).one()
            opened = open_session(self.ports, anonymous_actor(), session, user.id, _START)
            return ConsoleSession(
                token=opened.token,
                user_id=user.id,
                expires=datetime.fromtimestamp(opened.expires, UTC),
                origin=opened.origin,
                language_code=user.language_code,
            )

    def sign_in(self, email: str, password: str = PASSWORD) -> Page:
        """Come in by password."""
        return self.send("/console/sign-in", {"email": email, "password": password})
