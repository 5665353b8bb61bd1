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
    """What the provider knows this service as; without a secret it is a public client."""

    token_url: str
    client_id: str
    client_secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SignIn:
    """A sign-in to begin: where to, what for, and what makes it this one alone."""

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
    """What the token endpoint gave; empty or ``None`` for what it did not."""

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
    """Every method that calls raises ``CallFailed`` when there is no answer that can be used.

    None may be called inside a transaction.
    """

    def authorization_url(self, sign_in: SignIn) -> str:
        """Where the client sends its user: authorization code with PKCE S256. Calls nobody."""

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
        """``token`` after its signature. Calls nobody, and looks at no claim.

        Raises ``TokenRejected``: UNDECODABLE, ALGORITHM, INVALID for a header that demands what
        nobody understands, SIGNATURE when no fitting key of ``keys`` verifies it.
        """

    def fetch_person(self, url: str, access_token: str) -> Mapping[str, object]:
        """What the user-info endpoint tells about the bearer of ``access_token``.

        Raises ``ProviderTokenRejected`` when the provider refuses the token.
        """

    def discover(self, issuer: str) -> Mapping[str, object]:
        """The provider's own description of itself (OpenID Connect Discovery)."""
