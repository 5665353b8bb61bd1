"""An identity provider as it is spoken to: its login, its tokens, its keys, what it knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.domain.single_sign_on.provider_tokens import SignedToken


@dataclass(frozen=True, slots=True)
class ProviderKey:
    """A public key of a provider's set.

    ``kind`` is ``RSA`` or a curve; ``algorithm`` is empty where the set names none, ``kid``
    ``None`` likewise. ``key`` is the adapter's own.
    """

    kid: str | None
    kind: str
    algorithm: str
    key: object = field(repr=False)


@dataclass(frozen=True, slots=True)
class Client:
    """The client that this service is at a provider; without a secret a public one."""

    token_url: str
    client_id: str
    client_secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in to start: redirect URI, scope, and its unique secrets."""

    authorization_url: str
    client_id: str
    redirect_uri: str
    scope: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    audience: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class TokenResponse:
    """The token endpoint's response; missing values are empty or ``None``."""

    access_token: str = field(repr=False)
    id_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    scope: str | None = None


class GrantRefused(Exception):
    """The provider answered, and said no; ``error`` is its code (RFC 6749, 5.2)."""

    def __init__(self, error: str) -> None:
        super().__init__(f"The identity provider refused: {error}")
        self.error = error


class IdentityProvider(Protocol):
    """Every method that calls raises ``CallFailed`` without a usable response.

    None may be called inside a transaction.
    """

    def authorization_url(self, sign_in: SignIn) -> str:
        """Return the login URL: authorization code with PKCE S256. Makes no call."""

    def exchange(
        self, client: Client, *, code: str, redirect_uri: str, verifier: str
    ) -> TokenResponse:
        """The tokens for a code; raises ``GrantRefused``."""

    def refresh(self, client: Client, refresh_token: str) -> TokenResponse:
        """New tokens, of the scope that was granted before; raises ``GrantRefused``.

        ``refresh_token`` of the answer is the next one, or the same where none replaces it.
        """

    def fetch_keys(self, url: str) -> tuple[ProviderKey, ...]:
        """The keys of a set that may verify signatures; never none."""

    def verify(self, keys: Sequence[ProviderKey], token: str) -> SignedToken:
        """Verify the signature of ``token``; checks no claim and makes no call.

        Raises ``TokenRejected``: UNDECODABLE, ALGORITHM, INVALID for an unknown critical header,
        SIGNATURE when no key of ``keys`` verifies it.
        """

    def fetch_person(self, url: str, access_token: str) -> Mapping[str, object] | str:
        """Return the user-info endpoint's claims about the bearer of ``access_token``.

        A text is a JWT with the claims, whose signature is still to be verified. Raises
        ``ProviderTokenRejected`` when the provider refuses the token.
        """

    def fetch_status(self, url: str) -> int:
        """Return the HTTP status of a page of the provider that browsers open."""

    def discover(self, url: str) -> Mapping[str, object]:
        """The provider's own description of itself (OpenID Connect Discovery) at ``url``."""
