"""Calls through the operator's HTTP proxy (OUTGOING_PROXY), which resolves names itself.

A proxy can't be told which IP address a name must have, so it has to refuse private networks
itself. What can be checked here is: ``is_direct`` refuses names and IP addresses that are private
for this machine.
"""

import socket
import ssl
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests_hardened.ip_filter import InvalidIPAddress
from urllib3 import ProxyManager
from urllib3.exceptions import PoolError, ProtocolError, ProxyError, SSLError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout, make_headers

from app.adapters.http_guard import NO_RETRIES
from app.adapters.http_requests import OutgoingRequest
from app.adapters.http_timeouts import TimedPool, TimedSecurePool
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address


class ProxyConnections:
    """Sends requests through one proxy."""

    def __init__(self, proxy: str, *, context: ssl.SSLContext, pool_size: int) -> None:
        parts = urlsplit(proxy)
        credentials = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        self._manager = ProxyManager(
            f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}",
            proxy_headers=make_headers(proxy_basic_auth=credentials) if parts.username else None,
            proxy_ssl_context=context,
            ssl_context=context,
            num_pools=pool_size * 4,
            maxsize=pool_size,
        )
        pools: dict[str, Any] = {"http": TimedPool, "https": TimedSecurePool}
        self._manager.pool_classes_by_scheme = pools

    def exchange(
        self, request: OutgoingRequest, *, connect: float, read: float
    ) -> BaseHTTPResponse:
        """Send ``request``; the body of the response is still to be read.

        Raises ``requests.exceptions.ProxyError`` if the proxy didn't connect, and otherwise what
        ``GuardedConnections.exchange`` raises.
        """
        try:
            return self._manager.urlopen(
                request.method,
                request.target.url,
                body=request.body,
                headers=request.headers,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
                retries=NO_RETRIES,
                timeout=Timeout(connect=connect, read=read),
            )
        except (OSError, PoolError, ProtocolError, ProxyError, SSLError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ProxyError):
                raise requests.exceptions.ProxyError(error) from error
            if isinstance(reason, SSLError):
                raise requests.exceptions.SSLError(error) from error
            raise requests.ConnectionError(error) from error


def is_direct(host: str, networks: Sequence[Network]) -> bool:
    """Return whether ``host`` is in one of ``networks``, which are reached without the proxy.

    Raises ``InvalidIPAddress`` for hosts in other private networks. A name that can't be resolved
    here is left to the proxy.
    """
    addresses = _addresses(host)
    listed = [any(address in network for network in networks) for address in addresses]
    if any(listed):
        return True
    for address in addresses:
        if not is_public(address):
            raise InvalidIPAddress(address)
    return False


def _addresses(host: str) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    parsed = (parse_address(str(entry[4][0]).partition("%")[0]) for entry in found)
    return [address for address in parsed if address is not None]
