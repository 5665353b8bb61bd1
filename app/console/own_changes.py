"""After a change, this browser's lists come from the primary for as long as a replica can lag."""

from flask import request
from werkzeug.wrappers import Response

from app.ports import Ports
from app.ports.database import MAX_AGE

_READS = ("GET", "HEAD")
_REDIRECTS = (302, 303)


def with_own_changes(ports: Ports) -> Ports:
    """Return ``ports``, whose lists may be late unless this browser has just changed something."""
    if ports.replica is None or request.method not in _READS:
        return ports
    return ports if _cookie(ports) in request.cookies else ports.tolerating_lag()


def note_change(ports: Ports, answer: Response) -> None:
    """Remember in this browser that something was changed, if there is a replica.

    The browser counts the seconds, so the hosts' clocks don't matter. A forged cookie only makes
    its sender read from the primary.
    """
    if ports.replica is None:
        return
    # A link in an email changes something with GET, and leads elsewhere as a form does.
    if request.method not in _READS or answer.status_code in _REDIRECTS:
        answer.set_cookie(
            _cookie(ports),
            "1",
            max_age=int(MAX_AGE),
            secure=_is_secure(ports),
            httponly=True,
            samesite="Lax",
        )


def _cookie(ports: Ports) -> str:
    return "__Host-latchkey-changed" if _is_secure(ports) else "latchkey-changed"


def _is_secure(ports: Ports) -> bool:
    return ports.configuration.public_url.startswith("https://")
