"""What a call is checked for: its URL and headers, the address it goes to, and its time.

The address is checked after resolution, and the connection pinned to what was checked. A deadline
is for the whole call: a server that sends a byte at a time can't hold a thread for ever.
"""

import io
import logging
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse, parse_headers
from typing import Any
from urllib.parse import urlsplit

import requests
from requests import PreparedRequest
from requests_hardened.ip_filter import InvalidIPAddress, filter_host
from typing_extensions import override
from urllib3 import PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    NewConnectionError,
    PoolError,
    ProtocolError,
    ProxyError,
    SSLError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry, Timeout
from urllib3.util.connection import allowed_gai_family

from app.domain.urls.web_urls import MAX_URL_LENGTH, parse_web_url
from app.domain.values.installation import VERSION
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address
from app.ports.http import CallFailed, CallFault, HttpRequest

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

    def remaining(self) -> float:
        """Return the remaining seconds; raises ``TimeoutError`` if there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds


_deadline: ContextVar[Deadline] = ContextVar("_deadline")


@contextmanager
def connections_within(deadline: Deadline) -> Iterator[None]:
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
        self, method: str, url: str, body: Any = None, headers: Any = None, **options: Any
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
    left, limit = _deadline.get().remaining(), connection.gettimeout()
    if limit is None or not left <= limit <= left + _TOLERANCE:
        connection.settimeout(left)


class _TimedPool(HTTPConnectionPool):
    """Connections of HTTP to one address."""

    ConnectionCls = _TimedConnection


class _TimedSecurePool(HTTPSConnectionPool):
    """Connections of HTTPS to one address."""

    ConnectionCls = _TimedSecureConnection


# A body is read as it comes: a few compressed bytes could become any number of others.
_DEFAULTS = {"accept": ("Accept", "*/*"), "accept-encoding": ("Accept-Encoding", "identity")}

_NAME = re.compile(r"[^:\s][^:\r\n]*")
_VALUE = re.compile(r"(\S[^\r\n]*)?")
_WITHOUT_BODY = ("GET", "HEAD")


class InvalidHeader(ValueError):
    """A header could be read as several."""


@dataclass(frozen=True, slots=True)
class Target:
    """The parts of a URL; ``host`` is without brackets, ``authority`` with the port it names."""

    url: str
    scheme: str
    host: str
    port: int | None
    authority: str
    path: str


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """What is sent to ``target``: ``headers`` are complete, and fit to be written as they are."""

    target: Target
    method: str
    headers: dict[str, str] = field(repr=False)
    body: bytes | None = field(repr=False)


def outgoing(request: HttpRequest) -> OutgoingRequest:
    """Return ``request`` as it is sent.

    Raises ``CallFailed`` for a URL that programs could read differently, and ``InvalidHeader`` for
    a header that could be read as several.
    """
    target = _target(request.url)
    body = request.body or None
    by_name = dict(_DEFAULTS)
    for name, value in request.headers.items():
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise InvalidHeader(name)
        by_name[name.lower()] = (name, value)
    by_name["host"] = ("Host", target.authority)
    by_name["user-agent"] = ("User-Agent", f"Latchkey/{VERSION}")
    if body or request.method not in _WITHOUT_BODY:
        by_name["content-length"] = ("Content-Length", str(len(body or b"")))
    return OutgoingRequest(target, request.method, dict(by_name.values()), body)


@lru_cache(maxsize=1024)
def _target(url: str) -> Target:
    """Return the URL as it is requested; refuses what programs could read differently."""
    if len(url) > MAX_URL_LENGTH:
        raise CallFailed(CallFault.ADDRESS, f"Use at most {MAX_URL_LENGTH} characters.")
    address = parse_web_url(url)
    if address is None:
        raise CallFailed(CallFault.ADDRESS, "Use a full URL: https://id.example.com")
    prepared = PreparedRequest()
    prepared.prepare_url(address.url, None)
    canonical = prepared.url or ""
    parts = urlsplit(canonical)
    return Target(
        url=canonical,
        scheme=parts.scheme.lower(),
        host=parts.hostname or "",
        port=parts.port,
        authority=parts.netloc,
        path=prepared.path_url,
    )


_NO_RETRIES = Retry(0, read=False)

_MAX_ADDRESSES = 4
"""Addresses of one host that are tried: its name server chooses how many there are."""

_STREAM = socket.SOCK_STREAM
_UNCONNECTED = (NewConnectionError, ConnectTimeoutError)

# It warns of every private address, listed or not; what is refused, our own errors tell.
logging.getLogger("requests_hardened.ip_filter").setLevel(logging.ERROR)


def use_timed_pools(manager: PoolManager) -> None:
    """Let the connections of ``manager`` keep to the time of the call they serve."""
    pools: dict[str, Any] = {"http": _TimedPool, "https": _TimedSecurePool}
    manager.pool_classes_by_scheme = pools


def send_by(
    connections: HTTPConnectionPool | PoolManager,
    request: OutgoingRequest,
    url: str,
    timeout: Timeout,
) -> BaseHTTPResponse:
    """Send ``request`` for ``url``, which can be a path; its response's body is still to be read.

    Raises ``requests.ConnectionError``, or of its subclasses ``SSLError`` and ``ProxyError``.
    """
    try:
        return connections.urlopen(
            request.method,
            url,
            body=request.body,
            headers=request.headers,
            redirect=False,
            assert_same_host=False,
            preload_content=False,
            decode_content=False,
            retries=_NO_RETRIES,
            timeout=timeout,
        )
    except (OSError, PoolError, ProtocolError, ProxyError, SSLError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ProxyError):
            raise requests.exceptions.ProxyError(error) from error
        if isinstance(reason, SSLError):
            raise requests.exceptions.SSLError(error) from error
        raise requests.ConnectionError(error) from error


class GuardedConnections:
    """Lets public addresses pass, and of the others those in ``allowed`` networks."""

    def __init__(
        self, *, allowed: Sequence[Network], context: ssl.SSLContext, pool_size: int
    ) -> None:
        self._allowed = tuple(allowed)
        self._manager = PoolManager(pool_size * 4, maxsize=pool_size, ssl_context=context)
        use_timed_pools(self._manager)

    def exchange(
        self, request: OutgoingRequest, *, connect: float, read: float
    ) -> BaseHTTPResponse:
        """Send ``request``; the body of the response is still to be read.

        Every address of the host that can be called is tried in turn, until one takes the
        connection; they share the time for connecting. Raises ``InvalidIPAddress`` if none can be
        called, ``requests.ConnectionError``, or its subclass ``SSLError``, without a response.
        """
        addresses = self._checked_addresses(request.target.host, request.target.port)
        *others, last = addresses
        timeout = Timeout(connect=connect / len(addresses), read=read)
        for address in others:
            try:
                return self._exchange(request, address, timeout)
            except requests.ConnectionError as error:
                if not _is_unconnected(error):
                    raise
        return self._exchange(request, last, timeout)

    def _exchange(
        self, request: OutgoingRequest, address: str, timeout: Timeout
    ) -> BaseHTTPResponse:
        target = request.target
        tls = {}
        if target.scheme == "https":
            # The certificate is checked for the name, though the connection is to an IP address.
            tls = {"assert_hostname": target.host, "server_hostname": target.host}
        connections = self._manager.connection_from_host(address, target.port, target.scheme, tls)
        return send_by(connections, request, target.path, timeout)

    def _checked_addresses(self, host: str, port: int | None) -> list[str]:
        """Resolve ``host``; raises ``InvalidIPAddress`` if no address of it can be called."""
        callable_, refused = [], None
        for address in _resolved(host, port):
            try:
                callable_.append(self._checked_address(address, port))
            except InvalidIPAddress as error:
                refused = error
        if not callable_:
            raise refused or requests.ConnectionError("Failed to resolve domain")
        return callable_

    def _checked_address(self, host: str, port: int | None) -> str:
        """Check an IP address; raises ``InvalidIPAddress`` for one that can't be called."""
        try:
            found: str = filter_host(host, port, allow_loopback=False)
        except InvalidIPAddress as refused:
            address: Address = refused.args[0]
            if not self._lists(address):
                raise
            return f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 - IPv6
        pinned = parse_address(found)
        if pinned is None or not (is_public(pinned) or self._lists(pinned)):
            raise InvalidIPAddress(pinned)
        return found

    def _lists(self, address: Address) -> bool:
        return any(address in network for network in self._allowed)


def _resolved(host: str, port: int | None) -> list[str]:
    """Return the first addresses of ``host``, in the order in which they are to be tried."""
    try:
        found = socket.getaddrinfo(host, port, family=allowed_gai_family(), type=_STREAM)
    except OSError as error:
        raise requests.ConnectionError("Failed to resolve domain") from error
    addresses = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found)
    return list(addresses)[:_MAX_ADDRESSES]


def _is_unconnected(error: requests.ConnectionError) -> bool:
    """Whether there was no connection, so that nothing of the request was sent."""
    reasons = (getattr(cause, "reason", cause) for cause in error.args)
    return any(isinstance(reason, _UNCONNECTED) for reason in reasons)
