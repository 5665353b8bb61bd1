"""Calls to other people's servers, on requests-hardened: checked, pinned, limited."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from http.client import HTTPException
from ssl import SSLContext, SSLEOFError
from urllib.parse import urlsplit

import requests
from requests.structures import CaseInsensitiveDict
from requests.utils import DEFAULT_CA_BUNDLE_PATH, check_header_validity
from requests_hardened.ip_filter import InvalidIPAddress
from urllib3.exceptions import ConnectTimeoutError, HTTPError
from urllib3.response import BaseHTTPResponse
from urllib3.util import Timeout

from app.adapters.http_guard import GuardedAdapter
from app.adapters.http_proxy import ProxyAdapter, is_direct
from app.adapters.http_timeouts import Deadline, within
from app.adapters.tls import TrustedAuthorities
from app.domain.urls.delivery_targets import ALLOW_HINT
from app.domain.urls.web_urls import MAX_URL_LENGTH, parse_web_url
from app.domain.values.ip_addresses import Network
from app.domain.values.version import VERSION
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse

_POOL_SIZE = 32
"""Connections to one address that are kept: as many as threads make deliveries."""

# A body is read as it comes: a few compressed bytes could become any number of others.
_HEADERS = {"Accept": "*/*", "Accept-Encoding": "identity"}

_USUAL = TrustedAuthorities()
_DEPTH = 6
_RESETS = (ConnectionResetError, BrokenPipeError, SSLEOFError)


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
        self._adapters = {
            scheme: GuardedAdapter(
                scheme=scheme, allowed=allowed, context=context, pool_size=_POOL_SIZE
            )
            for scheme in ("http", "https")
        }
        self._proxy = ProxyAdapter(proxy, context=context, pool_size=_POOL_SIZE) if proxy else None
        self._direct = tuple(direct)

    def send(self, request: HttpRequest) -> HttpResponse:
        deadline = Deadline(request.timeout)
        with _failures(request), within(deadline):
            prepared = _prepared(request)
            # Connecting is two steps, each of which may take that long.
            timeout = Timeout(connect=deadline.left() / 2, read=deadline.left())
            response = self._adapter(prepared.url or "").exchange(prepared, timeout=timeout)
            try:
                return _read(response, request)
            finally:
                # A connection whose answer was read to its end is in the pool already.
                response.close()

    def _adapter(self, url: str) -> GuardedAdapter | ProxyAdapter:
        parts = urlsplit(url)
        if self._proxy is not None and not is_direct(parts.hostname or "", self._direct):
            return self._proxy
        return self._adapters[parts.scheme]


@cache
def _context(authorities: TrustedAuthorities) -> SSLContext:
    """Read the authorities once per process: that takes 16 ms and 700 kB."""
    return authorities.client_context(usual=DEFAULT_CA_BUNDLE_PATH)


def _prepared(request: HttpRequest) -> requests.PreparedRequest:
    """Prepare the request in a tenth of the library's time, without features of sessions.

    No redirect is followed, and no cookie is kept.
    """
    prepared = requests.PreparedRequest()
    prepared.method = request.method
    prepared.url = _canonical(request.url)
    prepared.headers = CaseInsensitiveDict(_HEADERS)
    for header in request.headers.items():
        check_header_validity(header)
        prepared.headers[header[0]] = header[1]
    prepared.headers["User-Agent"] = f"Latchkey/{VERSION}"
    prepared.body = request.body or None
    if request.body or request.method not in ("GET", "HEAD"):
        prepared.headers["Content-Length"] = str(len(request.body or b""))
    return prepared


@lru_cache(maxsize=256)
def _canonical(url: str) -> str | None:
    """The URL as it is requested; refuses what programs could read differently."""
    if len(url) > MAX_URL_LENGTH:
        raise CallFailed(CallFault.ADDRESS, f"Use at most {MAX_URL_LENGTH} characters.")
    address = parse_web_url(url)
    if address is None:
        raise CallFailed(CallFault.ADDRESS, "Use a full URL: https://id.example.com/keys")
    prepared = requests.PreparedRequest()
    prepared.prepare_url(address.url, None)
    return prepared.url


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
    if isinstance(error, ValueError):
        return CallFailed(CallFault.ADDRESS, "This is no address.")
    return _connection_fault(error, host)


def _connection_fault(error: BaseException, host: str) -> CallFailed:
    """Classify a connection's error."""
    if _is_protocol_error(error):
        return CallFailed(CallFault.MALFORMED, f"{host} sent an invalid HTTP response.")
    if _is_reset(error):
        message = f"{host} closed the connection without a response."
        return CallFailed(CallFault.INTERRUPTED, message)
    if isinstance(error, requests.exceptions.ProxyError):
        message = f"The proxy set by OUTGOING_PROXY didn't connect to {host}."
        return CallFailed(CallFault.UNREACHABLE, message)
    if isinstance(error, requests.exceptions.SSLError):
        message = f"{host} doesn't have a trusted certificate."
        return CallFailed(CallFault.CERTIFICATE, message)
    if isinstance(error, requests.ConnectionError):
        return CallFailed(CallFault.UNREACHABLE, f"Can't connect to {host}.")
    return CallFailed(CallFault.MALFORMED, f"{host} sent an invalid HTTP response.")


def _is_timeout(error: BaseException) -> bool:
    """Whether a time limit is at the bottom of it, however often it was wrapped."""
    return any(isinstance(cause, (TimeoutError, requests.Timeout)) for cause in _causes(error))


def _is_reset(error: BaseException) -> bool:
    return any(isinstance(cause, _RESETS) for cause in _causes(error))


def _is_protocol_error(error: BaseException) -> bool:
    return any(isinstance(cause, HTTPException) for cause in _causes(error))


def _causes(error: object, depth: int = _DEPTH) -> Iterator[BaseException]:
    """Yield ``error`` and its causes, which libraries keep in several places."""
    if isinstance(error, BaseException) and depth:
        yield error
        for behind in (error.__cause__, error.__context__, getattr(error, "reason", None)):
            yield from _causes(behind, depth - 1)
        for behind in error.args:
            yield from _causes(behind, depth - 1)
