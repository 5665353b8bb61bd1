"""Addresses of clients that mails and sign-ins may lead to, and links built from them."""

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, unquote_plus, urlencode, urlsplit, urlunsplit

from app.domain.errors import Problem
from app.domain.tokens import is_loopback_host

LONGEST = 2048
"""Characters of an address that every browser and mail program takes."""


_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
_PORTS = {"http": 80, "https": 443}
_ADDRESS = re.compile(
    r":/|(?<![a-z0-9+.-])(?:https?|wss?|ftp|file|blob|data|javascript|vbscript):", re.IGNORECASE
)
"""A scheme and a slash, or a scheme for which browsers need none."""


def redirect_problem(
    url: str, allowed_hosts: Iterable[str], *, development: bool, field: str = "redirectUrl"
) -> Problem | None:
    """Why nobody may be led to ``url``, or ``None``: REQUIRED when it is empty, else INVALID.

    ``allowed_hosts`` (``ALLOWED_CLIENT_HOSTS``) are names for any port, ``host:port`` for one, and
    ``*.example.com`` for what is below a name. In development every loopback host and port is
    allowed beside them. What browsers and programs might read differently is refused: blanks,
    backslashes, control characters, a user before the host.
    """
    if not url:
        return Problem("REQUIRED", "This is required.", field)
    if not is_plain(url):
        return Problem("INVALID", "This is no address that anybody can be led to.", field)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc:
        return Problem("INVALID", "Use a whole address: https://shop.example.com/reset", field)
    if development and is_loopback_host(host):
        return None
    port = port or _PORTS[parts.scheme]
    if not any(_allows(entry, host, port) for entry in allowed_hosts):
        message = f"Nobody is led to {host}: it is not among ALLOWED_CLIENT_HOSTS."
        return Problem("INVALID", message, field)
    return None


def is_plain(url: str) -> bool:
    """Whether whoever reads ``url`` in a mail, person or program, takes all of it for one address.

    Behind a blank another address could begin, and what is added to the first, a link's secret,
    would stand in the second.
    """
    return len(url) <= LONGEST and not any(map(_is_treacherous, url))


def may_lead_elsewhere(text: str) -> bool:
    """Whether a browser that is redirected to ``text`` may end up on another host.

    By the URL standard of browsers: a backslash is a slash, and after ``https:`` the slashes may
    be missing. Anything with a scheme counts, wherever it stands in ``text``.
    """
    read = text.strip().replace("\\", "/")
    return read.startswith("//") or _ADDRESS.search(read) is not None


def with_query(url: str, /, **values: str) -> str:
    """``url`` with ``values`` in its query; all else of it, the fragment included, stays as it is.

    Values of the same names that it had before are dropped, so that there is no second opinion.
    """
    parts = urlsplit(url)
    kept = [
        pair
        for pair in parts.query.split("&")
        if pair and unquote_plus(pair.partition("=")[0]) not in values
    ]
    query = "&".join([*kept, *([urlencode(values, quote_via=quote)] if values else [])])
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, parts.fragment))


def _allows(entry: str, host: str, port: int) -> bool:
    name, colon, wanted = entry.rpartition(":")
    # A bare IPv6 address is all colons; with a port it stands in brackets.
    if colon and wanted.isdecimal() and (":" not in name or name.endswith("]")):
        if int(wanted) != port:
            return False
    else:
        name = entry
    name, host = _ascii(name.strip("[]")), _ascii(host)
    if name.startswith("*."):
        return host.endswith(name[1:])
    return host == name


def _ascii(host: str) -> str:
    """One spelling for a host name, international ones too."""
    lowered = host.lower().rstrip(".")
    try:
        return lowered.encode("idna").decode()
    except UnicodeError:
        return lowered


def _is_treacherous(character: str) -> bool:
    return character in '\\"<>' or unicodedata.category(character) in _INVISIBLE
