"""Where deliveries may go: an address of the web that no spelling leads into a private network."""

import ipaddress
from collections.abc import Sequence

from app.domain.urls.web_urls import parse_web_url
from app.domain.values.errors import Problem
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address
from app.domain.values.text import Phrase

ALLOW_HINT = (
    "To allow it, a server administrator can add its network to OUTGOING_ALLOWED_NETWORKS."
)
"""What helps where a private network is not reached: the same words before a call and after."""

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOW = 0xFFFF_FFFF


def target_problem(
    url: str, allowed: Sequence[Network], field: str = "targetUrl"
) -> Problem | None:
    """Why nothing can be sent to ``url``, or ``None``: REQUIRED, INVALID on ``field``.

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
    """The IP address that ``host`` is, or is known to mean without a lookup."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    found = parse_address(host)
    return None if found is None else _embedded(found)


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one is a detour to, or the address itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in _NAT64 or (int(address) <= _LOW and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & _LOW)
    return address.sixtofour or (address.teredo[1] if address.teredo else address)
