"""Response headers: those that make browsers careful, and cross-origin answers."""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from app.ports.configuration import Configuration

Headers = tuple[tuple[str, str], ...]

_HSTS_SECONDS = 365 * 24 * 3600
NOTHING_MAY_RUN = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The Content-Security-Policy of responses that load nothing."""


def security_headers(configuration: Configuration) -> Headers:
    """Return the headers of every response.

    They require HTTPS only where the operator says that the installation is reached by it.
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


class IdentityFact(StrEnum):
    """What forward authentication tells of a caller; the value is its name in the setting."""

    KIND = "kind"
    ID = "id"
    APP = "app"
    EMAIL = "email"
    STAFF = "staff"
    PERMISSIONS = "permissions"
    SESSION = "session"
    EXPIRES = "expires"


IDENTITY_HEADERS: Mapping[IdentityFact, str] = MappingProxyType(
    {fact: f"X-Auth-{fact.value.capitalize()}" for fact in IdentityFact}
)
"""The headers of a successful check, unless ``FORWARD_AUTH_HEADERS`` says otherwise."""

_IDENTITY_HEADER = re.compile(r"(?:X|Remote)(?:-[A-Za-z0-9]{1,32}){1,4}", re.IGNORECASE)
_TAKEN = re.compile(
    r"X-(?:Forwarded(?:-.*)?|Real-IP|Request-ID|Frame-Options|Content-Type-Options)", re.IGNORECASE
)


def read_identity_headers(words: tuple[str, ...]) -> Mapping[IdentityFact, str]:
    """Return the headers in ``words`` such as ``email=X-Auth-Email``.

    Raises ``ValueError`` for an unknown fact, one that is named twice, and names that can't be
    told apart or mean something else to proxies.
    """
    headers: dict[IdentityFact, str] = {}
    for word in words:
        key, _, name = (part.strip() for part in word.partition("="))
        if key not in set(IdentityFact):
            known = ", ".join(IdentityFact)
            raise ValueError(f"{key!r} must be one of {known}, as in email=X-Auth-Email")
        if not _IDENTITY_HEADER.fullmatch(name) or _TAKEN.fullmatch(name):
            raise ValueError(
                f"{name!r} must be a name of letters, digits and hyphens that begins with X- or "
                "Remote-, and none that proxies use themselves"
            )
        fact = IdentityFact(key)
        if fact in headers or name.lower() in map(str.lower, headers.values()):
            raise ValueError(f"{word!r} repeats a value or a header")
        headers[fact] = name
    return headers


ANYONE = "*"

_PREFLIGHT_SECONDS = 600


def cors_headers(origin: str | None, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return the headers that let a page of ``origin`` read a response; only Vary otherwise.

    ``allowed`` holds origins as browsers send them (``https://shop.example.com``), or ``*`` for
    all. Credentials are allowed to origins listed by name, since Saleor's dashboard sends every
    request with them, never for ``*``; the API reads no cookie (contract, part 4). The response
    depends on the origin, so it has ``Vary``.
    """
    if origin is not None and origin in allowed and origin != ANYONE:
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Credentials": "true",
            "Vary": "Origin",
        }
    if allowed == (ANYONE,):
        return {"Access-Control-Allow-Origin": ANYONE}
    named = {"Vary": "Origin"}
    return {"Access-Control-Allow-Origin": ANYONE, **named} if ANYONE in allowed else named


def preflight_headers(
    origin: str | None,
    allowed: tuple[str, ...],
    *,
    methods: tuple[str, ...],
    request_headers: tuple[str, ...] = (),
) -> dict[str, str]:
    """What ``OPTIONS`` answers: ``cors_headers`` and, for an allowed origin, what it may send."""
    headers = cors_headers(origin, allowed)
    if "Access-Control-Allow-Origin" not in headers:
        return headers
    headers["Access-Control-Allow-Methods"] = ", ".join(methods)
    headers["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
    if request_headers:
        headers["Access-Control-Allow-Headers"] = ", ".join(request_headers)
    return headers
