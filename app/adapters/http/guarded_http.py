"""Calls to other people's servers, on requests-hardened: checked, pinned, limited.

They can go through the operator's HTTP proxy (OUTGOING_PROXY), which resolves names itself.
"""

import socket
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from http.client import BadStatusLine, HTTPException, IncompleteRead
from ssl import SSLCertVerificationError, SSLContext, SSLEOFError, SSLError
from urllib.parse import unquote, urlsplit

import requests
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from requests_hardened.ip_filter import InvalidIPAddress
from urllib3 import ProxyManager
from urllib3.exceptions import ConnectTimeoutError, HTTPError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout, make_headers
from urllib3.util.ssl_match_hostname import CertificateError

from app.adapters.http import guard
from app.adapters.http.tls import TrustedAuthorities
from app.domain.urls.web_urls import ALLOW_HINT
from app.domain.values.ip_addresses import Address, Network, is_public, parse_address
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse


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
        guard.use_timed_pools(self._manager)

    def exchange(
        self, request: guard.OutgoingRequest, *, connect: float, read: float
    ) -> BaseHTTPResponse:
        """Send ``request``; the body of the response is still to be read.

        Raises ``requests.exceptions.ProxyError`` if the proxy didn't connect, and otherwise what
        ``GuardedConnections.exchange`` raises.
        """
        timeout = Timeout(connect=connect, read=read)
        return guard.send_by(self._manager, request, request.target.url, timeout)


def is_direct(host: str, networks: Sequence[Network]) -> bool:
    """Return whether ``host`` is in one of ``networks``, which are reached without the proxy.

    Raises ``InvalidIPAddress`` for hosts in other private networks. A name that can't be resolved
    here is left to the proxy.
    """
    addresses = _addresses(host)
    if any(address in network for address in addresses for network in networks):
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
    parsed = (parse_address(str(entry[4][0])) for entry in found)
    return [address for address in parsed if address is not None]


_POOL_SIZE = 56
"""Connections to one address that are kept: as many as threads make deliveries."""

_USUAL = TrustedAuthorities()
_DEPTH = 6
_RESETS = (ConnectionResetError, BrokenPipeError, SSLEOFError)
_FAULTS = (
    (
        CallFault.INTERRUPTED,
        (IncompleteRead,),
        "{host} closed the connection before the end of its response.",
    ),
    # A connection that ends without a response is one of the protocol's errors, too.
    (CallFault.INTERRUPTED, _RESETS, "{host} closed the connection without a response."),
    (
        CallFault.UNREACHABLE,
        (requests.exceptions.ProxyError,),
        "The proxy set by OUTGOING_PROXY didn't connect to {host}.",
    ),
)
"""What an error is if one of these is among its causes."""

_NO_TLS = frozenset(
    ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
)
"""What OpenSSL says of a server that doesn't answer in TLS."""

_TLS_RECORDS = ("\x15\x03", "\x16\x03")
"""How an alert and a handshake of TLS begin."""

_EXPIRED = 10
"""OpenSSL's number for a certificate that has expired."""


class GuardedHttp:
    """Connects to public addresses, and those in ``allowed`` networks.

    Ignores proxies and ``.netrc`` of the environment: a proxy would resolve the name again, and no
    password is sent implicitly. With ``proxy``, a URL, requests go through it, except those to
    ``direct`` networks.
    """

    def __init__(
        self,
        allowed: Sequence[Network] = (),
        authorities: TrustedAuthorities = _USUAL,
        *,
        proxy: str = "",
        direct: Sequence[Network] = (),
    ) -> None:
        context = _context(authorities)
        self._guarded = guard.GuardedConnections(
            allowed=allowed, context=context, pool_size=_POOL_SIZE
        )
        self._proxy = None
        if proxy:
            self._proxy = ProxyConnections(proxy, context=context, pool_size=_POOL_SIZE)
        self._direct = tuple(direct)

    def send(self, request: HttpRequest) -> HttpResponse:
        deadline = guard.Deadline(request.timeout)
        with _failures(request), guard.connections_within(deadline):
            sent = guard.outgoing(request)
            # Connecting is two steps, each of which may take that long.
            connect, read = deadline.remaining() / 2, deadline.remaining()
            way = self._way_to(sent.target.host)
            response = way.exchange(sent, connect=connect, read=read)
            try:
                return _read(response, request)
            finally:
                # A connection whose answer was read to its end is in the pool already.
                response.close()

    def _way_to(self, host: str) -> guard.GuardedConnections | ProxyConnections:
        if self._proxy is not None and not is_direct(host, self._direct):
            return self._proxy
        return self._guarded


@cache
def _context(authorities: TrustedAuthorities) -> SSLContext:
    """Read the authorities once per process: that takes 16 ms and 700 kB."""
    return authorities.client_context(usual=DEFAULT_CA_BUNDLE_PATH)


