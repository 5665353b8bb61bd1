"""Verify a Latchkey shop's access tokens.

``Verifier.verify`` needs no call for most tokens: the shop's public keys are fetched once, and
again when they are five minutes old or a token names a key that isn't among them.
``Verifier.check`` asks the shop (``/auth/check``), so that whatever ended a session counts at
once, and tells the caller's permissions, which no token does. Threads can share a verifier; make
one for each process.
"""

import http.client
import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import unquote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

__all__ = [
    "Caller",
    "Forbidden",
    "Headers",
    "InvalidToken",
    "Token",
    "Unavailable",
    "Verifier",
    "bearer",
]

_ALGORITHM = "RS256"
_KEY_SET = "/.well-known/jwks.json"
_CHECK = "/auth/check"
_MIN_KEY_BITS = 2048
_MAX_KEYS = 32
_MAX_ANSWER = 256 * 1024
_MAX_TOKEN = 16 * 1024
_CHUNK = 16 * 1024
_CLOCK_LEEWAY = 60.0
"""Clocks of hosts can differ by this for ``iat`` and ``nbf``; ``exp`` has no leeway."""

_FACTS = ("kind", "id", "app", "email", "staff", "permissions", "session", "expires")
_KINDS = ("user", "app", "extension")


class InvalidToken(Exception):
    """The token isn't valid: answer 401. The message can be shown to the client."""


class Forbidden(Exception):
    """The token is valid, and its caller lacks a right: answer 403."""


