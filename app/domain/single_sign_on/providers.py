"""Identity providers: settings, plugin IDs, and the errors with which they answer a sign-in.

Contract, "Single sign-on" and "What existing clients hold us to". Errors: RFC 6749, 4.1.2.1;
OpenID Connect Core, 3.1.2.6.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.domain.authorization.permissions import Permission, in_order, scope_of, staff_scope
from app.domain.single_sign_on.group_mapping import read_group_mapping
from app.domain.urls.web_urls import ascii_host
from app.domain.values.errors import Problem
from app.domain.values.installation import PLATFORM
from app.domain.values.text import Sentence
from app.domain.values.text_rules import is_storable

DEFAULT_SLUG = "default"
"""The provider that answers to every word which names no other."""

_DEFAULT_WORDS = frozenset((DEFAULT_SLUG, "latchkey", "mirumee", PLATFORM))
"""Words by which existing clients name the default provider, whatever ``VENDOR`` is."""

DEFAULT_GROUPS_CLAIM = "groups"
DEFAULT_SUBJECT_CLAIM = "sub"
SUBJECT_CLAIMS = (DEFAULT_SUBJECT_CLAIM, "uid")
"""Claims of access tokens that can be the subject: none that people can edit. Okta has ``uid``."""

DISCOVERY_PATH = "/.well-known/openid-configuration"
"""What follows the issuer in the URL of its discovery document (OpenID Connect Discovery, 4)."""

DEMO_PROVIDER_PATH = "/demo-identity-provider"
"""Where the installation serves the demo shop's identity provider, in development."""

_PLUGIN_ID = re.compile(r"([A-Za-z0-9_-]{1,64})\.authentication\.openidconnect")
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider; ``client_secret`` is sealed. The names are those that clients know.

    ``serves_staff_of_any_client``: access tokens have staff rights although neither an audience
    nor clients are set, as providers had them before ``accepted_clients`` existed.
    ``waiting_changes`` are those that aren't confirmed (``waiting_changes.read_waiting``),
    ``trust_version`` counts changes of what it can assert. Tokens issued until
    ``tokens_valid_after`` (Unix seconds) are refused: an unconfirmed URL may have received them.
    """

    id: int
    slug: str
    name: str
    active: bool
    issuer: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    enable_refresh_token: bool = True
    oauth_authorization_url: str = ""
    oauth_token_url: str = ""
    json_web_key_set_url: str = ""
    oauth_logout_url: str = ""
    user_info_url: str = ""
    audience: str = ""
    use_oauth_scope_permissions: bool = False
    staff_user_domains: str = ""
    default_group_name_for_new_staff_users: str = ""
    trust_emails: bool = False
    scope_prefix: str = ""
    second_factor_amr: str = ""
    second_factor_acr: str = ""
    subject_claim: str = DEFAULT_SUBJECT_CLAIM
    accepted_clients: str = ""
    groups_claim: str = DEFAULT_GROUPS_CLAIM
    group_mapping: str = ""
    serves_staff_of_any_client: bool = False
    waiting_changes: str = ""
    trust_version: int = 0
    tokens_valid_after: float = 0.0

    @property
    def waits(self) -> bool:
        """Whether a change of it waits for confirmation, so that it can assert less."""
        return self.waiting_changes != ""

    @property
    def link_mark(self) -> str:
        """Return the mark of links that it makes as it is now; empty while nothing waits.

        While something waits, it signs in people by links with this mark only.
        """
        return f"{self.id}:{self.trust_version}" if self.waits else ""

    @property
    def takes_tokens(self) -> bool:
        """Whether a client may bring an access token of this provider."""
        return bool(self.json_web_key_set_url and self.user_info_url)

    @property
    def signs_in(self) -> bool:
        """Whether this service can lead a client through the provider's login."""
        needed = (self.client_id, self.oauth_authorization_url, self.oauth_token_url)
        return bool(self.json_web_key_set_url) and all(needed)

    @property
    def maps_groups(self) -> bool:
        """Whether a claim decides groups here: not where the provider grants permissions."""
        return self.group_mapping != "" and not self.use_oauth_scope_permissions

    @property
    def mapped_groups(self) -> frozenset[str]:
        """Return the groups that staff join and leave by the claim."""
        rows = read_group_mapping(self.group_mapping) if self.maps_groups else ()
        return frozenset(row.group for row in rows)

    def plugin_id(self, vendor: str) -> str:
        return plugin_id_of(self.slug, vendor)

    def issuer_here(self, issuer: str) -> str:
        """Return the issuer under which identities are stored.

        An issuer that isn't configured counts for this provider alone: it must not be able to
        impersonate another one's people.
        """
        return self.issuer or f"{self.slug}|{issuer}"

    @property
    def imported_issuer(self) -> str:
        """Return the issuer under which imported identities are stored until their sign-in.

        Saleor doesn't record issuers. Where none is configured, a person's first token tells it.
        """
        return self.issuer or f"{self.slug}|*"

    def issuers_here(self, issuer: str) -> tuple[str, str]:
        """Return what an identity of ``issuer`` can be stored under, the exact one first."""
        return self.issuer_here(issuer), self.imported_issuer

    def prefix_of_scopes(self, shop: str) -> str:
        """Return what its scopes begin with: its own prefix, or else the installation's.

        Only one of the two counts, so that a provider's own prefix never widens what it grants.
        """
        return self.scope_prefix or shop

    def makes_staff(self, email: str) -> bool:
        """Whether a person with this verified email is staff by its domain."""
        words = (word.strip().lstrip("@") for word in self.staff_user_domains.split(","))
        domain = ascii_host(email.rpartition("@")[2])
        return domain is not None and domain in {ascii_host(word) for word in words if word}


