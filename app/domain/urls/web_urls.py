"""URLs and hosts as browsers read them (WHATWG URL Standard), and the checks that follow."""

import ipaddress
import re
import socket
import unicodedata
from dataclasses import dataclass
from urllib.parse import urlsplit

import idna

MAX_URL_LENGTH = 2048
"""Characters of a URL that every browser accepts."""

_PORTS = {"http": 80, "https": 443}
_MAX_HOST_LENGTH = 253
_HIGHEST_PORT = 65_535
_UNREADABLE = ("Cc", "Cf", "Cs", "Zl", "Zp", "Zs")
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[^\[\]/?#@]*\]|[^\[\]/?#@:]+)"
    r"(?::(?P<port>[0-9]{0,5}))?"
    r"(?P<rest>(?:[/?#].*)?)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


@dataclass(frozen=True, slots=True)
class WebUrl:
    """An absolute HTTP URL. ``host`` is what a browser connects to; ``rest`` begins at the path.

    ``host`` is lower-case ASCII without a trailing dot: internationalized names are encoded,
    IPv4 addresses dotted, IPv6 addresses compressed and in brackets.
    """

    scheme: str
    host: str
    port: int
    rest: str

    @property
    def host_and_port(self) -> str:
        """The host, with the port unless it is the scheme's default."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL as a browser would send it; the path, query and fragment are unchanged."""
        return f"{self.scheme}://{self.host_and_port}{self.rest}"


def parse_web_url(text: str) -> WebUrl | None:
    r"""Parse ``text`` as a browser would; ``None`` for what programs could read differently.

    This is the only reader of URLs that clients, manifests and settings send. Browsers repair a
    lot (``https:/\host``, tabs and line breaks, backslashes, ``user@host``, percent signs in the
    host); all of it is refused here instead, as are invisible and control characters.
    """
    found = _URL.fullmatch(text) if is_unambiguous(text) else None
    if found is None:
        return None
    scheme = found["scheme"].lower()
    host, port = ascii_host(found["host"]), int(found["port"] or _PORTS[scheme])
    if host is None or not 0 < port <= _HIGHEST_PORT:
        return None
    return WebUrl(scheme, host, port, found["rest"])


def ascii_host(host: str) -> str | None:
    """The host a browser connects to for ``host``, or ``None`` if it connects to none.

    Names are processed by UTS 46, non-transitional: ``busineß.com`` is ``xn--busine-gta.com``,
    not ``business.com``. A name whose last part is a number is an IPv4 address in any spelling.
    """
    if host.startswith("[") and host.endswith("]"):
        return _ipv6(host[1:-1])
    if not host or len(host) > _MAX_HOST_LENGTH:
        return None
    name = host.lower()
    if not name.isascii() or "xn--" in name:
        try:
            name = idna.encode(host, uts46=True, transitional=False).decode("ascii").lower()
        except UnicodeError:  # IDNAError is one
            return None
    name = name.removesuffix(".")
    labels = name.split(".")
    if len(name) > _MAX_HOST_LENGTH or not all(map(_LABEL.fullmatch, labels)):
        return None
    return _ipv4(name) if _NUMBER.fullmatch(labels[-1]) else name


def is_web_url(text: str) -> bool:
    """Whether ``text`` is an absolute HTTP URL that every program reads the same way."""
    return parse_web_url(text) is not None


def is_unambiguous(text: str) -> bool:
    """Whether ``text`` is read as one URL or path by people and programs in a mail.

    A second URL could begin after a blank, and receive the link's secret that is appended.
    """
    return 0 < len(text) <= MAX_URL_LENGTH and not any(map(_is_treacherous, text))


def normalize_url(url: str) -> str:
    """``url`` with scheme, host and port in the spelling a browser sends; else unchanged."""
    address = parse_web_url(url)
    return url if address is None else address.url


def is_path(text: str) -> bool:
    """Whether ``text`` is a path on a host that is known from elsewhere: ``/settings?tab=1``.

    ``//host/`` is none: browsers take that for another host.
    """
    return is_unambiguous(text) and text.startswith("/") and not text.startswith("//")


def resolved_path(text: str) -> str | None:
    """The path a browser requests for ``text``, its query included; ``None`` if it is no path.

    Dot segments are resolved, encoded ones too: ``/console/%2e%2e/x`` is ``/x``. The result never
    begins with two slashes, which would name another host.
    """
    if not is_path(text):
        return None
    path, mark, query = text.partition("#")[0].partition("?")
    segments: list[str] = []
    parts = path.split("/")[1:]
    for number, part in enumerate(parts, 1):
        dots = _DOTS.get(part.lower())
        if dots == ".." and segments:
            segments.pop()
        if dots is None:
            segments.append(part)
        elif number == len(parts):
            segments.append("")  # "/a/." is the folder "/a/"
    resolved = "/" + "/".join(segments)
    return None if resolved.startswith("//") else f"{resolved}{mark}{query}"


def origin_of(address: str) -> tuple[str, str, int]:
    """Scheme, host and port of an absolute URL: its origin (RFC 6454); empty if it is none."""
    found = parse_web_url(address)
    return ("", "", 0) if found is None else (found.scheme, found.host, found.port)


def is_same_origin(url: str, other: str) -> bool:
    """Whether two absolute URLs have the same origin."""
    origin = origin_of(url)
    return origin == origin_of(other) and bool(origin[1])


def below(address: str, path: str) -> str:
    """Return ``path`` relative to the folder of ``address``, always of the same origin.

    ``/edit`` below ``https://app.example/shop/`` is ``https://app.example/shop/edit``. Joined as
    text: a path's contents (``/javascript:…``) must never be read as a URL.
    """
    parts = urlsplit(address)
    folder = parts.path.rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{path.removeprefix('/')}"


def host_and_port_of(address: str) -> str:
    """The host of ``address``, with the port where one is written."""
    return urlsplit(address).netloc


def _ipv6(host: str) -> str | None:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return None
    return None if address.scope_id is not None else f"[{address.compressed}]"


def _ipv4(host: str) -> str | None:
    try:
        return str(ipaddress.IPv4Address(socket.inet_aton(host)))
    except OSError:
        return None


def _is_treacherous(character: str) -> bool:
    return character in '\\"<>' or unicodedata.category(character) in _UNREADABLE
