"""What every answer carries so that a browser makes no more of it than we meant."""

from collections.abc import Mapping
from types import MappingProxyType

NOTHING_MAY_RUN = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The Content-Security-Policy of an answer that is no page (OWASP, REST Security)."""

_ONE_YEAR = 365 * 24 * 3600

SECURITY_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    }
)
"""For pages and for answers that are none; a page adds the policy of its own scripts."""

API_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Content-Security-Policy": NOTHING_MAY_RUN,
    }
)
"""For answers that programs read: few, for they go out with every one of them."""


def transport_headers(public_url: str) -> Mapping[str, str]:
    """Browsers shall come back by TLS alone, where the installation is reached by TLS.

    Without ``includeSubDomains``: what other hosts of the domain do is not ours to decide.
    """
    if not public_url.startswith("https://"):
        return {}
    return {"Strict-Transport-Security": f"max-age={_ONE_YEAR}"}
