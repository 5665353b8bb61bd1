"""Styles, scripts and icons, each under a digest of its content, so that browsers cache them.

Bootstrap comes from Bootstrap-Flask's wheel; of its icons, a sprite has only those in use, because
the whole one weighs a megabyte.
"""

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from flask import Blueprint, Response, abort, request, url_for

_STATES = {
    "ok": "check-circle-fill",
    "warn": "exclamation-triangle-fill",
    "bad": "x-circle-fill",
}

NAMED = frozenset(
    {
        "arrow-repeat",
        "arrow-right",
        "bag",
        "box-arrow-right",
        "braces",
        "broadcast",
        "check-circle-fill",
        "circle-half",
        "clock-history",
        "dash-circle",
        "display",
        "door-open",
        "envelope",
        "envelope-paper",
        "exclamation-triangle-fill",
        "gear",
        "grid",
        "house",
        "info-circle-fill",
        "journal-text",
        "key",
        "keyboard",
        "lightning-charge",
        "link-45deg",
        "lock",
        "moon-stars",
        "people",
        "person",
        "person-badge",
        "play-circle",
        "plus-lg",
        "search",
        "send",
        "shield-lock",
        "slash-circle",
        "sun",
        "terminal",
        "x-circle-fill",
    }
)


def state_icon(state: str) -> str:
    """Return the icon of ok, warn or bad; other states are information."""
    return _STATES.get(state, "info-circle-fill")


_APP = Path(__file__).parents[2]
_OURS = _APP / "static" / "console"
_TEMPLATES = _APP / "templates" / "console"
_BOOTSTRAP = files("flask_bootstrap") / "static" / "bootstrap5"
_DIGEST_LENGTH = 16
_FOR_EVER = "public, max-age=31536000, immutable"

_ICON = re.compile(r'<symbol [^>]*id="([a-z0-9-]+)".*?</symbol>', re.DOTALL)
_USED = re.compile(r"""\b(?:icon|empty)\(\s*["']([a-z0-9-]+)["']""")

blueprint = Blueprint("assets", __name__, url_prefix="/assets")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent; ``packed`` is the same, compressed."""

    content_type: str
    digest: str
    body: bytes
    packed: bytes


@blueprint.get("/<slug:digest>/<slug:name>")
def asset(digest: str, name: str) -> Response:
    """Serve the asset of that name; 404 for an outdated digest."""
    if name not in _SOURCES or asset_named(name).digest != digest:
        abort(404)
    found = asset_named(name)
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {"Cache-Control": _FOR_EVER, "Vary": "Accept-Encoding"}
    if packs:
        headers["Content-Encoding"] = "gzip"
    return Response(
        found.packed if packs else found.body, headers=headers, content_type=found.content_type
    )


def asset_url(name: str) -> str:
    """Where the asset of that name is."""
    return url_for("assets.asset", digest=asset_named(name).digest, name=name)


@cache
def asset_named(name: str) -> Asset:
    """Read once a process: it does not change while the process lives."""
    content_type, read = _SOURCES[name]
    body = read()
    digest = hashlib.sha256(body).hexdigest()[:_DIGEST_LENGTH]
    return Asset(content_type, digest, body, gzip.compress(body, 9, mtime=0))


def icons_in_use() -> frozenset[str]:
    """Those that templates name, and those that the code does."""
    in_templates = (
        name
        for template in _TEMPLATES.rglob("*.html")
        for name in _USED.findall(template.read_text(encoding="utf-8"))
    )
    return frozenset({*NAMED, *in_templates})


def _sprite() -> bytes:
    whole = (_BOOTSTRAP / "icons" / "bootstrap-icons.svg").read_text(encoding="utf-8")
    used = icons_in_use()
    symbols = "".join(found[0] for found in _ICON.finditer(whole) if found[1] in used)
    return f'<svg xmlns="http://www.w3.org/2000/svg">{symbols}</svg>'.encode()


def _bootstrap() -> bytes:
    text = (_BOOTSTRAP / "css" / "bootstrap.min.css").read_text(encoding="utf-8")
    # Its map is not served: a browser's tools would ask for it in vain.
    return re.sub(r"/\*# sourceMappingURL=.*?\*/", "", text).encode()


def _own(name: str) -> Callable[[], bytes]:
    return (_OURS / name).read_bytes


_CSS = "text/css; charset=utf-8"
_SCRIPT = "text/javascript; charset=utf-8"
_SOURCES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "bootstrap.css": (_CSS, _bootstrap),
    "theme.css": (_CSS, _own("theme.css")),
    "console.js": (_SCRIPT, _own("console.js")),
    "early.js": (_SCRIPT, _own("early.js")),
    "passkeys.js": (_SCRIPT, _own("passkeys.js")),
    "refresh.js": (_SCRIPT, _own("refresh.js")),
    "icons.svg": ("image/svg+xml", _sprite),
}