def _read(response: BaseHTTPResponse, request: HttpRequest) -> HttpResponse:
    headers = {name.lower(): value for name, value in response.headers.items()}
    if headers.get("content-encoding", "identity").lower() != "identity":
        if request.status_suffices:
            return HttpResponse(response.status, headers)
        raise CallFailed(CallFault.MALFORMED, "The response is compressed, which isn't supported.")
    max_size, body = request.max_size, bytearray()
    # Until there is nothing more: that is when a body which is too short shows.
    while piece := response.read(max_size + 1 - len(body), decode_content=False):
        body += piece
        if response.length_remaining == 0:
            break
    if len(body) > max_size and not request.status_suffices:
        raise CallFailed(CallFault.TOO_LARGE, f"The response is larger than {max_size} bytes.")
    return HttpResponse(response.status, headers, bytes(body[:max_size]))


@contextmanager
def _failures(request: HttpRequest) -> Iterator[None]:
    """Raise failures with our own texts: a library's may repeat what was sent."""
    try:
        yield
    except (OSError, HTTPError, HTTPException, ValueError) as error:
        raise _explain(error, urlsplit(request.url).netloc, request.timeout) from None


def _explain(error: BaseException, host: str, timeout: float) -> CallFailed:
    if isinstance(error, InvalidIPAddress):
        message = f"{host} is in a private network. {ALLOW_HINT}"
        return CallFailed(CallFault.FORBIDDEN, message)
    if _is_timeout(error):
        message = f"{host} didn't respond within {timeout:g} seconds."
        connecting = any(isinstance(cause, ConnectTimeoutError) for cause in _causes(error))
        return CallFailed(CallFault.UNREACHABLE if connecting else CallFault.TIMEOUT, message)
    if isinstance(error, guard.InvalidHeader):
        return CallFailed(CallFault.ADDRESS, "A header of the request isn't valid.")
    if isinstance(error, ValueError):
        return CallFailed(CallFault.ADDRESS, "This is no address.")
    return _connection_fault(error, host)


def _connection_fault(error: BaseException, host: str) -> CallFailed:
    """Classify a connection's error."""
    for fault, kinds, message in _FAULTS:
        if _has_cause(error, kinds):
            return CallFailed(fault, message.format(host=host))
    if isinstance(error, requests.exceptions.SSLError):
        return CallFailed(CallFault.CERTIFICATE, _tls_problem(error).format(host=host))
    if isinstance(error, requests.ConnectionError) and not _has_cause(error, HTTPException):
        return CallFailed(CallFault.UNREACHABLE, f"Can't connect to {host}.")
    if any(_is_tls_record(cause) for cause in _causes(error)):
        return CallFailed(CallFault.MALFORMED, f"{host} expects TLS on this port. Use https://.")
    return CallFailed(CallFault.MALFORMED, f"{host} sent an invalid HTTP response.")


def _is_timeout(error: BaseException) -> bool:
    """Whether a time limit is at the bottom of it, however often it was wrapped."""
    return any(isinstance(cause, (TimeoutError, requests.Timeout)) for cause in _causes(error))


def _tls_problem(error: BaseException) -> str:
    """Return why there is no TLS connection, with a place for the host's name."""
    if _has_cause(error, CertificateError):
        return "{host} has a certificate for another name."
    for cause in _causes(error):
        if isinstance(cause, SSLCertVerificationError):
            break
        if isinstance(cause, SSLError) and cause.reason in _NO_TLS:
            return "{host} doesn't use TLS on this port. Use http://, or the port for https://."
        if isinstance(cause, SSLError):
            return "{host} and this server have no TLS version or cipher in common."
    expired = (getattr(cause, "verify_code", None) == _EXPIRED for cause in _causes(error))
    if any(expired):
        return "{host} has a certificate that has expired."
    return "{host} doesn't have a trusted certificate."


def _is_tls_record(cause: BaseException) -> bool:
    """Whether a server answered in TLS what it was asked in plain HTTP."""
    return isinstance(cause, BadStatusLine) and str(cause.args[0]).startswith(_TLS_RECORDS)


def _has_cause(
    error: BaseException, kinds: type[BaseException] | tuple[type[BaseException], ...]
) -> bool:
    return any(isinstance(cause, kinds) for cause in _causes(error))


def _causes(error: object, depth: int = _DEPTH) -> Iterator[BaseException]:
    """Yield ``error`` and its causes, which libraries keep in several places."""
    if isinstance(error, BaseException) and depth:
        yield error
        for behind in (error.__cause__, error.__context__, getattr(error, "reason", None)):
            yield from _causes(behind, depth - 1)
        for behind in error.args:
            yield from _causes(behind, depth - 1)
