"""Cookies of sessions: the console and the hosted pages have one each, other paths have none."""

from typing import Any

from flask import Flask, Request, Response, request
from flask.sessions import SecureCookieSessionInterface, SessionInterface, SessionMixin
from typing_extensions import override

CONSOLE = "/console/"
HOSTED = ("/account/", "/oauth/authorize", "/oauth/consent", "/oauth/device", "/oauth/logout")
"""Pages for customers, and the provider's, which ask who is signed in there."""


class _HostedCookie(SecureCookieSessionInterface):
    """The signed cookie of the hosted pages: its signature is worthless for the console's."""

    salt = "hosted-session"

    @override
    def get_cookie_name(self, app: Flask) -> str:
        return f"{super().get_cookie_name(app)}-account"


class PageSessions(SessionInterface):
    """Flask's signed cookie, another below ``/console/`` than for the hosted pages."""

    def __init__(self) -> None:
        self._console = SecureCookieSessionInterface()
        self._hosted = _HostedCookie()

    @override
    def open_session(self, app: Flask, request: Request) -> SessionMixin | None:
        cookie = self._cookie_of(request.path)
        return None if cookie is None else cookie.open_session(app, request)

    @override
    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        cookie = self._cookie_of(request.path)
        if cookie is not None:
            cookie.save_session(app, session, response)

    def _cookie_of(self, path: str) -> SecureCookieSessionInterface | None:
        if path.startswith(CONSOLE):
            return self._console
        return self._hosted if path.startswith(HOSTED) else None


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
