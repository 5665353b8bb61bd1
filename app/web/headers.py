"""The headers that make browsers careful with every answer."""

from app.ports.configuration import Configuration

Headers = tuple[tuple[str, str], ...]

_HSTS_SECONDS = 365 * 24 * 3600
NOTHING_MAY_RUN = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy of responses that load nothing."""


def security_headers(configuration: Configuration) -> Headers:
    """What every answer carries, whatever it is.

    HTTPS is insisted on only where the operator says that the installation is reached by it.
    """
    headers: Headers = (
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    )
    if configuration.public_url.startswith("https://"):
        headers += (("Strict-Transport-Security", f"max-age={_HSTS_SECONDS}"),)
    return headers


def data_headers(configuration: Configuration) -> Headers:
    """What an answer for programs carries: no store keeps it, and it can never act as a page."""
    return (
        *security_headers(configuration),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", NOTHING_MAY_RUN),
    )
