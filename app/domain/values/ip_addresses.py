"""Addresses of the internet protocol, every spelling of one reduced to the same value."""

import ipaddress
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_PROTOCOLS = ipaddress.ip_network("192.0.0.0/24")
"""Reserved for protocol assignments (RFC 6890): no shop has an address there."""

_SITES = ipaddress.ip_network("fec0::/10")
"""What was private in IPv6 until RFC 3879, and is still routed within sites."""


@lru_cache(maxsize=4096)  # each request parses its client's and the proxies' again
def parse_address(text: str) -> Address | None:
    """Parse an IP address, or return ``None``.

    IPv6 can be in brackets and have a zone, which is dropped: it names an interface of one
    machine. An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) is that IPv4 address.
    """
    bare = text.strip()
    bracketed = bare.startswith("[") and bare.endswith("]")
    if bracketed:
        bare = bare[1:-1]
    if ":" in bare:
        bare = bare.partition("%")[0]
    elif bracketed:
        return None
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    """Whether ``address`` is reachable on the public internet."""
    is_set_aside = address.is_multicast or address.is_reserved
    return address.is_global and not (is_set_aside or address in _PROTOCOLS or address in _SITES)
