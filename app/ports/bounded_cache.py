"""A bounded map for what one process keeps between requests."""

from threading import Lock
from typing import Generic, TypeVar

from cachetools import FIFOCache

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
