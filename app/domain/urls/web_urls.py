"""URLs and hosts as browsers read them (WHATWG URL Standard): checks, masks and purposes.

Purposes are an instance's API, the target of a delivery, which no spelling can lead into a private
network, and the relying party of passkeys (WebAuthn). A masked URL has no keys, which many
endpoints have in their URLs.
"""

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import idna

from app.domain.values.errors import Problem
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address
from app.domain.values.text import Phrase, Sentence

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
    """Return the host a browser connects to for ``host``, or ``None`` if it connects to none.

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

    ``//host/`` isn't one: browsers read it as another host.
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
    """Scheme, host and port of an absolute URL: its origin (RFC 6454); empty for other texts."""
    found = parse_web_url(address)
    return ("", "", 0) if found is None else (found.scheme, found.host, found.port)


def is_same_origin(url: str, other: str) -> bool:
    """Whether two absolute URLs have the same origin."""
    origin = origin_of(url)
    return origin == origin_of(other) and bool(origin[1])


def url_below(address: str, path: str) -> str:
    """Return ``path`` relative to the folder of ``address``, always of the same origin.

    ``/edit`` below ``https://app.example/shop/`` is ``https://app.example/shop/edit``. Joined as
    text: a path's contents (``/javascript:…``) must never be read as a URL.
    """
    parts = urlsplit(address)
    folder = parts.path.rpartition("/")[0]
    return f"{parts.scheme}://{parts.netloc}{folder}/{path.removeprefix('/')}"


def host_and_port_of(address: str) -> str:
    """Return the host of ``address``, with the port where one is written."""
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


MASK = "***"
"""What stands in place of a key."""

_SECRET_AFTER = {
    "discord.com": ("api", "webhooks"),
    "discordapp.com": ("api", "webhooks"),
    "hooks.zapier.com": ("hooks", "catch"),
}
"""Known hosts, and the parts of the path after which everything is a key."""
_NAMES = frozenset(("services", "key", "keys", "token", "tokens", "secret", "secrets"))
"""Parts of any path after which everything is a key, as in /services/T0/B0/… of Slack."""
_LONG = 12
_MIXED = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])")
_CASES = re.compile(r"(?=.*[0-9])(?=.*[A-Z])(?=.*[a-z])")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WORDS = re.compile(r"[-_.:~%]")
_HEX = re.compile(r"[0-9a-f]{16,}", re.IGNORECASE)
_MAX_WORD = 24


def masked_url(url: str) -> str:
    """Return ``url`` without user, password, values of the query, and parts of the path like keys.

    What is no URL is masked as a whole.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for what is no port
    except ValueError:
        return MASK if url else ""
    path = _masked_path(parts.hostname or "", parts.path)
    return urlunsplit(
        (parts.scheme, _masked_host(parts.netloc), path, _masked_query(parts.query), "")
    )


def _masked_host(netloc: str) -> str:
    user, at, host = netloc.rpartition("@")
    return f"{MASK}@{host}" if user or at else host


def _masked_query(query: str) -> str:
    shown = []
    for field in query.split("&") if query else ():
        name, equals, value = field.partition("=")
        # A field without a value can be a key by itself.
        shown.append(f"{name}={MASK if value else ''}" if equals else MASK)
    return "&".join(shown)


def _masked_path(host: str, path: str) -> str:
    segments = path.split("/")
    known = _SECRET_AFTER.get(host.lower())
    hides_rest = False
    shown = []
    for place, segment in enumerate(segments):
        shown.append(MASK if segment and (hides_rest or _looks_secret(segment)) else segment)
        is_end_of_known = known is not None and tuple(segments[1 : place + 1]) == known
        hides_rest = hides_rest or is_end_of_known or segment.lower() in _NAMES
    return "/".join(shown)


def _looks_secret(segment: str) -> bool:
    """Whether a part of a path is rather random than made of words."""
    if len(segment) < _LONG:
        return False
    if _UUID.search(segment) or _CASES.match(segment):
        return True
    return any(
        _HEX.fullmatch(word)
        or len(word) > _MAX_WORD
        or (len(word) >= _LONG and _MIXED.match(word))
        for word in _WORDS.split(segment)
    )


_PATH = "/graphql/"
_SHOWN = "for example https://shop.example.com/graphql/"


