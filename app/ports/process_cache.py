"""One process's cache between requests; the database is authoritative."""

from dataclasses import dataclass, field
from math import inf
from threading import Lock

from app.domain.keys import Ring
from app.domain.sign_in.tokens import Claims
from app.ports.bounded_cache import BoundedCache
from app.ports.imported_token_cache import ImportedTokenCache
from app.ports.keys import KeyPair
from app.ports.provider_cache import ProviderCache


@dataclass(frozen=True, slots=True)
class CachedKeyRing:
    """The ring at the version it was read, and the pair that signs at that version.

    ``good_until`` (Unix seconds) is when the first of its retired keys verifies no more.
    """

    ring: Ring
    signer: KeyPair
    good_until: float = inf


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """The claims of a token whose signature was good by ``ring``."""

    claims: Claims
    ring: Ring


@dataclass(frozen=True, slots=True)
class ImportedCost:
    """What checking an imported password costs, as read at ``read_at`` (Unix seconds)."""

    seconds: float
    read_at: float


@dataclass(slots=True)
class ProcessCache:
    """``ring`` is the key ring as last read; ``verified`` is keyed by a token's SHA-256.

    Only valid signatures are cached; their readers check times, session and ring version again.
    ``verified`` is cleared whenever the ring changes. ``signatures`` are the detached ones of
    webhooks, by key and SHA-256 of the body. The holder of ``ring_lock`` reads the ring, once for
    all waiting threads.
    """

    ring: CachedKeyRing | None = None
    ring_lock: Lock = field(default_factory=Lock, repr=False)
    verified: BoundedCache[bytes, VerifiedToken] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    signatures: BoundedCache[tuple[str, bytes], str] = field(
        default_factory=lambda: BoundedCache(2_000)
    )
    imported_cost: ImportedCost | None = None
    providers: ProviderCache = field(default_factory=ProviderCache)
    imported_tokens: ImportedTokenCache = field(default_factory=ImportedTokenCache)