class Unavailable(Exception):
    """The token can't be judged right now: answer 503; ``retry_after`` is in seconds."""

    def __init__(self, message: str, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Token:
    """A verified token: ``expires`` is in Unix seconds, ``app`` the extension's app, if it is one.

    ``claims`` has everything that was signed. It holds no permissions of a user.
    """

    user_id: str
    email: str
    session: str
    expires: float
    type: str
    app: str
    claims: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, as the shop sees it now.

    ``kind`` is ``user``, ``app`` or ``extension``; ``id`` the person's or app's global ID, ``app``
    that of the app or the extension's app. ``expires`` is ``None`` for a token without an end.
    """

    kind: str
    id: str
    app: str
    email: str
    is_staff: bool
    permissions: frozenset[str]
    session: str
    expires: int | None


@dataclass(frozen=True, slots=True)
class _Keys:
    by_id: Mapping[str, jwt.PyJWK]
    fetched: float


class Verifier:
    """Verifies the tokens of one shop.

    ``api_url`` is the URL of its API, such as ``https://shop.example.com/graphql/``: the issuer of
    its tokens. ``server_url`` is where this service reaches the shop, if not there. Both need
    HTTPS except on this machine, unless ``insecure``. Tokens must be for ``audience`` if it is
    given. ``types`` are the accepted types: add ``thirdparty`` for dashboard extensions.

    Keys are fetched again after ``cache_seconds``, and for a token with an unknown key at most
    every ``refetch_seconds``. When the shop doesn't answer, known keys count for
    ``outage_seconds`` from their fetch on. ``timeout`` is in seconds. ``header_names`` are the
    shop's ``FORWARD_AUTH_HEADERS`` where it renames them. Ages of keys are measured by ``clock``.
    """

    def __init__(  # noqa: PLR0913 - each is a fact of the deployment, with a good default
        self,
        api_url: str,
        *,
        server_url: str = "",
        audience: str = "",
        types: Collection[str] = ("access",),
        timeout: float = 5.0,
        cache_seconds: float = 300.0,
        refetch_seconds: float = 10.0,
        outage_seconds: float = 3600.0,
        header_names: Mapping[str, str] | None = None,
        insecure: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if isinstance(types, str) or "refresh" in types:
            raise ValueError("types must be a list of token types without 'refresh'")
        self._issuer = api_url
        self._origin = _origin(server_url or api_url, insecure=insecure)
        _origin(api_url, insecure=insecure)
        self._audience = audience
        self._types = frozenset(types)
        self._timeout = timeout
        self._cache_seconds = cache_seconds
        self._refetch_seconds = refetch_seconds
        self._outage_seconds = max(outage_seconds, cache_seconds)
        defaults = {fact: f"X-Auth-{fact.capitalize()}" for fact in _FACTS}
        self._headers = defaults if header_names is None else dict(header_names)
        self._opener = build_opener(_NoRedirects)
        self._clock = clock
        self._keys: _Keys | None = None
        self._tried = float("-inf")
        self._lock = threading.Lock()

    def verify(self, token: str) -> Token:
        """Return what a valid token says; raise ``InvalidToken``, or ``Unavailable`` without keys.

        The session may have ended since the token was issued, up to five minutes ago.
        """
        kid = _key_id(token)
        key = self._key(kid)
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[_ALGORITHM],
                issuer=self._issuer,
                audience=self._audience or None,
                options={
                    "require": ["exp", "iat", "iss", *(["aud"] if self._audience else [])],
                    "verify_iat": False,
                    "verify_nbf": False,
                },
            )
        except jwt.ExpiredSignatureError:
            raise InvalidToken("Signature has expired") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise InvalidToken("The token is invalid") from error
        return self._read(claims)

    def check(self, token: str, *, require: Iterable[str] = (), staff: bool = False) -> Caller:
        """Ask the shop who is calling; of any token, an app's too.

        Raises ``InvalidToken``, ``Forbidden`` without one of the permissions in ``require`` or if
        the caller isn't ``staff``, and ``Unavailable`` if the shop gives no answer. The shop needs
        ``FORWARD_AUTH=true``.
        """
        if not _is_sendable(token):
            raise InvalidToken("The token is invalid")
        permissions = (require,) if isinstance(require, str) else tuple(require)
        asked = [("required", "1"), *(("require", name) for name in permissions)]
        if staff:
            asked.append(("staff", "1"))
        request = Request(  # noqa: S310 - the scheme was checked
            f"{self._origin}{_CHECK}?{urlencode(asked)}",
            headers={"Authorization-Bearer": token, "Accept": "*/*"},
        )
        status, headers, _ = self._call(request)
        if status == http.client.UNAUTHORIZED:
            raise InvalidToken("The token is invalid, has expired or its session has ended")
        if status == http.client.FORBIDDEN:
            raise Forbidden("A permission is missing, or the caller isn't staff")
        if status != http.client.OK:
            raise Unavailable(f"The shop's check answered {status}", _seconds(headers))
        return self._caller(headers, permissions, staff=staff)

    def _caller(
        self, headers: Mapping[str, str], permissions: Iterable[str], *, staff: bool
    ) -> Caller:
        told = {fact: unquote(headers.get(name) or "") for fact, name in self._headers.items()}
        caller = Caller(
            kind=told.get("kind", ""),
            id=told.get("id", ""),
            app=told.get("app", ""),
            email=told.get("email", ""),
            is_staff=told.get("staff") == "true",
            permissions=frozenset(filter(None, told.get("permissions", "").split(","))),
            session=told.get("session", ""),
            expires=int(told["expires"]) if told.get("expires", "").isdecimal() else None,
        )
        if "kind" in self._headers and caller.kind not in _KINDS:
            raise Unavailable(f"{self._origin}{_CHECK} doesn't answer as a shop's check does")
        is_lacking = "permissions" in self._headers and not caller.permissions >= {*permissions}
        if is_lacking or (staff and "staff" in self._headers and not caller.is_staff):
            raise Forbidden("A permission is missing, or the caller isn't staff")
        return caller

    def _read(self, claims: Mapping[str, Any]) -> Token:
        now = time.time()
        for name in ("iat", "nbf"):
            moment = claims.get(name, 0)
            if type(moment) not in (int, float):
                raise InvalidToken("The token is invalid")
            if not moment <= now + _CLOCK_LEEWAY:
                raise InvalidToken("The token is not yet valid")
        texts = {
            name: claims.get(name, "") for name in ("user_id", "email", "token", "type", "app")
        }
        if not all(isinstance(text, str) for text in texts.values()):
            raise InvalidToken("The token is invalid")
        if texts["type"] not in self._types or not texts["user_id"] or not texts["token"]:
            raise InvalidToken("The token is of another type")
        return Token(
            user_id=texts["user_id"],
            email=texts["email"],
            session=texts["token"],
            expires=float(claims["exp"]),
            type=texts["type"],
            app=texts["app"],
            claims=claims,
        )

    def _key(self, kid: str) -> jwt.PyJWK:
        """Return the key of that name, fetching keys where that is due."""
        keys, now = self._keys, self._clock()
        is_fresh = keys is not None and now - keys.fetched < self._cache_seconds
        if keys is not None and is_fresh and kid in keys.by_id:
            return keys.by_id[kid]
        keys = self._renewed(kid)
        if keys is None:
            raise Unavailable("The shop's keys can't be fetched")
        if kid not in keys.by_id:
            raise InvalidToken("The token was signed with an unknown key")
        return keys.by_id[kid]

    def _renewed(self, kid: str) -> _Keys | None:
        """Return newer keys, or those known while the shop doesn't answer; one thread fetches."""
        known = self._keys
        is_needed = known is None or kid not in known.by_id
        # Who has a key to go on with doesn't wait for the thread that fetches.
        if not self._lock.acquire(blocking=is_needed):
            return self._usable()
        try:
            newer, now = self._keys, self._clock()
            is_known = newer is not None and kid in newer.by_id
            is_fresh = newer is not None and now - newer.fetched < self._cache_seconds
            if not (is_known and is_fresh) and now - self._tried >= self._refetch_seconds:
                self._tried = now
                fetched = self._fetch()
                if fetched is not None:
                    self._keys = fetched
            return self._usable()
        finally:
            self._lock.release()

    def _usable(self) -> _Keys | None:
        keys = self._keys
        if keys is None or self._clock() - keys.fetched >= self._outage_seconds:
            return None
        return keys

    def _fetch(self) -> _Keys | None:
        request = Request(f"{self._origin}{_KEY_SET}")  # noqa: S310 - the scheme was checked
        try:
            status, _, body = self._call(request)
        except Unavailable:
            return None
        if status != http.client.OK:
            return None
        keys = _read_keys(body)
        return _Keys(keys, self._clock()) if keys else None

    def _call(self, request: Request) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and body; raise ``Unavailable``. Redirects aren't followed."""
        deadline = time.monotonic() + self._timeout
        try:
            try:
                response = self._opener.open(request, timeout=self._timeout)
            except HTTPError as refused:
                response = refused
            with response:
                body = b""
                while chunk := response.read1(_CHUNK):
                    body += chunk
                    if len(body) > _MAX_ANSWER or time.monotonic() > deadline:
                        raise Unavailable("The shop's answer is too long or too slow")
                return response.status, response.headers, body
        except (OSError, http.client.HTTPException, ValueError) as failed:
            raise Unavailable(f"The shop can't be reached: {type(failed).__name__}") from failed


class Headers(Protocol):
    """The headers of a request, by names in any case: Flask's, Starlette's and others."""

    def get(self, name: str, /) -> str | None: ...


def bearer(headers: Headers) -> str:
    """Return the token in a request's ``headers``, as the shop finds it; empty without one."""
    bare = (headers.get("Authorization-Bearer") or "").strip()
    scheme, _, token = (headers.get("Authorization") or "").strip().partition(" ")
    return bare or (token.strip() if scheme.lower() in ("bearer", "jwt") else "")


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: object, **_options: object) -> None:  # type: ignore[explicit-override]
        """Follow none: a redirect is an answer as any other, and no key set."""


