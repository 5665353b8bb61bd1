"""What one process remembers of identity providers; they and the store stay the truth."""

from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock

from app.domain.errors import TokenFault
from app.domain.providers import Provider
from app.domain.scopes import ScopeGrant
from app.ports.identity_provider import ProviderKey
from app.ports.memory import Memory

MOST_CALLS = 2
"""Calls to providers that a process makes at once: some threads are always free of them."""


@dataclass(frozen=True, slots=True)
class KnownProviders:
    """Every provider as the settings were at ``version``."""

    version: int
    providers: tuple[Provider, ...]


@dataclass(frozen=True, slots=True)
class SeenToken:
    """A provider's token that was good by the settings at ``version``: whose, and until when.

    ``issuer`` and ``subject`` are those of the identity with the key ``identity_id``.
    ``issued`` is the latest moment at which it can have been issued; times are Unix seconds.
    ``grant`` is ``None`` where rights are kept here.
    """

    identity_id: int
    issuer: str
    subject: str
    grant: ScopeGrant | None
    issued: float
    expires: float
    version: int


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """A provider's keys, and when they were fetched (Unix seconds)."""

    keys: tuple[ProviderKey, ...]
    fetched: float

    def has(self, kid: str | None) -> bool:
        """Whether one of them may be the key of that name."""
        return kid is None or any(key.kid in (None, kid) for key in self.keys)


@dataclass(frozen=True, slots=True)
class RefusedToken:
    """A token that its provider refused; by those settings it is not asked before ``until``."""

    fault: TokenFault
    until: float
    version: int


@dataclass(slots=True)
class ProviderMemory:
    """``tokens`` and ``refused`` are by a token's SHA-256, ``keys`` by a set's URL.

    ``paused`` tells until when an address that failed is
    left alone. Who holds ``lock`` fetches keys, once for all threads that wait for them.
    """

    known: KnownProviders | None = None
    tokens: Memory[bytes, SeenToken] = field(default_factory=lambda: Memory(10_000))
    refused: Memory[bytes, RefusedToken] = field(default_factory=lambda: Memory(10_000))
    keys: Memory[str, KnownKeys] = field(default_factory=lambda: Memory(100))
    paused: Memory[str, float] = field(default_factory=lambda: Memory(1_000))
    lock: Lock = field(default_factory=Lock, repr=False)
    calls: BoundedSemaphore = field(
        default_factory=lambda: BoundedSemaphore(MOST_CALLS), repr=False
    )
