"""The relying party of WebAuthn: the host that passkeys are made for, and where they work."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The host that passkeys are made for (RP ID), and the origins of the pages that ask for them.

    A browser uses a passkey only on pages of its host and that host's subdomains.
    """

    id: str
    origins: tuple[str, ...]


def relying_party(
    issuer: str, rp_id: str = "", more_origins: Collection[str] = ()
) -> RelyingParty | None:
    """Return the relying party of an installation whose tokens have the issuer ``issuer``.

    By default its own host. ``None`` if that is an IP address, for which no passkey can be made.
    """
    parts = urlsplit(issuer)
    host = parts.hostname or ""
    if not host or _is_ip_address(rp_id or host):
        return None
    own = f"{parts.scheme}://{parts.netloc.lower()}"
    return RelyingParty(rp_id or host, (own, *(other for other in more_origins if other != own)))


def is_within(rp_id: str, origin: str) -> bool:
    """Whether browsers accept ``rp_id`` on pages of ``origin``."""
    host = urlsplit(origin).hostname or ""
    return host == rp_id or host.endswith(f".{rp_id}")


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
