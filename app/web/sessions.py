"""Only the console has sessions: other paths neither read nor set cookies."""

from typing import Any

from flask import Flask, Request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from typing_extensions import override

CONSOLE = "/console/"


class ConsoleSessions(SecureCookieSessionInterface):
    """Flask's signed cookie, below ``/console/`` alone."""

    @override
    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        return super().open_session(app, request) if request.path.startswith(CONSOLE) else None


def cookie_settings(*, secure: bool) -> dict[str, Any]:
    """How the console's cookie is set; ``secure`` where the installation is reached by HTTPS.

    The prefix makes browsers refuse the cookie from another host or without TLS (RFC 6265bis,
    4.1.3.2), so it is left out where the installation is reached without TLS.
    """
    return {
        "SESSION_COOKIE_NAME": "__Host-latchkey" if secure else "latchkey",
        "SESSION_COOKIE_SECURE": secure,
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_PATH": "/",
    }
