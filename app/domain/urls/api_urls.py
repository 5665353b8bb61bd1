"""The address of an instance's API, as people type it and as it is asked."""

from urllib.parse import urlsplit, urlunsplit

from app.domain.urls.web_urls import MAX_URL_LENGTH, parse_web_url
from app.domain.values.ip_addresses import parse_address

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
    """Where an instance with that API publishes its keys."""
    parts = urlsplit(api_url)
    return urlunsplit((parts.scheme, parts.netloc, "/.well-known/jwks.json", "", ""))
