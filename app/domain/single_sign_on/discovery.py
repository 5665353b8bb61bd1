"""A provider's own description (OpenID Connect Discovery 1.0, 3): read into our settings."""

from collections.abc import Mapping

from app.domain.single_sign_on.provider_settings import read_setting
from app.domain.single_sign_on.provider_tokens import ALGORITHMS
from app.domain.single_sign_on.providers import DISCOVERY_PATH
from app.domain.values.errors import Problem

_ENDPOINTS = {
    "oauth_authorization_url": "authorization_endpoint",
    "oauth_token_url": "token_endpoint",
    "json_web_key_set_url": "jwks_uri",
    "user_info_url": "userinfo_endpoint",
    "oauth_logout_url": "end_session_endpoint",
}
_NEEDED = ("oauth_authorization_url", "oauth_token_url", "json_web_key_set_url")

_CHOICES: Mapping[str, tuple[frozenset[str], tuple[str, ...]]] = {
    # member: what we can do, and what its absence means
    "response_types_supported": (frozenset({"code"}), ("code",)),
    "code_challenge_methods_supported": (frozenset({"S256"}), ("S256",)),
    "token_endpoint_auth_methods_supported": (
        frozenset({"client_secret_basic", "none"}),
        ("client_secret_basic",),
    ),
    "id_token_signing_alg_values_supported": (ALGORITHMS, ("RS256",)),
}


def issuer_in(text: str) -> str:
    """Return the issuer in ``text``, which can be the whole URL of its discovery document."""
    return text.strip().partition(DISCOVERY_PATH)[0]


def discovery_url(text: str) -> str:
    """Return the URL of the discovery document of an issuer, or ``text`` if it is that URL."""
    url = text.strip()
    return url if DISCOVERY_PATH in url else f"{url.rstrip('/')}{DISCOVERY_PATH}"


def read_description(
    document: Mapping[str, object], issuer: str
) -> tuple[dict[str, str], list[Problem]]:
    """Read the settings in a discovery ``document``, and its problems: INVALID on ``issuer``.

    Its issuer must be ``issuer``, except for a trailing slash (4.3). A document fetched by HTTPS
    must not contain HTTP URLs.
    """
    document_issuer = document.get("issuer")
    if not isinstance(document_issuer, str) or document_issuer.rstrip("/") != issuer.rstrip("/"):
        message = "The configuration is for another issuer: {issuer}."
        return {}, [
            Problem("INVALID", message, "issuer", values={"issuer": repr(document_issuer)})
        ]
    settings, problems = {"issuer": document_issuer}, []
    for name, member in _ENDPOINTS.items():
        url = document.get(member)
        if url is None and name not in _NEEDED:
            continue
        read = read_setting(name, url) if isinstance(url, str) and url else None
        if not isinstance(read, str):
            problems.append(_problem("{member} is missing or isn't a URL.", member=member))
        elif document_issuer.startswith("https:") and not read.startswith("https:"):
            problems.append(
                _problem("{member} changes from https to {url}.", member=member, url=read)
            )
        else:
            settings[name] = read
    for member, (usable, default) in _CHOICES.items():
        offered = document.get(member)
        offered = default if offered is None else offered
        if not isinstance(offered, (list, tuple)) or not usable.intersection(map(str, offered)):
            problems.append(
                _problem(
                    "{member} supports none of {usable}.",
                    member=member,
                    usable=", ".join(sorted(usable)),
                )
            )
    return settings, problems


def _problem(message: str, **values: object) -> Problem:
    return Problem("INVALID", message, "issuer", values=values)
