"""Bodies on their way in: within deadlines, and within a bound for all of them together."""

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Lock
from typing import Any

from werkzeug.exceptions import RequestEntityTooLarge

from app.web.rsgi import Exchange

SMALL_BODY = 64 * 1024
LARGE_BODIES = 256 * 1024 * 1024
"""What all bodies over ``SMALL_BODY`` may take of a process's memory together."""

_DISCARDED_MOST = 16 * 1024 * 1024
"""How much of a refused body is read and thrown away, so that its sender sees the answer."""


class Refused(Exception):
    """A body that is not read on; ``status`` is the answer."""

    def __init__(self, status: HTTPStatus, *headers: tuple[str, str]) -> None:
        super().__init__(status.phrase)
        self.status = status
        self.headers = headers


class TooLarge:
    """Stands for a body over the limit: the application gets 413 as soon as it reads."""

    def read(self, size: int = -1) -> bytes:
        raise RequestEntityTooLarge

    readline = readlines = read


class Room:
    """Memory for the large bodies of a process; small ones are bounded by their connections."""

    def __init__(self, most: int) -> None:
        self._free = most
        self._lock = Lock()

    def take(self, size: int) -> None:
        with self._lock:
            if size > self._free:
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, ("Retry-After", "5"))
            self._free -= size

    def give_back(self, size: int) -> None:
        with self._lock:
            self._free += size


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that a whole body may take to arrive, and that may pass without any of it."""

    whole: float = 30.0
    silence: float = 5.0


DEADLINES = Deadlines()


@dataclass(slots=True, eq=False)
class Incoming:
    """A body on its way; ``announced`` is ``None`` for one in chunks."""

    exchange: Exchange
    announced: int | None
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    size: int = 0
    taken: int = 0
    pending: Any = None

    async def chunk(self) -> bytes:
        """What has come since; empty at the end. Raises ``Refused`` when the time is up."""
        if self.announced is not None and self.size >= self.announced:
            return b""
        try:
            self.pending = self.exchange.__anext__()
            chunk: bytes = await self.pending
        except StopAsyncIteration:
            return b""
        except asyncio.CancelledError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
        self.heard = time.monotonic()
        self.size += len(chunk)
        return chunk

    def end_if_late(self, now: float, deadlines: Deadlines) -> None:
        """Called in another thread than ``chunk``; cancelling does nothing to what has come."""
        late = now - self.began > deadlines.whole or now - self.heard > deadlines.silence
        if late and self.pending is not None:
            self.pending.cancel()


async def discard(incoming: Incoming) -> None:
    """Read on for a while: a connection closed at once is reset, and the answer lost with it."""
    most = incoming.size + _DISCARDED_MOST
    incoming.began = incoming.heard = time.monotonic()
    with suppress(Refused):
        while incoming.size < most and await incoming.chunk():
            pass
