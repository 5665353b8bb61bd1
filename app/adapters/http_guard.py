"""Where a call may go: the address is checked after resolution, and pinned to what was checked."""

import logging
import ssl
from collections.abc import Sequence
from typing import Any

import requests
from requests import PreparedRequest
from requests.adapters import HTTPAdapter
from requests_hardened.ip_filter import InvalidIPAddress
from requests_hardened.ip_filter_adapter import IPFilterAdapter
from typing_extensions import override
from urllib3.exceptions import PoolError, ProtocolError, SSLError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout

from app.adapters.http_timeouts import TimedPool, TimedSecurePool
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address

# It warns of every private address, listed or not; what is refused, our own errors tell.
logging.getLogger("requests_hardened.ip_filter").setLevel(logging.ERROR)


class GuardedAdapter(IPFilterAdapter):  # type: ignore[misc] # it has no types
    """Lets public addresses pass, and of the others those in ``allowed`` networks."""

    def __init__(
        self,
        *,
        scheme: str,
        allowed: Sequence[Network],
        context: ssl.SSLContext,
        pool_size: int,
    ) -> None:
        self._allowed = tuple(allowed)
        self._context = context
        super().__init__(is_https_proto=scheme == "https")
        self.init_poolmanager(pool_size * 4, pool_size)

    @override
    def init_poolmanager(
        self, connections: int, maxsize: int, block: bool = False, **pool_kwargs: Any
    ) -> None:
        super().init_poolmanager(connections, maxsize, block=block, **pool_kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": TimedPool, "https": TimedSecurePool}

    def exchange(self, request: PreparedRequest, *, timeout: Timeout) -> BaseHTTPResponse:
        """Send without proxies, cookies and checks of the parent's types.

        Raises what the parent raises without a response; the body is still to be read.
        """
        host, pool = self.build_connection_pool_key_attributes(request, verify=True)
        pool["ssl_context"] = self._context  # read once, for all connections
        connections: Any = self.poolmanager.connection_from_host(**host, pool_kwargs=pool)
        try:
            response: BaseHTTPResponse = connections.urlopen(
                method=request.method,
                url=request.path_url,
                body=request.body,
                headers=request.headers,
                redirect=False,
                assert_same_host=False,
                preload_content=False,
                decode_content=False,
                retries=self.max_retries,
                timeout=timeout,
            )
        except (OSError, PoolError, ProtocolError, SSLError) as error:
            if isinstance(getattr(error, "reason", error), SSLError):
                raise requests.exceptions.SSLError(error) from error
            raise requests.ConnectionError(error) from error
        return response

    @override
    def build_connection_pool_key_attributes(
        self, request: PreparedRequest, verify: bool | str, cert: Any = None
    ) -> Any:
        try:
            host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        except InvalidIPAddress as refused:
            address: Address = refused.args[0]
            if not self._lists(address):
                raise
            # As the parent does it, which has already named the host in the request's headers.
            parent: Any = HTTPAdapter.build_connection_pool_key_attributes
            host, pool = parent(self, request, verify, cert)
            if host["scheme"] == "https":
                pool |= {"assert_hostname": host["host"], "server_hostname": host["host"]}
            host["host"] = f"[{address}]" if address.version == 6 else str(address)  # noqa: PLR2004 - IPv6
            return host, pool
        pinned = parse_address(host["host"])
        if pinned is None or not (is_public(pinned) or self._lists(pinned)):
            raise InvalidIPAddress(pinned)
        return host, pool

    def _lists(self, address: Address) -> bool:
        return any(address in network for network in self._allowed)
