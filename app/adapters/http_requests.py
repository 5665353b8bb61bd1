"""Requests as they are sent: the URL in the form that is requested, and checked headers."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from requests import PreparedRequest

from app.domain.urls.web_urls import MAX_URL_LENGTH, parse_web_url
from app.domain.values.installation import VERSION
from app.ports.http import CallFailed, CallFault, HttpRequest

# A body is read as it comes: a few compressed bytes could become any number of others.
_DEFAULTS = {"accept": ("Accept", "*/*"), "accept-encoding": ("Accept-Encoding", "identity")}

_NAME = re.compile(r"[^:\s][^:\r\n]*")
_VALUE = re.compile(r"(\S[^\r\n]*)?")
_WITHOUT_BODY = ("GET", "HEAD")


class InvalidHeader(ValueError):
    """A header could be read as several."""


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a URL; ``host`` is without brackets, ``authority`` with the port it names."""

    url: str
    scheme: str
    host: str
    port: int | None
    authority: str
    path: str


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """What is sent to ``target``: ``headers`` are complete, and fit to be written as they are."""

    target: Target
    method: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)


def outgoing(request: HttpRequest) -> OutgoingRequest:
    """Return ``request`` as it is sent.

    Raises ``CallFailed`` for a URL that programs could read differently, and ``InvalidHeader`` for
    a header that could be read as several.
    """
    target = _target(request.url)
    body = request.body or None
    by_name = dict(_DEFAULTS)
    for name, value in request.headers.items():
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise InvalidHeader(name)
        by_name[name.lower()] = (name, value)
    by_name["host"] = ("Host", target.authority)
    by_name["user-agent"] = ("User-Agent", f"Latchkey/{VERSION}")
    if body or request.method not in _WITHOUT_BODY:
        by_name["content-length"] = ("Content-Length", str(len(body or b"")))
    return OutgoingRequest(target, request.method, dict(by_name.values()), body)


@lru_cache(maxsize=1024)
def _target(url: str) -> Target:
    """The URL as it is requested; refuses what programs could read differently."""
    if len(url) > MAX_URL_LENGTH:
        raise CallFailed(CallFault.ADDRESS, f"Use at most {MAX_URL_LENGTH} characters.")
    address = parse_web_url(url)
    if address is None:
        raise CallFailed(CallFault.ADDRESS, "Use a full URL: https://id.example.com/keys")
    prepared = PreparedRequest()
    prepared.prepare_url(address.url, None)
    canonical = prepared.url or ""
    parts = urlsplit(canonical)
    return Target(
        url=canonical,
        scheme=parts.scheme.lower(),
        host=parts.hostname or "",
        port=parts.port,
        authority=parts.netloc,
        path=prepared.path_url,
    )
