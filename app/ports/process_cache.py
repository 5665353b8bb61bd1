"""What one process caches between requests; the database and providers are authoritative."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from threading import Lock
from typing import Generic, TypeVar

from cachetools import FIFOCache

from app.domain.authorization.actor import AppClient
from app.domain.authorization.permissions import ScopeGrant
from app.domain.keys import Ring
from app.domain.sign_in.sign_in_log import SignInRefusal
from app.domain.sign_in.tokens import Claims
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenFault
from app.domain.values.installation import Hold
from app.ports.bounded_lane import Lane
from app.ports.identity_provider import ProviderKey
from app.ports.keys import KeyPair

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """A thread-safe map of at most ``size`` entries that drops the entry written longest ago.

    Reads take no lock because they are on the hot path: a read of ``FIFOCache`` changes nothing
    and is a read of one dictionary.
    """

    def __init__(self, size: int) -> None:
        self._items: FIFOCache[Key, Value] = FIFOCache(size)
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        # Not the cache's own get: it looks twice, and a writer can drop the entry in between.
        try:
            return self._items[key]
        except KeyError:
            return None

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._items[key] = value

    def clear(self) -> None:
        with self._lock:
            self._items.clear()

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, slots=True)
class FailedComparisons:
    """The imported tokens that a bearer isn't, by key; known ``until`` then, in Unix seconds."""

    token_ids: frozenset[int]
    until: float


@dataclass(slots=True)
class ImportedTokenCache:
    """``failed`` is keyed by a bearer's SHA-256; ``lane`` is for requests that compare one.

    An app's first requests, about six, come together and with the same new token: the first of
    them compares it, the others wait for the result.
    """

    failed: BoundedCache[bytes, FailedComparisons] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    lane: Lane = field(default_factory=lambda: Lane(calls=1, waiting=5), repr=False)


class CallPurpose(StrEnum):
    """The purposes of calls to a provider; each has its own lane."""

    VERIFIED = "verified"
    """A person whose token was verified by the provider's or Latchkey's keys, or staff."""
    SIGN_IN = "sign-in"
    """A person who returns from the provider's login with a code."""
    UNKNOWN = "unknown"
    """A caller with a token that only the provider can verify."""


class KeyLanes:
    """A lane for each key set's URL: one thread fetches it for all that wait."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}
        self._lock = Lock()

    def lane_of(self, url: str) -> Lane:
        with self._lock:
            return self._lanes.setdefault(url, Lane(calls=1, waiting=6))


def _lanes() -> Mapping[CallPurpose, Lane]:
    """Return the lanes; unverified callers leave some of a process's threads free.

    A browser's first requests, about six, come together and with the same new token.
    """
    return {
        CallPurpose.VERIFIED: Lane(calls=3, waiting=6),
        CallPurpose.SIGN_IN: Lane(calls=2, waiting=3),
        CallPurpose.UNKNOWN: Lane(calls=2, waiting=6),
    }


@dataclass(frozen=True, slots=True)
class CachedProviders:
    """Every provider as the settings were at ``version``."""

    version: int
    providers: tuple[Provider, ...]


@dataclass(frozen=True, slots=True)
class CachedProviderToken:
    """A provider's token that was good by the settings at ``version``: whose, and until when.

    ``issuer`` and ``subject`` are those of the identity with the key ``identity_id``.
    ``issued`` is the latest moment at which it can have been issued, ``not_before`` the first at
    which it is good; times are Unix seconds.
    ``grant`` is ``None`` where rights are kept here. ``amr`` are the authentication methods, if
    the provider says that a second factor was used. ``waiting_changes`` are those of the provider,
    ``provider`` is its name.
    """

    identity_id: int
    issuer: str
    subject: str
    grant: ScopeGrant | None
    issued: float
    expires: float
    version: int
    not_before: float = 0.0
    amr: tuple[str, ...] = ()
    waiting_changes: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class CachedClientToken:
    """A token of a linked client that was good by the settings that ``client`` names.

    Times are Unix seconds, ``provider`` is the provider's name.
    """

    client: AppClient
    expires: float
    not_before: float
    provider: str

    @property
    def version(self) -> int:
        return self.client.version


@dataclass(frozen=True, slots=True)
class CachedProviderKeys:
    """A provider's keys, and when they were fetched (Unix seconds)."""

    keys: tuple[ProviderKey, ...]
    fetched: float

    def has(self, kid: str | None) -> bool:
        """Whether one of them may be the key of that name."""
        return kid is None or any(key.kid in (None, kid) for key in self.keys)


@dataclass(frozen=True, slots=True)
class CachedRefusal:
    """A token that its provider refused, or gave no usable answer about.

    By those settings the provider is not asked about it again before ``until``. ``refusal`` is the
    sign-in log's entry, without an address.
    """

    fault: TokenFault
    until: float
    version: int
    refusal: SignInRefusal


@dataclass(slots=True)
class ProviderCache:
    """``tokens`` and ``refused`` are keyed by a token's SHA-256, ``keys`` by a set's URL.

    ``failures`` counts consecutive failures by URL, ``paused`` is until when a URL isn't called.
    """

    known: CachedProviders | None = None
    tokens: BoundedCache[bytes, CachedProviderToken | CachedClientToken] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    refused: BoundedCache[bytes, CachedRefusal] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    keys: BoundedCache[str, CachedProviderKeys] = field(default_factory=lambda: BoundedCache(100))
    paused: BoundedCache[str, float] = field(default_factory=lambda: BoundedCache(1_000))
    failures: BoundedCache[str, int] = field(default_factory=lambda: BoundedCache(1_000))
    lanes: Mapping[CallPurpose, Lane] = field(default_factory=_lanes, repr=False)
    key_lanes: KeyLanes = field(default_factory=KeyLanes, repr=False)


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
    webhooks, by key and SHA-256 of the body. ``hold`` is why this process sends
    nothing. The holder of ``ring_lock`` reads the ring, once for all waiting threads.
    """

    ring: CachedKeyRing | None = None
    ring_lock: Lock = field(default_factory=Lock, repr=False)
    verified: BoundedCache[bytes, VerifiedToken] = field(
        default_factory=lambda: BoundedCache(10_000)
    )
    signatures: BoundedCache[tuple[str, bytes], str] = field(
        default_factory=lambda: BoundedCache(2_000)
    )
    hold: Hold | None = None
    imported_cost: ImportedCost | None = None
    providers: ProviderCache = field(default_factory=ProviderCache)
    imported_tokens: ImportedTokenCache = field(default_factory=ImportedTokenCache)
