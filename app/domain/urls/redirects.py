"""Pages of clients that mails and sign-ins can lead to, and links built from them."""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote_plus, urlencode, urlsplit, urlunsplit

from app.domain.sign_in.tokens import is_loopback_host
from app.domain.urls.web_urls import WebUrl, ascii_host, normalize_url, parse_web_url
from app.domain.values.errors import Problem

_SECURE_PORT = 443
_REDIRECT_PARAMETERS = frozenset(("returnto", "postlogoutredirecturi", "redirecturi", "logouturi"))
_ADDRESS = re.compile(
    r":/|(?<![a-z0-9+.-])(?:https?|wss?|ftp|file|blob|data|javascript|vbscript):", re.IGNORECASE
)
"""A scheme and a slash, or a scheme for which browsers need none."""


def redirect_problem(
    url: str, allowed_hosts: Iterable[str], *, development: bool, field: str = "redirectUrl"
) -> Problem | None:
    """Return why links can't lead to ``url``, or ``None``: REQUIRED if it is empty, else INVALID.

    ``allowed_hosts`` (``ALLOWED_CLIENT_HOSTS``) are names, ``host:port``, and ``*.example.com``
    for subdomains. Hosts are compared as browsers read them. In production the URL must be
    ``https://``, and an entry without a port means 443; in development it means any port, and
    every loopback host and port is allowed in addition.
    """
    if not url:
        return Problem("REQUIRED", "This is required.", field)
    address = parse_web_url(url)
    if address is None:
        return Problem("INVALID", "Use a full URL: https://shop.example.com/reset", field)
    if development and is_loopback_host(address.host.strip("[]")):
        return None
    if not development and address.scheme != "https":
        return Problem("INVALID", "Use https://; http:// is refused in production.", field)
    if any(_allows(entry, address, development=development) for entry in allowed_hosts):
        return None
    message = "{host_and_port} isn't listed in ALLOWED_CLIENT_HOSTS."
    return Problem("INVALID", message, field, values={"host_and_port": address.host_and_port})


def may_redirect_to_other_host(text: str) -> bool:
    """Whether a browser redirected to ``text`` could end up on another host.

    By the browsers' URL standard: a backslash is a slash, and slashes may be missing after
    ``https:``. Anything with a scheme counts, anywhere in ``text``.
    """
    read = text.strip().replace("\\", "/")
    return read.startswith("//") or _ADDRESS.search(read) is not None


def redirect_parameters(url: str) -> frozenset[str]:
    """Return the folded names of the logout URL's parameters that a provider redirects to.

    Those by which providers redirect, and those that ``url`` itself has. Compare with
    ``fold_parameter``.
    """
    named = (unquote_plus(pair.partition("=")[0]) for pair in urlsplit(url).query.split("&"))
    return _REDIRECT_PARAMETERS | {fold_parameter(name) for name in named if name}


def fold_parameter(name: str) -> str:
    """Return ``name`` as the most tolerant server compares it: no case, separators or index.

    PHP reads ``redirect.uri`` and ``redirect_uri[]`` as ``redirect_uri``.
    """
    return re.sub(r"[\W_]", "", name.partition("[")[0]).casefold()


def with_query(url: str, /, **values: str) -> str:
    """``url`` with ``values`` in its query; the path and the fragment stay as they are.

    The host is written as browsers read it, so that no other program can take it for another
    one. Values of the same names that were in the query before are dropped.
    """
    parts = urlsplit(normalize_url(url))
    parameters = [
        pair
        for pair in parts.query.split("&")
        if pair and unquote_plus(pair.partition("=")[0]) not in values
    ]
    query = "&".join([*parameters, *([urlencode(values, quote_via=quote)] if values else [])])
    return urlunsplit((parts.scheme, parts.netloc, parts.path, query, parts.fragment))


def split_entry(entry: str) -> tuple[str, int | None]:
    """The host of an entry of ``ALLOWED_CLIENT_HOSTS`` as browsers read it, and its port, if any.

    Raises ``ValueError`` for what no browser takes for a host. Subdomains keep their ``*.``.
    """
    name, colon, port = entry.rpartition(":")
    # A bare IPv6 address is all colons; with a port it stands in brackets.
    if not (colon and port.isdecimal() and (":" not in name or name.endswith("]"))):
        name, port = entry, ""
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    below = "*." if name.startswith("*.") else ""
    host = ascii_host(name.removeprefix("*."))
    if host is None:
        raise ValueError(f"{entry!r} is not a host name")
    return f"{below}{host}", int(port) if port else None


def _allows(entry: str, address: WebUrl, *, development: bool) -> bool:
    name, port = split_entry(entry)
    if port is None and not development:
        port = _SECURE_PORT
    if port is not None and port != address.port:
        return False
    if name.startswith("*."):
        return address.host.endswith(name[1:])
    return address.host == name
