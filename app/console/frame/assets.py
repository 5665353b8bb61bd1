"""Styles, scripts and icons, each under a digest of its content, so that browsers cache them.

Bootstrap comes from Bootstrap-Flask's wheel; of its icons, a sprite has only those in use, because
the whole one weighs a megabyte. The typeface is Inter, where ``make playground`` has put it;
without it pages have the system's.
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

_STATES = {"ok": "check-circle-fill", "warn": "exclamation-triangle-fill", "bad": "x-circle-fill"}

NAMED = frozenset(
    {
        "arrow-counterclockwise",
        "arrow-repeat",
        "arrow-right",
        "bag",
        "box-arrow-in-right",
        "box-arrow-right",
        "braces",
        "broadcast",
        "building",
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
        "shop",
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
_HOSTED = _APP / "static" / "hosted"
_TEMPLATES = _APP / "templates" / "console"
FONTS = _APP / "static" / "vendor" / "inter"
_BOOTSTRAP = files("flask_bootstrap") / "static" / "bootstrap5"
_DIGEST_LENGTH = 16
_FOR_EVER = "public, max-age=31536000, immutable"

_ICON = re.compile(r'<symbol [^>]*id="([a-z0-9-]+)".*?</symbol>', re.DOTALL)
_USED = re.compile(r"""\b(?:icon|empty)\(\s*["']([a-z0-9-]+)["']""")

blueprint = Blueprint("assets", __name__, url_prefix="/assets")


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent; ``packed`` is the same, compressed, empty if it is already."""

    content_type: str
    digest: str
    body: bytes
    packed: bytes


@blueprint.get("/<slug:digest>/<slug:name>")
def asset(digest: str, name: str) -> Response:
    """Serve the asset of that name; 404 for an outdated digest."""
    is_missing = name not in _SOURCES or (name in _FONT_FILES and not has_font())
    if is_missing or asset_named(name).digest != digest:
        abort(404)
    found = asset_named(name)
    if not found.packed:
        headers = {"Cache-Control": _FOR_EVER}
        return Response(found.body, headers=headers, content_type=found.content_type)
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {"Cache-Control": _FOR_EVER, "Vary": "Accept-Encoding"}
    if packs:
        headers["Content-Encoding"] = "gzip"
    return Response(
        found.packed if packs else found.body, headers=headers, content_type=found.content_type
    )


def asset_url(name: str) -> str:
    return url_for("assets.asset", digest=asset_named(name).digest, name=name)


@cache
def asset_named(name: str) -> Asset:
    """Read once a process: it does not change while the process lives."""
    content_type, read = _SOURCES[name]
    body = read()
    digest = hashlib.sha256(body).hexdigest()[:_DIGEST_LENGTH]
    packed = b"" if content_type == _FONT else gzip.compress(body, 9, mtime=0)
    return Asset(content_type, digest, body, packed)


@cache
def has_font() -> bool:
    """Return whether the typeface is installed."""
    return all((FONTS / name).is_file() for name in _FONT_FILES.values())


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


def _reader_of(name: str) -> Callable[[], bytes]:
    return (_OURS / name).read_bytes


def _theme() -> bytes:
    """Return the style sheet, with the typeface if it is installed."""
    own = (_OURS / "theme.css").read_text(encoding="utf-8")
    if not has_font():
        return own.encode()
    faces = (_OURS / "inter.css").read_text(encoding="utf-8")
    for name in _FONT_FILES:
        # Relative to the style sheet, whose own folder is a digest too.
        faces = faces.replace(f"url({name})", f"url(../{asset_named(name).digest}/{name})")
    return (faces + own).encode()


def _font(name: str) -> Callable[[], bytes]:
    def read() -> bytes:
        return (FONTS / _FONT_FILES[name]).read_bytes()

    return read


_FONT = "font/woff2"
_FONT_FILES = {
    "inter-latin.woff2": "inter-latin-wght-normal.woff2",
    "inter-latin-ext.woff2": "inter-latin-ext-wght-normal.woff2",
}
"""The files of the npm package, by what they are served as."""

_CSS = "text/css; charset=utf-8"
_SCRIPT = "text/javascript; charset=utf-8"
_SOURCES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "bootstrap.css": (_CSS, _bootstrap),
    "theme.css": (_CSS, _theme),
    "console.js": (_SCRIPT, _reader_of("console.js")),
    "hosted.css": (_CSS, (_HOSTED / "hosted.css").read_bytes),
    "hosted.js": (_SCRIPT, (_HOSTED / "hosted.js").read_bytes),
    "early.js": (_SCRIPT, _reader_of("early.js")),
    "passkeys.js": (_SCRIPT, _reader_of("passkeys.js")),
    "refresh.js": (_SCRIPT, _reader_of("refresh.js")),
    "icons.svg": ("image/svg+xml", _sprite),
    **{name: (_FONT, _font(name)) for name in _FONT_FILES},
}
