"""Addresses of the internet protocol, every spelling of one reduced to the same value."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def parse_address(text: str) -> Address | None:
    """The address that ``text`` spells, or ``None``.

    IPv6 may stand in brackets and carry a zone, which is dropped: it names an interface of one
    machine. An IPv4 address mapped into IPv6 (RFC 4291, 2.5.5.2) is that IPv4 address.
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
