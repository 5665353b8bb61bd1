"""URLs as lists and logs show them: without the keys that are in many endpoints' URLs."""

import re
from urllib.parse import urlsplit, urlunsplit

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
