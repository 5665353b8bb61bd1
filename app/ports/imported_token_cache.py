"""One process's cache of bearers that were compared with imported app tokens, in vain."""

from dataclasses import dataclass, field

from app.ports.bounded_cache import BoundedCache
from app.ports.bounded_lane import Lane


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
