"""Deadlines for whole calls: a server that sends a byte at a time can't hold a thread for ever."""

import io
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http.client import HTTPResponse
from typing import Any

from typing_extensions import override
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_RECORD = 16 * 1024
"""Bytes that TLS sends in one piece, and so within one time limit of the socket."""


class Deadline:
    """The seconds that are left of one call."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Return the remaining seconds; raises ``TimeoutError`` if there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


_deadline: ContextVar[Deadline] = ContextVar("_deadline")


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Whatever connections of this module read or write in the block, they do in that time."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


class _TimedReader(io.RawIOBase):
    """Reads from a connection, each time for no longer than what is left of the call."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._raw = connection.makefile("rb", buffering=0)

    @override
    def readable(self) -> bool:
        return True

    @override
    def readinto(self, buffer: Any, /) -> int | None:
        self._connection.settimeout(_deadline.get().left())
        return self._raw.readinto(buffer)

    @override
    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    def __init__(
        self,
        sock: socket.socket,
        debuglevel: int = 0,
        method: str | None = None,
        url: str | None = None,
    ) -> None:
        super().__init__(sock, debuglevel, method, url)
        self.fp.close()
        self.fp = io.BufferedReader(_TimedReader(sock))


class _TimedConnection(HTTPConnection):
    """A connection that keeps to the time of the call it serves."""

    response_class = _TimedResponse

    @override
    def send(self, data: Any) -> None:
        for piece in _pieces(self.sock, data):
            super().send(piece)


class _TimedSecureConnection(HTTPSConnection):
    """The same over TLS."""

    response_class = _TimedResponse

    @override
    def send(self, data: Any) -> None:
        for piece in _pieces(self.sock, data):
            super().send(piece)


def _pieces(connection: socket.socket | None, data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _RECORD):
        if connection is not None:
            connection.settimeout(_deadline.get().left())
        yield data[start : start + _RECORD]


class TimedPool(HTTPConnectionPool):
    """Connections of HTTP to one address."""

    ConnectionCls = _TimedConnection


class TimedSecurePool(HTTPSConnectionPool):
    """Connections of HTTPS to one address."""

    ConnectionCls = _TimedSecureConnection
