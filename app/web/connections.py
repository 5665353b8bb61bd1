"""A watch on a server process's connections: how many a client has, and whether it reads.

granian has neither limit and doesn't expose its sockets. So this reads the process's own sockets
from Linux and shuts down those that exceed a limit; granian then drops them.
Elsewhere than on Linux, and without ``/proc``, there is no watch.
"""

import fcntl
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from termios import TIOCOUTQ
from threading import Event, Thread

import structlog

from app.web.installation import NO_CONNECTION_LIMITS, ConnectionLimits

_FDS = Path("/proc/self/fd")
_TICK_SECONDS = 1.0
_BUSY_TICK_SECONDS = 0.2
_BUSY = 1_000
"""With so many connections, a flood shows before it has all of them."""

_MIN_READ = 4096
"""Bytes of a response that a client has to read within the deadline."""

_ACKNOWLEDGED = struct.Struct("=Q")
_ACKNOWLEDGED_AT = 120
"""Where ``struct tcp_info`` has ``tcpi_bytes_acked`` (linux/tcp.h)."""

_NO_WAIT = struct.pack("ii", 1, 0)
_LOG_SECONDS = 60.0

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Connection:
    """An accepted connection from ``address``; ``seen`` orders them by age.

    ``client`` is empty for an address that many share: it has any number of connections.
    ``unread_since`` is since when less than ``_MIN_READ`` was read of what waits, ``read`` what
    had been read until then.
    """

    inode: int
    address: str
    client: str
    seen: int
    unread_since: float | None = None
    read: int = 0


class ConnectionWatch:
    """Looks at all connections of this process again and again, in a thread."""

    def __init__(self, limits: ConnectionLimits, fds: Path = _FDS) -> None:
        self._limits = limits
        self._fds = fds
        self._connections: dict[int, _Connection] = {}
        self._others: dict[int, int] = {}
        self._ports: frozenset[int] = frozenset()
        self._seen = 0
        self._logged = -_LOG_SECONDS
        self._ended = Event()

    def start(self) -> None:
        if sys.platform != "linux" or self._limits == NO_CONNECTION_LIMITS:
            return
        if not self._fds.is_dir():
            _log.warning("server.connections_unwatched", hint="/proc isn't mounted.")
            return
        Thread(target=self._run, name="connections", daemon=True).start()

    def stop(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(
            _BUSY_TICK_SECONDS if len(self._connections) > _BUSY else _TICK_SECONDS
        ):
            try:
                self.look(time.monotonic())
            except Exception:  # noqa: BLE001 - whatever it is, the watch goes on
                _log.exception("server.connections.fault")

    def look(self, now: float) -> None:
        """Look once, and end the connections that exceed a limit."""
        self._find()
        ending = {
            fd for fd, known in self._connections.items() if self._is_stalled(fd, known, now)
        }
        self._end(ending, now, "unread")
        self._end(set(self._too_many()), now, "too many")

    def _find(self) -> None:
        """Record new connections, and forget closed ones."""
        open_fds = {}
        for name in os.listdir(self._fds):  # noqa: PTH208 - called every second
            with suppress(OSError):
                status = os.fstat(int(name))
                if stat.S_ISSOCK(status.st_mode):
                    open_fds[int(name)] = status.st_ino
        for fd in [
            fd for fd, known in self._connections.items() if open_fds.get(fd) != known.inode
        ]:
            del self._connections[fd]
        self._others = {fd: ino for fd, ino in self._others.items() if open_fds.get(fd) == ino}
        fresh = [fd for fd in open_fds if fd not in self._connections and fd not in self._others]
        sockets = {fd: made for fd in fresh if (made := _copy(fd, open_fds[fd])) is not None}
        self._ports |= {
            port for made in sockets.values() if (port := _listening_port(made)) is not None
        }
        for fd, made in sockets.items():
            with made:
                connection = self._connection(made, open_fds[fd])
            if connection is None:
                self._others[fd] = open_fds[fd]
            else:
                self._connections[fd] = connection

    def _connection(self, made: socket.socket, inode: int) -> _Connection | None:
        """Return the connection of that socket; none for another kind of socket."""
        try:
            if made.getsockname()[1] not in self._ports:
                return None
            address = made.getpeername()[0]
        except (OSError, IndexError, TypeError):
            return None
        self._seen += 1
        return _Connection(inode, address, self._limits.client_of(address), self._seen)

    def _is_stalled(self, fd: int, known: _Connection, now: float) -> bool:
        """Whether the client has read too little of its response for too long."""
        if not _waits(fd) or not _counts_acknowledged():
            known.unread_since = None
            return False
        made = _copy(fd, known.inode)
        if made is None:
            return False
        with made:
            read = _acknowledged(made)
        if known.unread_since is None or read - known.read >= _MIN_READ:
            known.unread_since, known.read = now, read
        return now - known.unread_since >= self._limits.read_seconds

    def _too_many(self) -> Iterator[int]:
        """Yield the newest connections of each client that has more than its number."""
        most = self._limits.per_client
        if not most:
            return
        by_client: dict[str, list[tuple[int, int]]] = {}
        for fd, known in self._connections.items():
            if known.client:
                by_client.setdefault(known.client, []).append((known.seen, fd))
        for connections in by_client.values():
            if len(connections) > most:
                yield from (fd for _, fd in sorted(connections)[most:])

    def _end(self, fds: set[int], now: float, reason: str) -> None:
        addresses = set()
        for fd in fds:
            known = self._connections.pop(fd)
            self._others[fd] = known.inode
            addresses.add(known.address)
            made = _copy(fd, known.inode)
            if made is not None:
                with made, suppress(OSError):
                    # What waits to be sent is dropped, not kept by the system for minutes.
                    made.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_WAIT)
                    made.shutdown(socket.SHUT_RDWR)
        if fds and now - self._logged >= _LOG_SECONDS:
            self._logged = now
            _log.warning(
                "server.connections_ended",
                reason=reason,
                count=len(fds),
                addresses=sorted(addresses)[:5],
                hint="List reverse proxies in TRUSTED_PROXIES.",
            )


