"""What one process keeps of earlier requests: bounded in number and in size."""

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Forgets what was used longest ago; safe among threads.

    ``size`` is the sum of what the callers say that their values take, in bytes. A value that
    takes more than a tenth of it is not kept: it would push too many others out. ``hits`` counts
    what was found.
    """

    def __init__(self, *, entries: int, size: int) -> None:
        self.hits = 0
        self._entries = entries
        self._size = size
        self._used = 0
        self._items: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._items.get(key)
            if found is None:
                return None
            self.hits += 1
            self._items.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        if size * 10 > self._size:
            return
        with self._lock:
            replaced = self._items.pop(key, None)
            self._used += size - (replaced[1] if replaced else 0)
            self._items[key] = value, size
            while len(self._items) > self._entries or self._used > self._size:
                self._used -= self._items.popitem(last=False)[1][1]

    @property
    def used(self) -> int:
        """What the values take together, in bytes."""
        return self._used

    def __len__(self) -> int:
        return len(self._items)
