"""Bodies on their way out: within a bound for all of them together, in memory and on disk."""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from threading import Lock
from typing import IO

from werkzeug.wsgi import FileWrapper

AT_ONCE = 64 * 1024
"""A response of this size is handed over whole; of a larger one, so much at a time."""

MEMORY = 64 * 1024 * 1024
"""What all responses over ``AT_ONCE`` of a process may take of its memory, until they are read."""

DISK = 256 * 1024 * 1024
"""What they may take of the temporary folder, when the memory is taken or they are too long."""

_IN_MEMORY = 1024 * 1024


class NoRoom(Exception):
    """So many responses wait to be read that there is no room for another one."""


class SentFile(FileWrapper):
    """A file as a response (PEP 3333, ``wsgi.file_wrapper``), sent from where it is."""

    @property
    def path(self) -> str | None:
        """Where it is, if it has a name and is sent whole."""
        name = getattr(self.file, "name", None)
        return name if isinstance(name, str) and self.file.tell() == 0 else None


class Quota:
    """A number of bytes that threads take and give back, for one client no more than a quarter.

    ``client`` is empty for those that many share, such as reverse proxies.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._share = size // 4
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def free(self) -> int:
        return self._free

    def take(self, size: int, client: str = "") -> bool:
        with self._lock:
            has_enough = bool(client) and self._taken[client] + size > self._share
            if has_enough or size > self._free:
                return False
            self._free -= size
            self._taken[client] += size
            return True

    def give_back(self, size: int, client: str = "") -> None:
        with self._lock:
            self._free += size
            self._taken[client] -= size
            if not self._taken[client]:
                del self._taken[client]


class Held:
    """A response's body that is kept until it is sent; closing it gives its room back."""

    def __init__(
        self, source: bytes | IO[bytes], quota: Quota, size: int, client: str = ""
    ) -> None:
        self.size = size
        self._source = source
        self._quota = quota
        self._client = client
        self._taken = size

    def __iter__(self) -> Iterator[bytes]:
        if isinstance(self._source, bytes):
            for start in range(0, len(self._source), AT_ONCE):
                yield self._source[start : start + AT_ONCE]
        else:
            self._source.seek(0)
            while chunk := self._source.read(AT_ONCE):
                yield chunk

    def close(self) -> None:
        if not isinstance(self._source, bytes):
            self._source.close()
        self._source = b""
        taken, self._taken = self._taken, 0
        self._quota.give_back(taken, self._client)


class Outgoing:
    """The room for the bodies of a process's responses."""

    def __init__(self, memory: int = MEMORY, disk: int = DISK) -> None:
        self.memory = Quota(memory)
        self.disk = Quota(disk)

    def hold(self, result: Iterable[bytes], client: str = "") -> bytes | Held:
        """Return a short body as it is, or keep a longer one; raises ``NoRoom``.

        ``client`` is who it is for, as in ``Quota``.
        """
        if isinstance(result, list):
            whole = b"".join(result)
            return whole if len(whole) <= AT_ONCE else self._keep(whole, iter(()), client)
        chunks = iter(result)
        begun = b"".join(_leading_chunks(_IN_MEMORY, chunks))
        following = next(chunks, None)
        if following is None and len(begun) <= AT_ONCE:
            return begun
        more = iter(()) if following is None else chain((following,), chunks)
        return self._keep(begun, more, client)

    def _keep(self, begun: bytes, more: Iterator[bytes], client: str) -> Held:
        following = next(more, None)
        if following is None and self.memory.take(len(begun), client):
            return Held(begun, self.memory, len(begun), client)
        rest = () if following is None else (following,)
        return self._write(chain((begun,), rest, more), client)

    def _write(self, chunks: Iterator[bytes], client: str) -> Held:
        # Without a name: it goes with its last handle, whatever ends the process.
        file = tempfile.TemporaryFile(prefix="latchkey-")  # noqa: SIM115 - closed with Held
        taken = 0
        try:
            for chunk in chunks:
                self._take_disk(len(chunk), client)
                taken += len(chunk)
                file.write(chunk)
            file.flush()
        except BaseException:
            file.close()
            self.disk.give_back(taken, client)
            raise
        return Held(file, self.disk, taken, client)

    def _take_disk(self, size: int, client: str) -> None:
        if not self.disk.take(size, client):
            raise NoRoom


def _leading_chunks(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks until there are ``size`` bytes of them."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size <= 0:
            return