def serves_any_client(provider: Provider) -> bool:
    """Whether access tokens have staff rights regardless of the client they were issued to."""
    is_open = not (provider.audience or provider.accepted_clients)
    return provider.takes_tokens and is_open and provider.serves_staff_of_any_client


def plugin_id_of(slug: str, vendor: str) -> str:
    """Return the plugin ID of the provider with that slug."""
    word = vendor.lower() if slug == DEFAULT_SLUG else slug
    return f"{word}.authentication.openidconnect"


def slug_in(plugin_id: str) -> str | None:
    """Return the word of a plugin id; ``None`` for what is no id of this kind of plugin."""
    found = _PLUGIN_ID.fullmatch(plugin_id)
    return found[1].lower() if found else None


def is_slug(text: str) -> bool:
    """Whether a provider may be called that: it becomes part of plugin ids and addresses."""
    return _SLUG.fullmatch(text) is not None


def names_default(slug: str, vendor: str) -> bool:
    """Whether plugin IDs with this word name the default provider, and no other."""
    return slug in _DEFAULT_WORDS or slug == vendor.lower()


def choose(providers: Iterable[Provider], slug: str) -> Provider | None:
    """Return the provider that answers to ``slug``: its own, or the default one."""
    by_slug = {provider.slug: provider for provider in providers}
    return by_slug.get(slug) or by_slug.get(DEFAULT_SLUG)


def requested_scope(provider: Provider, shop: str) -> str:
    """Return the scope of a sign-in request; ``shop`` is the installation's prefix."""
    words = ["openid", "profile", "email"]
    if provider.enable_refresh_token:
        words.append("offline_access")
    if provider.use_oauth_scope_permissions:
        prefix = provider.prefix_of_scopes(shop)
        words += [scope_of(permission, prefix) for permission in in_order(frozenset(Permission))]
        words.append(staff_scope(prefix))
    return " ".join(words)


MAX_ERROR_LENGTH = 120
"""Characters of a provider's error, and of its description, that are shown and logged."""

_AGAIN = "{provider} couldn't complete the sign-in. Try again later. ({error})"
_ASKS = "{provider} needs you to sign in there first. Try again. ({error})"
_CLIENT = (
    "{provider} refused the request. An administrator must check how this client is set up there. "
    "({error})"
)
_OTHER: Sentence = "{provider} refused the sign-in. ({error})"
_WORDS: Mapping[str, Sentence] = {
    "access_denied": (
        "The sign-in was canceled, or {provider} doesn't allow this account to sign in here. "
        "({error})"
    ),
    "login_required": _ASKS,
    "interaction_required": _ASKS,
    "account_selection_required": _ASKS,
    "consent_required": _ASKS,
    "server_error": _AGAIN,
    "temporarily_unavailable": _AGAIN,
    "invalid_request": _CLIENT,
    "invalid_scope": _CLIENT,
    "unauthorized_client": _CLIENT,
    "unsupported_response_type": _CLIENT,
}


@dataclass(frozen=True, slots=True)
class ProviderError:
    """A provider's error, by its code, and what it says about it."""

    code: str
    description: str = ""

    @property
    def is_temporary(self) -> bool:
        return _WORDS.get(self.code) == _AGAIN

    def problem(self, provider: str) -> Problem:
        """Return the refusal, in words that name the ``provider``."""
        said = f"{self.code}: {self.description}" if self.description else self.code
        template = _WORDS.get(self.code, _OTHER)
        return Problem("INVALID", template, "error", values={"provider": provider, "error": said})


def read_provider_error(code: str | None, description: str | None) -> ProviderError | None:
    """Read the parameters ``error`` and ``error_description``; ``None`` without an error."""
    if not code:
        return None
    return ProviderError(_line(code), _line(description or ""))


def _line(said: str) -> str:
    """Return ``said`` as one line of limited length that can be stored."""
    line = " ".join(said[: 2 * MAX_ERROR_LENGTH].split())
    shown = "".join(mark for mark in line if mark.isprintable() and is_storable(mark))
    return shown if len(shown) <= MAX_ERROR_LENGTH else f"{shown[: MAX_ERROR_LENGTH - 1]}…"
