"""The client's IP address behind trusted proxies.

The result is the full address, for IPv6 too: the contract throttles "per IP", the audit log names
it, and some networks give the addresses of one /64 to different people. The owner of a /64 can
therefore spread login attempts over it; limits on the volume of requests can count by network
instead.

WSGI gives ``X_Forwarded_For`` and ``X-Forwarded-For`` one name, and the last one wins. Our server
drops header names with underscores, as nginx and Apache do; another server has to do the same.
"""

from collections.abc import Sequence

from app.domain.values.ip_addresses import Address, Network, parse_address

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
