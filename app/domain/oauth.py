"""OAuth clients of the OpenID provider: what they are, their redirect URIs, scopes and lifetimes.

Scopes are stored as words: those of OpenID Connect, ``staff``, and names of permissions, which
clients call ``<shop>:manage_products``.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from app.domain.authorization.actor import STAFF_SCOPE
from app.domain.authorization.permissions import Permission, scope_of
from app.domain.sign_in.tokens import PAIRWISE_PREFIX, is_loopback_host
from app.domain.urls.web_urls import WebUrl, is_unambiguous, parse_web_url
from app.domain.values.errors import Problem
from app.domain.values.ids import to_global_id
from app.domain.values.json_values import NoJsonObject, read_json_object
from app.domain.values.text import Sentence
from app.domain.values.text_rules import line_problem

CODE_LIFETIME = timedelta(minutes=1)
CODE_LENGTH = 43
CLIENT_ID_LENGTH = 22
SECRET_LENGTH = 43
"""Letters and digits: 256 random bits."""

SECRET_PREFIX = "lkcs_"
REFRESH_PREFIX = "lkrt_"
"""What secret scanners look for."""

APP_TOKEN_LIFETIME = timedelta(minutes=10)
"""Of a token that an app gets by client credentials."""

LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"
LOGOUT_TOKEN_TYPE = "logout+jwt"
LOGOUT_TOKEN_LIFETIME = 120
"""Seconds, as OpenID Connect Back-Channel Logout 1.0, 2.4 advises."""

COMMAND_LINE = "latchkey-cli"
"""The client of ``flask login``, which each installation has from the start."""

CONSOLE_DEVICE_PATH = "/console/device"
"""Where staff let in a device that asks for rights over the shop, also while it is closed."""

USER_CODE_LENGTH = 8

MAX_ENTERED_CODE = 32
"""Characters that are read of a code that a person enters, with spaces and hyphens."""

USER_CODE_LIFETIME = timedelta(minutes=10)
POLL_INTERVAL = 5
"""Seconds that a device waits between polls, and that it waits longer each time it doesn't."""

MAX_NAME_LENGTH = 100
MAX_URIS = 20
MAX_CLIENT_SECRETS = 2
"""The current one and the one before it."""

OPENID, PROFILE, EMAIL = "openid", "profile", "email"
ADDRESS, PHONE, OFFLINE = "address", "phone", "offline_access"
PERSONAL_SCOPES = (OPENID, PROFILE, EMAIL, ADDRESS, PHONE, OFFLINE)
DEFAULT_SCOPES = frozenset((OPENID, PROFILE, EMAIL))

SCOPE_SENTENCES: Mapping[str, Sentence] = {
    PROFILE: "See your name, language and picture",
    EMAIL: "See your email",
    ADDRESS: "See your default address",
    PHONE: "See your phone number",
    STAFF_SCOPE: "See whether you are staff, and your groups",
    OFFLINE: "Stay connected when you're away, until you disconnect it",
}
"""What scopes allow, for the person who is asked for them; permissions have their labels."""

_PRIVATE_SCHEME = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+", re.IGNORECASE)
"""A domain name backwards, as RFC 8252, 7.1 asks for: no browser has a scheme with a dot."""

_LOOPBACK_ADDRESSES = ("127.0.0.1", "[::1]")
_KEY_TYPES = frozenset(("RSA", "EC", "OKP"))
_PRIVATE_MEMBERS = frozenset(("d", "p", "q", "dp", "dq", "qi", "oth", "k"))
_MAX_KEY_SET_LENGTH = 16 * 1024


