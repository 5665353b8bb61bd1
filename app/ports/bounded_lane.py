"""A bounded number of turns at once, and a bounded queue for them."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock


class Lane:
    """At most so many ``calls`` at a time, and so many threads ``waiting`` for their turn.

    Turns go in order of arrival. ``waiting`` of ``None`` is for lanes whose callers are bounded
    elsewhere.
    """

    def __init__(self, *, calls: int, waiting: int | None) -> None:
        self._free = calls
        self._calls = calls
        self._places = waiting
        self._queue: deque[Lock] = deque()
        self._lock = Lock()

    @property
    def occupied(self) -> int:
        """How many have a turn or wait for one."""
        with self._lock:
            return self._calls - self._free + len(self._queue)

    def enter(self, seconds: float) -> bool:
        """Whether there was a turn within that time; it ends with ``leave``."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            is_full = self._places is not None and len(self._queue) >= self._places
            if seconds <= 0 or is_full:
                return False
            turn = Lock()
            turn.acquire()
            self._queue.append(turn)
        if turn.acquire(timeout=seconds):
            return True
        with self._lock:
            if turn in self._queue:
                self._queue.remove(turn)
                return False
        return True  # its turn came in the last moment

    def leave(self) -> None:
        """End a turn; any thread can."""
        with self._lock:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._free += 1

    @contextmanager
    def turn(self, seconds: float) -> Iterator[bool]:
        """Whether there was a turn within that time; it ends with the block."""
        got = self.enter(seconds)
        try:
            yield got
        finally:
            if got:
                self.leave()
