"""A bounded number of turns at once, and a bounded queue for them."""

import time
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
        self._moved = time.monotonic()

    @property
    def seconds_since_turn(self) -> float:
        """Return how long ago the last turn began or ended."""
        return time.monotonic() - self._moved

    @property
    def occupied(self) -> int:
        """How many have a turn or wait for one."""
        with self._lock:
            return self._calls - self._free + len(self._queue)

    def enter(self, seconds: float, at_most: float | None = None) -> bool:
        """Whether there was a turn within that time; it ends with ``leave``.

        With ``at_most``, ``seconds`` count from the last turn that began or ended: who waits in a
        queue that moves waits on, for no longer than ``at_most``.
        """
        with self._lock:
            if self._free:
                self._free -= 1
                self._moved = time.monotonic()
                return True
            is_full = self._places is not None and len(self._queue) >= self._places
            if seconds <= 0 or is_full:
                return False
            turn = Lock()
            turn.acquire()
            self._queue.append(turn)
        until = time.monotonic() + (seconds if at_most is None else at_most)
        while True:
            left = until - time.monotonic()
            if turn.acquire(timeout=max(0.0, min(seconds, left))):
                return True
            with self._lock:
                if turn not in self._queue:
                    return True  # its turn came in the last moment
                if left <= seconds or self.seconds_since_turn >= seconds:
                    self._queue.remove(turn)
                    return False

    def leave(self) -> None:
        """End a turn; any thread can."""
        with self._lock:
            self._moved = time.monotonic()
            if self._queue:
                self._queue.popleft().release()
            else:
                self._free += 1

    @contextmanager
    def turn(self, seconds: float, at_most: float | None = None) -> Iterator[bool]:
        """Whether ``enter`` got a turn; it ends with the block."""
        got = self.enter(seconds, at_most)
        try:
            yield got
        finally:
            if got:
                self.leave()
