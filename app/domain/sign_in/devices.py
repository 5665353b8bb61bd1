"""Sessions as their owner sees them, and user agents in plain words."""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from ipaddress import IPv6Address, ip_network

from app.domain.authorization.actor import SessionOrigin
from app.domain.values.ip_addresses import parse_address

UNKNOWN = "Unknown device"
_MAX_LENGTH = 64
"""Characters of a device in plain words, as records have it."""


# In this order: many a browser also names those that it wants to be taken for.
_BROWSERS = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/|Opera"),
    ("Samsung Internet", r"SamsungBrowser/"),
    ("Vivaldi", r"Vivaldi/"),
    ("Firefox", r"Firefox/|FxiOS/"),
    ("Chrome", r"Chrome/|CriOS/|Chromium/"),
    ("Safari", r"Safari/"),
)
_SYSTEMS = (
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("Android", r"Android"),
    ("ChromeOS", r"CrOS"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("Linux", r"Linux|X11"),
)
_IPV4_PREFIX = 24
_IPV6_PREFIX = 48
_VERSION = re.compile(r" [0-9.]+$")
_PROGRAM = re.compile(r"([A-Za-z][A-Za-z0-9._+-]{0,39})(?:/([0-9]+(?:\.[0-9]+)?))?")


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A user's session; ``device`` in plain words, ``is_current`` for the one in use.

    ``last_used_at`` may be a minute late: it is collected in memory first. ``by_passkey``: it
    began with a passkey, not with a password.
    """

    id: int
    device: str
    address: str
    created_at: datetime
    last_used_at: datetime | None
    origin: SessionOrigin
    is_current: bool
    by_passkey: bool = False


@lru_cache(maxsize=1024)
def device_of(user_agent: str) -> str:
    """Describe a ``user_agent``: ``Firefox on Windows``, ``curl 8.5``.

    Contains only our own words and a program's name, nothing else from the header.
    """
    browser, system = device_parts(user_agent)
    if browser and system:
        return f"{browser} on {system}"
    found = _PROGRAM.match(user_agent)
    if browser or system or found is None or found[1] == "Mozilla":
        return browser or system or UNKNOWN
    return f"{found[1]} {found[2]}"[:_MAX_LENGTH] if found[2] else found[1]


def device_parts(user_agent: str) -> tuple[str, str]:
    """Return browser and operating system, each empty if it isn't known."""
    return _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)


def without_version(device: str) -> str:
    """Return a device in plain words without a program's version: an update is no new device."""
    return _VERSION.sub("", device)


def network_of(address: str) -> str:
    """Return the network of an IP address: its /24, or its /48 for IPv6; empty for none."""
    parsed = parse_address(address)
    if parsed is None:
        return ""
    prefix = _IPV6_PREFIX if isinstance(parsed, IPv6Address) else _IPV4_PREFIX
    return str(ip_network((parsed, prefix), strict=False))


def _first(patterns: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for name, pattern in patterns if re.search(pattern, user_agent)), "")