def _copy(fd: int, inode: int) -> socket.socket | None:
    """Return another handle of a socket, none if it has been closed since."""
    try:
        copied = os.dup(fd)
    except OSError:
        return None
    if os.fstat(copied).st_ino != inode:
        os.close(copied)
        return None
    try:
        return socket.socket(fileno=copied)
    except OSError:
        os.close(copied)
        return None


def _listening_port(made: socket.socket) -> int | None:
    """Return the port that a socket listens on, none for other sockets."""
    try:
        if made.family not in (socket.AF_INET, socket.AF_INET6):
            return None
        listens = made.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        port: int = made.getsockname()[1]
    except OSError:
        return None
    return port if listens else None


def _waits(fd: int) -> bool:
    """Whether something was sent that the client hasn't received yet."""
    try:
        (size,) = struct.unpack("i", fcntl.ioctl(fd, TIOCOUTQ, bytes(4)))
    except OSError:
        return False
    return bool(size)


@cache
def _counts_acknowledged() -> bool:
    """Whether this system counts what a peer has received; sandboxes such as gVisor don't.

    Without it, a slow download can't be told from a client that reads nothing.
    """
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            socket.create_connection(listener.getsockname()) as client,
        ):
            return _acknowledged(client) > 0  # the connection's first packet counts
    except OSError:
        return False


def _acknowledged(made: socket.socket) -> int:
    """Return how many bytes the client has received."""
    try:
        facts = made.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        (received,) = _ACKNOWLEDGED.unpack_from(facts, _ACKNOWLEDGED_AT)
    except (OSError, struct.error):
        return 0
    return int(received)