@dataclass(frozen=True, slots=True)
class ClientSecret:
    """A client's secret, without it; ``expires_at`` if it was rotated."""

    id: int
    last_four: str
    created_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """A program that signs people in here; ``client_id`` is its public name.

    ``app_id`` is the app as which it acts by client credentials; it signs no one in then.
    ``allows_devices``: people can sign in with it by a code that they enter elsewhere (RFC 8628).
    ``subject_salt``: it knows people by pairwise subjects, which are made with it; empty for
    public ones. ``consent_version`` counts its changes after which people are asked for their
    consent again. ``app_name`` is read for lists and pages alone.
    """

    id: int
    client_id: str
    name: str
    created_at: datetime
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    backchannel_logout_uri: str = ""
    scopes: frozenset[str] = DEFAULT_SCOPES
    is_first_party: bool = False
    is_public: bool = False
    is_active: bool = True
    allows_devices: bool = False
    key_set: str = ""
    app_id: int | None = None
    last_used_at: datetime | None = None
    secrets: tuple[ClientSecret, ...] = ()
    logo: str = ""
    app_name: str = ""
    subject_salt: str = field(default="", repr=False)
    consent_version: int = 0

    @property
    def is_pairwise(self) -> bool:
        """Whether its subjects of people are known to no one else."""
        return bool(self.subject_salt)

    @property
    def is_built_in(self) -> bool:
        """Whether each installation has it from the start: it can't be deleted."""
        return self.client_id == COMMAND_LINE

    @property
    def has_secret(self) -> bool:
        """Whether it proves who it is by a secret."""
        return not (self.is_public or self.key_set)

    def subject_of(self, user_id: int) -> str:
        """Return the subject of a person for this client, which never changes and isn't reused.

        A pairwise one says nothing to another client (OpenID Connect Core 1.0, 8.1).
        """
        name = to_global_id("User", user_id)
        if not self.subject_salt:
            return name
        digest = hmac.new(self.subject_salt.encode(), name.encode(), hashlib.sha256)
        return f"{PAIRWISE_PREFIX}{digest.hexdigest()}"

    def allows_redirect(self, uri: str) -> bool:
        """Whether codes can be sent to ``uri``: one of the client's, character by character.

        Programs on this machine choose their port anew each time (RFC 8252, 7.3).
        """
        return any(uri == own or _is_same_loopback(uri, own) for own in self.redirect_uris)


@dataclass(frozen=True, slots=True)
class NewClient:
    """A client as it is created; ``secret`` is shown once, empty for one without a secret."""

    client: OAuthClient
    secret: str = field(default="", repr=False)


USE_KEPT = timedelta(days=30)
"""For how long it is known that a client got tokens of a person."""


def client_logo_path(name: str, size: int) -> str:
    """Return where the logo ``name`` is served as WebP of that size."""
    return f"/media/clients/{name}-{size}.webp"


def digest_of_secret(secret: str) -> str:
    """Return the stored form of a client secret, code or refresh token of 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _is_same_loopback(uri: str, own: str) -> bool:
    asked, registered = parse_web_url(uri), parse_web_url(own)
    if asked is None or registered is None or not _is_loopback(registered):
        return False
    # Only the port differs: the text of all else is compared, not what it could mean.
    return replace(asked, port=registered.port) == registered and _without_port(
        uri
    ) == _without_port(own)


def _is_loopback(url: WebUrl) -> bool:
    return url.scheme == "http" and url.host in _LOOPBACK_ADDRESSES


def _without_port(uri: str) -> str:
    return re.sub(r"^(http://(?:127\.0\.0\.1|\[::1\])):[0-9]+", r"\1", uri)


def redirect_uri_problem(uri: str, name: str = "redirectUris") -> Problem | None:
    """Return why no code can be sent to ``uri``, or ``None``.

    HTTPS, HTTP at this machine, or a scheme of a native program with a dot in its name; no
    fragment, no wildcard, no name or password, and only what all programs read the same way.
    """
    if "#" in uri or "*" in uri:
        return Problem("INVALID", "A redirect URI can't have a fragment or a wildcard.", name)
    url = parse_web_url(uri)
    if url is not None:
        if url.scheme == "https" or is_loopback_host(url.host.strip("[]")):
            return None
        return Problem("INVALID", "Use https://; http:// is for this machine alone.", name)
    scheme, colon, rest = uri.partition(":")
    is_private = colon and rest and is_unambiguous(uri) and _PRIVATE_SCHEME.fullmatch(scheme)
    if is_private and not rest.startswith("//"):
        return None
    message = (
        "Use a full URL such as https://shop.example.com/callback, or a scheme with a dot for "
        "a native program: com.example.shop:/callback"
    )
    return Problem("INVALID", message, name)


def asks_again(before: OAuthClient, after: OAuthClient) -> bool:
    """Whether people are asked for their consent again after a change of a client.

    They allowed a program by its name to get what it asks for at these sites.
    """
    known = {redirect_origin(uri) for uri in before.redirect_uris}
    added = {redirect_origin(uri) for uri in after.redirect_uris} - known
    return before.name != after.name or bool(added)


def client_problems(client: OAuthClient) -> Iterator[Problem | None]:
    """Yield what is wrong with a client's settings."""
    if not client.name:
        yield Problem("REQUIRED", "This is required.", "name")
    yield line_problem(client.name, "name", max_length=MAX_NAME_LENGTH)
    if client.app_id is None and not (client.redirect_uris or client.allows_devices):
        yield Problem("REQUIRED", "Add at least one redirect URI.", "redirectUris")
    signs_in = bool(client.redirect_uris) or client.is_public or client.allows_devices
    if client.app_id is not None and signs_in:
        message = "A client of an app signs no one in: it has a secret or keys, no redirect URI."
        yield Problem("INVALID", message, "redirectUris")
    if client.app_id is not None and client.is_pairwise:
        yield Problem("INVALID", "A client of an app signs no one in.", "pairwise")
    if client.is_first_party and client.is_pairwise:
        message = (
            "A client with pairwise subjects can't be a first party, which reads people's IDs."
        )
        yield Problem("INVALID", message, "firstParty")
    for name, uris in (
        ("redirectUris", client.redirect_uris),
        ("postLogoutRedirectUris", client.post_logout_redirect_uris),
    ):
        if len(uris) > MAX_URIS:
            limit = {"max_uris": MAX_URIS}
            yield Problem("INVALID", "At most {max_uris} URIs are possible.", name, values=limit)
        yield from (redirect_uri_problem(uri, name) for uri in uris)
    yield _logout_problem(client.backchannel_logout_uri)
    yield key_set_problem(client.key_set, is_public=client.is_public)
    unknown = sorted(client.scopes - {*PERSONAL_SCOPES, STAFF_SCOPE, *map(str, Permission)})
    if unknown:
        values = {"scopes": ", ".join(unknown)}
        yield Problem("INVALID", "Unknown scopes: {scopes}.", "scopes", values=values)


