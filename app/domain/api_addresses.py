"""The address of an instance's API, as people type it and as it is asked."""

from urllib.parse import urlsplit, urlunsplit

from app.domain.addresses import parse_address

_PATH = "/graphql/"
_LONGEST = 2048
_SHOWN = "for example https://shop.example.com/graphql/"


def read_api_address(text: str) -> str:
    """The address in ``text``: a host alone stands for its ``/graphql/``.

    Raises ``ValueError`` for anything but a whole address with ``https://`` or ``http://``, and
    for one that holds a password, a query or a fragment.
    """
    text = text.strip()
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError(f"is no address; write {_SHOWN}") from None
    if parts.scheme.lower() not in ("http", "https"):
        raise ValueError(f"must start with https:// or http://, {_SHOWN}")
    if not parts.hostname or not text.isprintable() or any(one in text for one in " \\"):
        raise ValueError(f"names no host; write {_SHOWN}")
    if len(text) > _LONGEST:
        raise ValueError(f"is longer than {_LONGEST} characters; write {_SHOWN}")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError(f"must hold neither a user, a query nor a fragment; write {_SHOWN}")
    path = parts.path if parts.path not in ("", "/", "/graphql") else _PATH
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, "", ""))


def is_overheard(api_url: str) -> bool:
    """Whether what is sent there passes others who can read it: no encryption, another machine."""
    parts = urlsplit(api_url)
    host = parts.hostname or ""
    address = parse_address(host)
    is_here = host == "localhost" or (address is not None and address.is_loopback)
    return parts.scheme == "http" and not is_here


def key_set_address(api_url: str) -> str:
    """Where an instance with that API publishes its keys."""
    parts = urlsplit(api_url)
    return urlunsplit((parts.scheme, parts.netloc, "/.well-known/jwks.json", "", ""))
