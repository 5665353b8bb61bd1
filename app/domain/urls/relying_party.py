"""The relying party of WebAuthn: the host that passkeys are made for, and where they work."""

import ipaddress
from collections.abc import Collection
from dataclasses import dataclass

from app.domain.urls.web_urls import parse_web_url


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

    By default its own host, as browsers write it. ``None`` if that is an IP address, for which no
    passkey can be made.
    """
    url = parse_web_url(issuer)
    if url is None or _is_ip_address(rp_id or url.host):
        return None
    own = f"{url.scheme}://{url.host_and_port}"
    others = (other for other in more_origins if other != own)
    return RelyingParty(rp_id or url.host, (own, *others))


def is_within(rp_id: str, origin: str) -> bool:
    """Whether browsers accept ``rp_id`` on pages of ``origin``."""
    url = parse_web_url(origin)
    return url is not None and (url.host == rp_id or url.host.endswith(f".{rp_id}"))


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