def _logout_problem(uri: str) -> Problem | None:
    url = parse_web_url(uri)
    if not uri:
        return None
    if (
        url is not None
        and "#" not in uri
        and (url.scheme == "https" or is_loopback_host(url.host.strip("[]")))
    ):
        return None
    message = "Use https://; http:// is for this machine alone."
    return Problem("INVALID", message, "backchannelLogoutUri")


def key_set_problem(text: str, *, is_public: bool = False) -> Problem | None:
    """Return why ``text`` can't be a client's public keys (RFC 7517), or ``None``."""
    if not text:
        return None
    if is_public:
        return Problem("INVALID", "A public client has no keys.", "keySet")
    try:
        keys = read_json_object(text.encode()).get("keys")
    except (NoJsonObject, ValueError):
        keys = None
    if not isinstance(keys, list) or not keys or len(text) > _MAX_KEY_SET_LENGTH:
        return Problem("INVALID", 'Use a key set: {{"keys": […]}}.', "keySet")
    for key in keys:
        if not isinstance(key, dict) or key.get("kty") not in _KEY_TYPES:
            return Problem("INVALID", "Keys must be of the types RSA, EC or OKP.", "keySet")
        if key.keys() & _PRIVATE_MEMBERS:
            return Problem("INVALID", "This is a private key. Use its public part.", "keySet")
    return None


def tidy_key_set(text: str) -> str:
    """Return a good key set as it is stored."""
    return json.dumps(json.loads(text)) if text else ""


def read_user_code(text: str) -> str:
    """Return the code that a person has entered as it is stored: its letters, in capitals."""
    return "".join(letter for letter in text.upper() if "A" <= letter <= "Z")


def write_user_code(code: str) -> str:
    """Return a code as a device shows it, in two halves."""
    half = USER_CODE_LENGTH // 2
    return f"{code[:half]}-{code[half:]}" if len(code) > half else code


def privileged(scopes: Iterable[str]) -> frozenset[str]:
    """Return those of ``scopes`` that give rights over the shop."""
    return frozenset(scopes) - {*PERSONAL_SCOPES}


def read_scopes(text: str, shop: str) -> frozenset[str] | None:
    """Return the scopes that a client asks for, as they are stored; ``None`` with an unknown."""
    by_scope = {scope_of(permission, shop): permission.value for permission in Permission}
    words = frozenset(by_scope.get(word, word) for word in text.split())
    asked = text.split()
    is_known = all(word in by_scope or word in (*PERSONAL_SCOPES, STAFF_SCOPE) for word in asked)
    return words if is_known else None


def write_scopes(words: Collection[str], shop: str) -> str:
    """Return stored scopes as clients call them, in a fixed order."""
    named = [word for word in (*PERSONAL_SCOPES, STAFF_SCOPE) if word in words]
    permissions = sorted(
        scope_of(permission, shop) for permission in Permission if permission in words
    )
    return " ".join([*named, *permissions])


def store_scopes(words: Collection[str]) -> str:
    """Return scopes as they are stored."""
    return " ".join(sorted(words))


def redirect_origin(uri: str) -> str:
    """Return the source for ``form-action`` that stands for a registered redirect URI."""
    url = parse_web_url(uri)
    if url is None:
        return f"{urlsplit(uri).scheme}:"
    return f"{url.scheme}://{url.host_and_port}"
