"""The caller as a WSGI environment shows them: credential, address, and which issuer they mean."""

from typing import Any

from app.services.identity.identify import Visitor
from app.web.client_ip import client_address, is_forwarded_by_stranger
from app.web.installation import Installation

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
