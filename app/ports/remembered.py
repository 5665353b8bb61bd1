"""What one process remembers between requests; the store stays the truth."""

from collections import OrderedDict
from dataclasses import dataclass, field
from math import inf
from threading import Lock
from typing import Generic, TypeVar

from app.domain.keys import Ring
from app.domain.tokens import Claims
from app.ports.keys import KeyPair

Key = TypeVar("Key")
Value = TypeVar("Value")


class Memory(Generic[Key, Value]):
    """A bounded map that forgets what was written longest ago; safe among threads.

    Reads take no lock: they sit on the hot path, and a dictionary's own read is atomic.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._items: OrderedDict[Key, Value] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        return self._items.get(key)

    def put(self, key: Key, value: Value) -> None:
        with self._lock:
            self._items[key] = value
            while len(self._items) > self._size:
                self._items.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._items.clear()

    def __len__(self) -> int:
        return len(self._items)


@dataclass(frozen=True, slots=True)
class KnownRing:
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


@dataclass(slots=True)
class Remembered:
    """``ring`` is the key ring as last read; ``verified`` is kept by a token's SHA-256.

    Only good signatures are remembered; whoever reads them checks times, session and ring version
    again. ``verified`` is cleared whenever the ring changes. Who holds ``ring_lock`` reads the
    ring anew, once for all threads that wait for it.
    """

    ring: KnownRing | None = None
    ring_lock: Lock = field(default_factory=Lock, repr=False)
    verified: Memory[bytes, VerifiedToken] = field(default_factory=lambda: Memory(10_000))
