"""Calls to other people's servers, on requests-hardened: checked, pinned, limited."""

import http.cookiejar
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from urllib.parse import urlsplit

import requests
from requests_hardened import Config, HTTPSession
from requests_hardened.ip_filter import InvalidIPAddress
from urllib3.exceptions import HTTPError

from app.adapters.http_guard import GuardedAdapter
from app.adapters.http_patience import Patience, within
from app.domain.addresses import Network
from app.domain.version import VERSION
from app.ports.http import CallFailed, CallFault, HttpAnswer, HttpRequest

_LONGEST_URL = 2048
_POOL_SIZE = 8
_DEPTH = 6
_LISTING = "If it is meant to be reached, list its network in OUTGOING_ALLOWED_NETWORKS."


class GuardedHttp:
    """Reaches public addresses, and those in ``allowed`` networks.

    Neither proxies nor ``.netrc`` of the environment are looked at: a proxy would resolve the name
    again, and nobody's password goes anywhere by itself. ``authorities`` is a file of certificates
    to believe instead of the usual ones.
    """

    def __init__(self, allowed: Sequence[Network] = (), authorities: str | None = None) -> None:
        config = Config(
            ip_filter_enable=True,
            ip_filter_allow_loopback_ips=False,
            never_redirect=True,
            default_timeout=(5.0, 5.0),
            user_agent_override=f"Latchkey/{VERSION}",
        )
        self._session = HTTPSession(config)
        self._session.trust_env = False
        self._session.verify = authorities or True
        # What one server sets is never sent to anybody, itself included: calls are not a visit.
        self._session.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=()))
        # A body is read as it comes: a few compressed bytes could become any number of others.
        self._session.headers = requests.structures.CaseInsensitiveDict(
            {"Accept": "*/*", "Accept-Encoding": "identity"}
        )
        for scheme in ("http", "https"):
            adapter = GuardedAdapter(scheme=scheme, allowed=allowed, pool_size=_POOL_SIZE)
            self._session.mount(f"{scheme}://", adapter)

    def send(self, request: HttpRequest) -> HttpAnswer:
        _check(request.url)
        patience = Patience(request.timeout)
        with _failures(request), within(patience):
            answer = self._session.request(
                request.method,
                request.url,
                headers=dict(request.headers),
                data=request.body,
                stream=True,
                # Connecting is two steps, each of which may take that long.
                timeout=(patience.left() / 2, patience.left()),
                allow_redirects=False,
            )
            with answer:
                return _read(answer, request.largest)


def _check(url: str) -> None:
    """Refuse what is no plain address of HTTP, or what two readers could read differently."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise CallFailed(CallFault.ADDRESS, "This is no address.") from None
    treacherous = not url.isprintable() or any(one in url for one in " \\") or "@" in parts.netloc
    if parts.scheme not in ("http", "https") or not parts.hostname or treacherous:
        raise CallFailed(CallFault.ADDRESS, "Use a whole address: https://id.example.com/keys")
    if len(url) > _LONGEST_URL:
        raise CallFailed(CallFault.ADDRESS, f"Use at most {_LONGEST_URL} characters.")


def _read(answer: requests.Response, largest: int) -> HttpAnswer:
    if answer.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise CallFailed(CallFault.MALFORMED, "The answer is compressed, which nobody asked for.")
    body = bytearray()
    # Until there is nothing more: that is when a body which is too short shows.
    while piece := answer.raw.read(largest + 1 - len(body), decode_content=False):
        body += piece
    if len(body) > largest:
        answer.raw.close()
        raise CallFailed(CallFault.TOO_LARGE, f"The answer is longer than {largest} bytes.")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return HttpAnswer(answer.status_code, headers, bytes(body))


@contextmanager
def _failures(request: HttpRequest) -> Iterator[None]:
    """Tell failures in our own words: a library's text may repeat what was sent."""
    try:
        yield
    except (OSError, HTTPError, HTTPException, ValueError) as error:
        raise _explained(error, urlsplit(request.url).netloc, request.timeout) from None


def _explained(error: BaseException, host: str, timeout: float) -> CallFailed:
    if isinstance(error, InvalidIPAddress):
        message = f"{host} leads into a private network. {_LISTING}"
        return CallFailed(CallFault.FORBIDDEN, message)
    if _is_late(error):
        message = f"{host} did not answer within {timeout:g} seconds."
        return CallFailed(CallFault.TIMEOUT, message)
    if isinstance(error, requests.exceptions.SSLError):
        message = f"{host} has no certificate that can be trusted."
        return CallFailed(CallFault.CERTIFICATE, message)
    if isinstance(error, ValueError):
        return CallFailed(CallFault.ADDRESS, "This is no address.")
    if isinstance(error, requests.ConnectionError) and not _speaks_wrongly(error):
        return CallFailed(CallFault.UNREACHABLE, f"{host} cannot be reached.")
    return CallFailed(CallFault.MALFORMED, f"{host} does not answer as HTTP asks.")


def _is_late(error: BaseException) -> bool:
    """Whether a time limit is at the bottom of it, however often it was wrapped."""
    return any(isinstance(one, (TimeoutError, requests.Timeout)) for one in _causes(error))


def _speaks_wrongly(error: BaseException) -> bool:
    return any(isinstance(one, HTTPException) for one in _causes(error))


def _causes(error: object, depth: int = _DEPTH) -> Iterator[BaseException]:
    """``error`` and whatever stands behind it: libraries keep that in several places."""
    if isinstance(error, BaseException) and depth:
        yield error
        for behind in (error.__cause__, error.__context__, getattr(error, "reason", None)):
            yield from _causes(behind, depth - 1)
        for behind in error.args:
            yield from _causes(behind, depth - 1)