def _origin(url: str, *, insecure: bool) -> str:
    """Return scheme and host of ``url``; raise ``ValueError`` where it can't be used."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme not in ("https", "http") or not host or "@" in parts.netloc:
        raise ValueError(f"must be a URL such as https://shop.example.com/graphql/, got {url!r}")
    if parts.scheme == "http" and not insecure and not _is_loopback(host):
        raise ValueError(f"{url!r} must begin with https://")
    return f"{parts.scheme}://{parts.netloc}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_sendable(token: str) -> bool:
    return 0 < len(token) <= _MAX_TOKEN and token.isascii() and not set(token) & set(_UNSENDABLE)


_UNSENDABLE = "".join(map(chr, range(0x21))) + "\x7f"


def _key_id(token: str) -> str:
    """Return the name of the key in a token's header, which isn't verified yet."""
    if not _is_sendable(token):
        raise InvalidToken("The token is invalid")
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise InvalidToken("The token is invalid") from error
    kid = header.get("kid")
    # The algorithm is ours to choose; "crit" and "b64" mark signatures of webhooks.
    if header.get("alg") != _ALGORITHM or "crit" in header or "b64" in header:
        raise InvalidToken("The token is signed with another algorithm")
    if not isinstance(kid, str) or not kid:
        raise InvalidToken("The token names no key")
    return kid


def _read_keys(body: bytes) -> dict[str, jwt.PyJWK]:
    """Return the usable keys of a key set; empty if it is none."""
    try:
        listed = json.loads(body)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    if not isinstance(listed, list):
        return {}
    keys = {}
    for entry in listed[:_MAX_KEYS]:
        key = _read_key(entry)
        if key is not None:
            keys[entry["kid"]] = key
    return keys


def _read_key(entry: object) -> jwt.PyJWK | None:
    """Return a public RSA key for signatures; ``None`` for any other."""
    if not isinstance(entry, dict) or not isinstance(entry.get("kid"), str):
        return None
    if entry.get("kty") != "RSA" or entry.get("use", "sig") != "sig" or "d" in entry:
        return None
    if entry.get("alg", _ALGORITHM) != _ALGORITHM:
        return None
    try:
        key = jwt.PyJWK.from_dict(entry, algorithm=_ALGORITHM)
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    return key if key.key.key_size >= _MIN_KEY_BITS else None


def _seconds(headers: Mapping[str, str]) -> int:
    text = headers.get("Retry-After") or ""
    return int(text) if text.isdecimal() and len(text) < 6 else 5  # noqa: PLR2004 - a day has five
