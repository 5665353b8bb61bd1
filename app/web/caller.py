"""The caller as a WSGI environment shows them: credential, client IP, and issuer.

The client's IP is the one that trusted proxies forward.
"""

from collections.abc import Sequence
from typing import Any

from app.domain.values.ip_addresses import Address, Network, parse_address
from app.services.identity.identify import Visitor
from app.web.installation import Installation

_MAX_PORT_DIGITS = 5


def client_address(
    peer: str | None, forwarded_for: str | None, trusted: Sequence[Network]
) -> str | None:
    """The address of the client in its one canonical spelling; ``None`` when it cannot be told.

    ``peer`` is the other end of the socket, ``forwarded_for`` the value of ``X-Forwarded-For``
    (several headers joined by commas in their order), ``trusted`` the networks of
    ``TRUSTED_PROXIES``. The header is believed only as far as trusted proxies wrote it: each hop
    appends the address that it saw, so the walk goes from the right and ends at the first address
    that is no trusted proxy. An entry that is no address ends it at the proxy that passed it on,
    for what stands further left may be the client's own invention. Behind a socket of the file
    system there is no address (contract: ``UNKNOWN_IP_ADDRESS``).
    """
    seen = _parse_hop(peer or "")
    if seen is None:
        return None
    for entry in reversed((forwarded_for or "").split(",")):
        if not _is_in(seen, trusted):
            break
        hop = _parse_hop(entry)
        if hop is None:
            break
        seen = hop
    return str(seen)


def is_forwarded_by_stranger(
    peer: str | None, forwarded_for: str | None, trusted: Sequence[Network]
) -> bool:
    """Return whether ``X-Forwarded-For`` came from an untrusted peer and was ignored.

    Either a client pretends to have another address, or a proxy is missing in ``TRUSTED_PROXIES``
    and all its clients share one address: worth a warning to the operator.
    """
    if not (forwarded_for or "").strip():
        return False
    return not is_trusted_proxy(peer, trusted)


def is_trusted_proxy(peer: str | None, trusted: Sequence[Network]) -> bool:
    """Return whether ``peer``, the other end of the socket, is one of ``trusted``."""
    seen = _parse_hop(peer or "")
    return seen is not None and _is_in(seen, trusted)


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _parse_hop(entry: str) -> Address | None:
    """The address of ``entry``, with or without the port that some proxies write behind it."""
    address = parse_address(entry)
    if address is not None:
        return address
    host, colon, port = entry.strip().rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or len(port) > _MAX_PORT_DIGITS:
        return None
    # Without brackets, the last group of an IPv6 address would look like a port.
    return parse_address(host) if host.endswith("]") or ":" not in host else None


Environ = dict[str, Any]

_SCHEMES = ("bearer", "jwt")
_SCHEME_AND_TOKEN = 2
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_MAX_USER_AGENT = 256

UNKNOWN_PEER = "unknown"
"""The peer of a Unix domain socket has no IP address."""


def visitor_from(environ: Environ, installation: Installation) -> Visitor:
    """What a request says of its sender; nothing in it is verified yet."""
    configuration = installation.ports.configuration
    peer, forwarded_for = environ.get("REMOTE_ADDR"), environ.get("HTTP_X_FORWARDED_FOR")
    trusted = installation.trusted_proxies
    if forwarded_for is not None and is_forwarded_by_stranger(peer, forwarded_for, trusted):
        # Counted in memory for the operator; the request continues as if it were direct.
        installation.ports.activity.record_forwarding(
            client_address(peer, None, ()) or UNKNOWN_PEER
        )
    return Visitor(
        credential=credential_in(environ),
        address=client_address(peer, forwarded_for, trusted),
        user_agent=environ.get("HTTP_USER_AGENT", "")[:_MAX_USER_AGENT],
        issuer=configuration.issuer or f"{base_url(environ)}/graphql/",
    )


def credential_in(environ: Environ) -> str | None:
    """Return the token of a request, or ``None`` (contract, "Credentials, precisely", 1).

    ``Authorization-Bearer`` holds the bare token and wins, because ``Authorization`` can belong to
    a proxy. There, ``Bearer`` and ``JWT`` in any case are accepted; another scheme is no
    credential.
    """
    bare: str = environ.get("HTTP_AUTHORIZATION_BEARER", "").strip()
    if bare:
        return bare
    words: list[str] = environ.get("HTTP_AUTHORIZATION", "").split(maxsplit=1)
    if len(words) != _SCHEME_AND_TOKEN or words[0].lower() not in _SCHEMES:
        return None
    return words[1].rstrip()


def base_url(environ: Environ) -> str:
    """Scheme and host of the request's own address, with the port where it is not the default."""
    scheme: str = environ["wsgi.url_scheme"]
    host: str | None = environ.get("HTTP_HOST")
    if host is None:
        host = environ["SERVER_NAME"]
        port = environ["SERVER_PORT"]
        if port != _DEFAULT_PORTS.get(scheme):
            host = f"{host}:{port}"
    return f"{scheme}://{host}"
