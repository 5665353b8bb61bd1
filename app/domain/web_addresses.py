"""Addresses of the web that other people's manifests and clients give us to keep."""

import unicodedata
from urllib.parse import SplitResult, urlsplit

LONGEST = 2048
"""Characters of an address that every browser takes."""

_SCHEMES = ("http", "https")
_PORTS = {"http": 80, "https": 443}
_UNREADABLE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")


def is_web_address(text: str) -> bool:
    """Whether ``text`` is a whole address of HTTP that nobody can read in two ways.

    So neither ``javascript:`` nor a relative one, no blanks, backslashes or control characters,
    nobody's name and password before the host.
    """
    parts = _parts(text)
    return parts is not None and parts.scheme in _SCHEMES and bool(parts.hostname)


def is_path(text: str) -> bool:
    """Whether ``text`` is a path on a host that is known from elsewhere: ``/settings?tab=1``.

    ``//host/`` is none: browsers take that for another host.
    """
    parts = _parts(text)
    return (
        parts is not None
        and text.startswith("/")
        and not text.startswith("//")
        and not parts.scheme
        and not parts.netloc
    )


def origin_of(address: str) -> tuple[str, str, int]:
    """Scheme, host and port of a whole address: what browsers call its origin (RFC 6454)."""
    parts = urlsplit(address)
    host = (parts.hostname or "").rstrip(".")
    return parts.scheme, host, parts.port or _PORTS.get(parts.scheme, 0)


def is_same_origin(one: str, other: str) -> bool:
    """Whether two whole addresses are of one origin."""
    return origin_of(one) == origin_of(other)


def below(address: str, path: str) -> str:
    """``path`` taken relative to the folder of ``address``; of the same origin in any case.

    ``/edit`` below ``https://app.example/shop/`` is ``https://app.example/shop/edit``. Joined as
    text, for what a path holds (``/javascript:…``) must never be read as an address of its own.
    """
    parts = urlsplit(address)
    folder = parts.path.rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{path.removeprefix('/')}"


def host_with_port(address: str) -> str:
    """The host of ``address``, with the port where one is written."""
    return urlsplit(address).netloc


def _parts(text: str) -> SplitResult | None:
    """``text`` taken apart, or ``None`` where two programs could take it for two addresses."""
    if not text or len(text) > LONGEST or any(map(_is_treacherous, text)):
        return None
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    return None if "@" in parts.netloc else parts


def _is_treacherous(character: str) -> bool:
    return character in '\\"<>' or unicodedata.category(character) in _UNREADABLE
