"""Where a call may go: the address is checked after resolution, and pinned to what was checked."""

import logging
import socket
import ssl
from collections.abc import Sequence
from typing import Any

import requests
from requests_hardened.ip_filter import InvalidIPAddress, filter_host
from urllib3 import PoolManager
from urllib3.exceptions import (
    ConnectTimeoutError,
    NewConnectionError,
    PoolError,
    ProtocolError,
    SSLError,
)
from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry, Timeout
from urllib3.util.connection import allowed_gai_family

from app.adapters.http_requests import OutgoingRequest
from app.adapters.http_timeouts import TimedPool, TimedSecurePool
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address

NO_RETRIES = Retry(0, read=False)

_MAX_ADDRESSES = 4
"""Addresses of one host that are tried: its name server chooses how many there are."""

_STREAM = socket.SOCK_STREAM
_UNCONNECTED = (NewConnectionError, ConnectTimeoutError)

# It warns of every private address, listed or not; what is refused, our own errors tell.
logging.getLogger("requests_hardened.ip_filter").setLevel(logging.ERROR)


class GuardedConnections:
    """Lets public addresses pass, and of the others those in ``allowed`` networks."""

    def __init__(
        self, *, allowed: Sequence[Network], context: ssl.SSLContext, pool_size: int
    ) -> None:
        self._allowed = tuple(allowed)
        self._manager = PoolManager(pool_size * 4, maxsize=pool_size, ssl_context=context)
        pools: dict[str, Any] = {"http": TimedPool, "https": TimedSecurePool}
        self._manager.pool_classes_by_scheme = pools

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
        try:
            return connections.urlopen(
                request.method,
                target.path,
                body=request.body,
                headers=request.headers,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
                retries=NO_RETRIES,
                timeout=timeout,
            )
        except (OSError, PoolError, ProtocolError, SSLError) as error:
            if isinstance(getattr(error, "reason", error), SSLError):
                raise requests.exceptions.SSLError(error) from error
            raise requests.ConnectionError(error) from error

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
