"""A cache for documents and answers, bounded in number and in bytes."""

from threading import Lock
from typing import Generic, TypeVar

from cachetools import LRUCache

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """A thread-safe cache that drops the entry used longest ago.

    ``size`` bounds the sum of the sizes that callers give their values, in bytes. A value larger
    than a tenth of it is not kept, because it would push too many others out. ``hits`` counts
    successful reads.
    """

    def __init__(self, *, entries: int, size: int) -> None:
        self.hits = 0
        self._entries = entries
        self._largest = size // 10
        self._items: LRUCache[Key, tuple[Value, int]] = LRUCache(size, getsizeof=_size)
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            try:
                value, _ = self._items[key]
            except KeyError:
                return None
            self.hits += 1
            return value

    def put(self, key: Key, value: Value, size: int) -> None:
        if size > self._largest:
            return
        with self._lock:
            self._items[key] = value, size
            if len(self._items) > self._entries:
                self._items.popitem()

    @property
    def used(self) -> int:
        """The sum of the sizes of all values, in bytes."""
        return int(self._items.currsize)

    def __len__(self) -> int:
        return len(self._items)


def _size(item: tuple[object, int]) -> int:
    return item[1]