def parse_api_url(text: str) -> str:
    """Parse an API's URL; a host alone means its ``/graphql/``.

    Raises ``ValueError`` for anything but an absolute ``https://`` or ``http://`` URL, and for one
    with a password, a query or a fragment.
    """
    text = text.strip()
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError(f"must start with https:// or http://, {_SHOWN}")
    if len(text) > MAX_URL_LENGTH:
        raise ValueError(f"is longer than {MAX_URL_LENGTH} characters; write {_SHOWN}")
    if any(mark in text for mark in "@?#"):
        raise ValueError(f"must not contain a user, a query or a fragment; write {_SHOWN}")
    address = parse_web_url(text)
    if address is None:
        raise ValueError(f"is not a valid URL; write {_SHOWN}")
    path = address.rest if address.rest not in ("", "/", "/graphql") else _PATH
    return f"{address.scheme}://{address.host_and_port}{path}"


def is_unencrypted(api_url: str) -> bool:
    """Whether what is sent there passes others who can read it: no encryption, another machine."""
    parts = urlsplit(api_url)
    host = parts.hostname or ""
    address = parse_address(host)
    is_here = host == "localhost" or (address is not None and address.is_loopback)
    return parts.scheme == "http" and not is_here


def key_set_url(api_url: str) -> str:
    """Return where an instance with that API publishes its keys."""
    parts = urlsplit(api_url)
    return urlunsplit((parts.scheme, parts.netloc, "/.well-known/jwks.json", "", ""))


ALLOW_HINT: Sentence = (
    "To allow it, a server administrator can add its network to OUTGOING_ALLOWED_NETWORKS."
)
"""What helps where a private network is not reached: the same words before a call and after."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOW = 0xFFFF_FFFF


def target_problem(
    url: str, allowed: Sequence[Network], field: str = "targetUrl"
) -> Problem | None:
    """Return why nothing can be sent to ``url``, or ``None``: REQUIRED, INVALID on ``field``.

    An address is recognised in every spelling that resolvers take: octal, hexadecimal, short, one
    number, wide digits, mapped into IPv6. What a name resolves to is looked at again before each
    attempt, so a name is only refused that can mean nothing but this machine.
    """
    if not url:
        return Problem("REQUIRED", "Say where deliveries go: https://app.example.com/hook", field)
    target = parse_web_url(url)
    if target is None:
        return Problem("INVALID", "Use a full URL: https://app.example.com/hook", field)
    address = _address(target.host)
    if address is None or is_public(address) or any(address in network for network in allowed):
        return None
    return Problem(
        "INVALID",
        "{host} is in a private network. {allow_hint}",
        field,
        values={"host": target.host[:80], "allow_hint": Phrase(ALLOW_HINT)},
    )


def is_private_target(url: str) -> bool:
    """Whether ``url`` is refused for no other reason than that its host is a private address."""
    everywhere = [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")]
    return target_problem(url, ()) is not None and target_problem(url, everywhere) is None


def _address(host: str) -> Address | None:
    """Return the IP address that ``host`` is, or is known to mean without a lookup."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    found = parse_address(host)
    return None if found is None else _embedded(found)


def _embedded(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one is a detour to, or the address itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in _NAT64 or (int(address) <= _LOW and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & _LOW)
    return address.sixtofour or (address.teredo[1] if address.teredo else address)


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The host that passkeys are made for (RP ID), and the origins of the pages that ask for them.

    A browser uses a passkey only on pages of its host and that host's subdomains.
    """

    id: str
    origins: tuple[str, ...]


def relying_party(
    issuer: str, rp_id: str = "", more_origins: Collection[str] = ()
) -> RelyingParty | None:
    """Return the relying party of an installation whose tokens have the issuer ``issuer``.

    By default its own host, as browsers write it. ``None`` if that is an IP address, for which no
    passkey can be made.
    """
    url = parse_web_url(issuer)
    if url is None or _is_ip_address(rp_id or url.host):
        return None
    own = f"{url.scheme}://{url.host_and_port}"
    others = (other for other in more_origins if other != own)
    return RelyingParty(rp_id or url.host, (own, *others))


def is_host_within(rp_id: str, origin: str) -> bool:
    """Whether browsers accept ``rp_id`` on pages of ``origin``."""
    url = parse_web_url(origin)
    return url is not None and (url.host == rp_id or url.host.endswith(f".{rp_id}"))


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
