"""Cookies of sessions, and forms that a browser sends twice with one cookie.

The console and the hosted pages have a cookie each, other paths have none. A slow page that
answers late sets it as it was when the page was asked for. So what waits until a person comes
back, by a link in an email or from a provider, is in a second cookie.

A form that is sent twice at once, by a double click, is answered once, and both times alike. The
browser shows the answer to the second, and drops the first with its cookie. So the second waits
for the first's answer and gets it, the session that it opened included: what counts (attempts,
codes, links, proofs) counts once. Only the same browser with the same fields gets it.
"""

import hashlib
import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import wraps
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Any

from flask import Flask, Request, Response, g, make_response, request, session
from flask.json.tag import TaggedJSONSerializer
from flask.sessions import (
    SecureCookieSession,
    SecureCookieSessionInterface,
    SessionInterface,
    SessionMixin,
)
from typing_extensions import override

from app.domain.authorization.actor import Actor, anonymous
from app.domain.values.errors import TooManyRequests
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from app.services.identity.identify import Visitor
from app.services.submissions import (
    ANSWER_LIFETIME,
    claim_answer,
    find_answer,
    keep_answer,
    release_answer,
)
from app.web.caller import visitor_from
from app.web.installation import installation

CONSOLE = "/console/"
HOSTED = ("/account/", "/oauth/authorize", "/oauth/consent", "/oauth/device", "/oauth/logout")
"""Pages for customers, and the provider's, which ask who is signed in there."""


WAITING = "waiting:"
"""Begins the keys of what waits in the second cookie, as long as the browser is open."""


class _Cookie(SecureCookieSessionInterface):
    """Flask's signed cookie; its signature is worthless for those of other salts."""

    def __init__(self, salt: str, suffix: str) -> None:
        self.salt = salt
        self._suffix = suffix

    @override
    def get_cookie_name(self, app: Flask) -> str:
        return f"{super().get_cookie_name(app)}{self._suffix}"


_CONSOLE_COOKIES = _Cookie("cookie-session", ""), _Cookie("console-waiting", "-waiting")
_HOSTED_COOKIES = (
    _Cookie("hosted-session", "-account"),
    _Cookie("hosted-waiting", "-account-waiting"),
)


