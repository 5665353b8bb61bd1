"""Where deliveries may go: an address of the web that no spelling leads into a private network."""

import ipaddress
import socket
import unicodedata
from collections.abc import Sequence
from urllib.parse import urlsplit

from app.domain.addresses import Address, Network, is_public, parse_address
from app.domain.errors import Problem
from app.domain.web_addresses import is_web_address

ALLOWING = (
    "If it is meant to be reached, the operator can list its network in OUTGOING_ALLOWED_NETWORKS."
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
    if not is_web_address(url):
        return Problem("INVALID", "Use a whole address: https://app.example.com/hook", field)
    host = unicodedata.normalize("NFKC", urlsplit(url).hostname or "").lower()
    host = host.replace("\u3002", ".").rstrip(".")  # IDNA takes that for a dot
    if "%" in host.partition("]")[0] and ":" not in host:
        return Problem("INVALID", "The host of an address holds no percent signs.", field)
    address = _address(host)
    if address is None or is_public(address) or any(address in one for one in allowed):
        return None
    return Problem("INVALID", f"{host[:80]} is in a private network. {ALLOWING}", field)


def is_private_target(url: str) -> bool:
    """Whether ``url`` is refused for no other reason than that its host is a private address."""
    everywhere = [ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0")]
    return target_problem(url, ()) is not None and target_problem(url, everywhere) is None


def _address(host: str) -> Address | None:
    """The address that ``host`` spells, or stands for without anybody being asked."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    found = parse_address(host)
    if found is not None:
        return _embedded(found)
    try:
        # What resolvers take for a number: 0x7f.1, 0177.0.0.1, 2130706433.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, UnicodeEncodeError):
        return None


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 one is a detour to, or the address itself."""
    if not isinstance(address, ipaddress.IPv6Address):
        return address
    if address in _NAT64 or (int(address) <= _LOW and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & _LOW)
    return address.sixtofour or (address.teredo[1] if address.teredo else address)
