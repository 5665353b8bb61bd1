"""Deadlines for whole calls: a server that sends a byte at a time can't hold a thread for ever."""

import io
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, parse_headers
from typing import Any

from typing_extensions import override
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

_RECORD = 16 * 1024
"""Bytes that TLS sends in one piece, and so within one time limit of the socket."""

_MAX_INTERIM = 100
"""Interim responses before the final one; a server could send them without end."""

_FINAL = (HTTPStatus.SWITCHING_PROTOCOLS,)
"""What no request here asks for, and after which the connection isn't HTTP any more."""

_TOLERANCE = 0.05
"""Seconds by which a limit of the socket can be longer than what is left of the call."""


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
        _limit(self._connection)
        return self._raw.readinto(buffer)

    @override
    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response behind any interim ones, which are skipped (RFC 9110, 15.2)."""

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

    def _read_status(self) -> tuple[str, int, str]:
        for _ in range(_MAX_INTERIM + 1):
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if not HTTPStatus.CONTINUE <= status < HTTPStatus.OK or status in _FINAL:
                return version, status, reason
            parse_headers(self.fp)
        raise HTTPException("too many interim responses")


class _TimedConnection(HTTPConnection):
    """A connection that keeps to the time of the call it serves, and sends it in one piece.

    A request's headers must have been checked, and say how long its body is.
    """

    response_class = _TimedResponse
    _body = b""

    @override
    def request(
        self,
        method: str,
        url: str,
        body: Any = None,
        headers: Any = None,
        **options: Any,
    ) -> None:
        self._body = body or b""
        super().request(method, url, None, headers, **options)

    @override
    def putheader(self, header: Any, *values: Any) -> None:
        # Without the library's checks of each header, which take as long as the rest of sending.
        output: Callable[[bytes], None] = self._output  # type: ignore[attr-defined]
        output(header.encode("ascii") + b": " + ", ".join(values).encode("latin-1"))

    @override
    def send(self, data: Any) -> None:
        # The first piece is the head: its body goes with it, in one packet if they fit.
        data, self._body = data + self._body, b""
        for start in range(0, len(data), _RECORD):
            if self.sock is not None:
                _limit(self.sock)
            super().send(data[start : start + _RECORD])


class _TimedSecureConnection(_TimedConnection, HTTPSConnection):
    """The same over TLS."""


def _limit(connection: socket.socket) -> None:
    """Let ``connection`` wait for no longer than what is left of the call.

    Each change of a limit is a system call, so a limit that is hardly longer stays.
    """
    left, limit = _deadline.get().left(), connection.gettimeout()
    if limit is None or not left <= limit <= left + _TOLERANCE:
        connection.settimeout(left)


class TimedPool(HTTPConnectionPool):
    """Connections of HTTP to one address."""

    ConnectionCls = _TimedConnection


class TimedSecurePool(HTTPSConnectionPool):
    """Connections of HTTPS to one address."""

    ConnectionCls = _TimedSecureConnection