class PageSessions(SessionInterface):
    """Two cookies for the paths below ``/console/``, two others for the hosted pages."""

    @override
    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        cookies = _cookies_of(request.path)
        if not cookies:
            return None
        opened = SecureCookieSession()
        for cookie in cookies:
            opened.update(cookie.open_session(app, request) or {})
        opened.modified = False
        return opened

    @override
    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Set each cookie, if its own values have changed; the first also to renew its expiry."""
        for cookie, waits in zip(_cookies_of(request.path), (False, True), strict=False):
            own = {key: session[key] for key in session if key.startswith(WAITING) is waits}
            part = SecureCookieSession(own)
            part.accessed = session.accessed
            part.modified = session.modified and own != cookie.open_session(app, request)
            cookie.save_session(app, part, response)


def _cookies_of(path: str) -> tuple[_Cookie, ...]:
    if path.startswith(CONSOLE):
        return _CONSOLE_COOKIES
    return _HOSTED_COOKIES if path.startswith(HOSTED) else ()


def cookie_settings(*, secure: bool) -> dict[str, Any]:
    """How the cookies are set; ``secure`` where the installation is reached by HTTPS.

    The prefix makes browsers refuse a cookie from another host or without TLS (RFC 6265bis,
    4.1.3.2), so it is left out where the installation is reached without TLS.
    """
    return {
        "SESSION_COOKIE_NAME": "__Host-latchkey" if secure else "latchkey",
        "SESSION_COOKIE_SECURE": secure,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_PATH": "/",
    }


_CSRF = "csrf_token"
_HEADERS = ("Content-Type", "Location")
_PATIENCE_SECONDS = 15.0
_PAUSE_SECONDS = 0.05
_waiting = BoundedSemaphore(4)
"""Requests of a process that wait for others: they hold a thread each."""

_json = TaggedJSONSerializer()


def answered_once(
    view: Callable[..., Any], is_meant: Callable[[], bool] = lambda: True
) -> Callable[..., Any]:
    """Return ``view``, which answers a form of its page once; of them, those that are meant.

    Wrap a view before its rate limit does: a form that is refused by it then stores nothing.
    """

    @wraps(view)
    def once(**arguments: Any) -> Any:
        repeated = _answer_so_far() if request.method == "POST" and is_meant() else None
        return view(**arguments) if repeated is None else repeated

    return once


def _answer_so_far() -> Response | None:
    """Return the answer to the same form, sent before; ``None`` if it is to be answered now."""
    if _CSRF not in session:
        return None
    key = _key()
    until = time.monotonic() + _PATIENCE_SECONDS
    while not claim_answer(_ports(), anonymous_actor(), key):
        kept = _wait_for_answer(key, until)
        if kept:
            return _repeat(kept)
        if kept == "":
            return None  # it takes too long; this one counts by itself
    g.form_key = key
    return None


def keep_form_answer(
    answer: Response, *, is_repeated: bool = True, lifetime: timedelta = ANSWER_LIFETIME
) -> Response:
    """Keep the answer to the form of this request for the same form that comes meanwhile.

    Refusals are for those alone: whoever sends a refused form again tries again. Other answers are
    repeated for ``lifetime``, unless ``is_repeated`` is false.
    """
    key = g.pop("form_key", None)
    if key is not None:
        with suppress(DatabaseUnavailable, TooManyRequests):  # the form is answered in any case
            _keep(key, answer, lifetime, is_repeated=is_repeated)
    return answer


def _keep(key: str, answer: Response, lifetime: timedelta, *, is_repeated: bool) -> None:
    is_answered = answer.status_code < HTTPStatus.INTERNAL_SERVER_ERROR
    is_busy = answer.status_code == HTTPStatus.TOO_MANY_REQUESTS
    if not is_answered or is_busy or answer.is_streamed:
        release_answer(_ports(), anonymous_actor(), key)
        return
    kept = {
        "status": answer.status_code,
        "headers": [(name, answer.headers[name]) for name in _HEADERS if name in answer.headers],
        "body": answer.get_data(as_text=True),
        "session": dict(session),
    }
    keep_answer(
        _ports(),
        anonymous_actor(),
        key,
        _json.dumps(kept),
        lifetime,
        is_repeated=is_repeated and answer.status_code < HTTPStatus.BAD_REQUEST,
    )


def _key() -> str:
    """Return a digest of the browser, the page and every field."""
    sent = [session[_CSRF], request.full_path, *request.form.items(multi=True)]
    return hashlib.sha256(json.dumps(sent).encode("utf-8", "surrogatepass")).hexdigest()


def _wait_for_answer(key: str, until: float) -> str | None:
    """Return the answer; empty if it takes too long, ``None`` if there will be none."""
    if not _waiting.acquire(blocking=False):
        return ""
    try:
        while (
            kept := find_answer(_ports(), anonymous_actor(), key)
        ) == "" and time.monotonic() < until:
            time.sleep(_PAUSE_SECONDS)
    finally:
        _waiting.release()
    return kept


def _repeat(kept: str) -> Response:
    stored = _json.loads(kept)
    session.clear()
    session.update(stored["session"])
    return make_response(stored["body"], stored["status"], stored["headers"])


def _ports() -> Ports:
    return installation().ports


def page_visitor() -> Visitor:
    """Return the visit of a page; its cookie counts, so a credential in a header is ignored."""
    return replace(visitor_from(request.environ, installation()), credential=None)


def anonymous_actor() -> Actor:
    """Return the actor of a page that is shown before signing in."""
    visitor = page_visitor()
    return anonymous(address=visitor.address, user_agent=visitor.user_agent, issuer=visitor.issuer)
