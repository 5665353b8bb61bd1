"""Identity providers over the guarded HTTP port; Authlib speaks OAuth 2.0, PyJWT verifies.

In development one of them can be this server itself.
"""

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote_plus, urlencode, urlsplit

import jwt
from authlib.oauth2 import OAuth2Client, OAuth2Error
from cryptography.exceptions import UnsupportedAlgorithm
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from app.domain.sign_in.jws import ForeignToken, read_foreign_token, read_members
from app.domain.sign_in.tokens import is_loopback_host
from app.domain.single_sign_on.provider_tokens import (
    ALGORITHMS,
    ProviderTokenRejected,
    SignedToken,
)
from app.domain.single_sign_on.providers import DEMO_PROVIDER_PATH
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.json_values import NoJsonObject, read_json_object
from app.ports.http import CallFailed, CallFault, Http, HttpRequest, HttpResponse, json_members
from app.ports.identity_provider import Client, GrantRefused, ProviderKey, SignIn, TokenResponse

_MAX_KEYS = 100
_RSA_BITS = range(2048, 8193)
"""Shorter ones can be broken, and longer ones are there to keep us busy."""

_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_READERS: Mapping[str, Any] = {"RSA": RSAAlgorithm, "EC": ECAlgorithm, "OKP": OKPAlgorithm}
_ALGORITHMS = {name: jwt.get_algorithm_by_name(name) for name in ALGORITHMS}


def read_keys(key_set: Mapping[str, object]) -> tuple[ProviderKey, ...]:
    """Return the keys of a JSON Web Key Set that verify signatures, ignoring other entries."""
    entries = key_set.get("keys")
    if not isinstance(entries, list):
        return ()
    keys = (_read_key(entry) for entry in entries[:_MAX_KEYS] if isinstance(entry, dict))
    return tuple(key for key in keys if key is not None)


def verify_signature(keys: Sequence[ProviderKey], token: str) -> SignedToken:
    """``token`` after its signature; raises ``TokenRejected`` (``ports.identity_provider``)."""
    read = read_foreign_token(token, ALGORITHMS)
    algorithm: Any = _ALGORITHMS[read.algorithm]
    for key in keys:
        if _fits(key, read) and algorithm.verify(read.signing_input, key.key, read.signature):
            return SignedToken(read.header, read_members(read.payload))
    raise TokenRejected(TokenFault.SIGNATURE)


def _fits(key: ProviderKey, token: ForeignToken) -> bool:
    """A key is for one kind of algorithm, and for the name that the token gives, if it has one."""
    if key.algorithm not in ("", token.algorithm):
        return False
    if token.algorithm == "EdDSA":
        fitting = key.kind in ("Ed25519", "Ed448")
    else:
        fitting = key.kind == _CURVES.get(token.algorithm, "RSA")
    return fitting and (token.kid is None or key.kid in (None, token.kid))


def _read_key(entry: dict[str, Any]) -> ProviderKey | None:
    kind = str(entry.get("kty"))
    operations = entry.get("key_ops")
    # A private key that somebody published is a key that everybody can sign with.
    if kind not in _READERS or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    if isinstance(operations, list) and "verify" not in operations:
        return None
    try:
        key = _READERS[kind].from_jwk(entry)
    except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, AttributeError):
        return None
    if kind == "RSA" and key.key_size not in _RSA_BITS:
        return None
    kid, algorithm = entry.get("kid"), entry.get("alg", "")
    return ProviderKey(
        kid=kid if isinstance(kid, str) else None,
        kind="RSA" if kind == "RSA" else str(entry.get("crv")),
        algorithm=algorithm if isinstance(algorithm, str) else "none",
        key=key,
    )


_SHORT_TIMEOUT = 3.0
"""Seconds for what happens while somebody's request waits to be let in."""

_TIMEOUT = 8.0
"""Seconds for what somebody asked for."""

_MAX_SIZE = 256 * 1024
_REFUSED = (400, 401, 403)
_JSON = {"Accept": "application/json"}
_JWT = "application/jwt"
_COMPACT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)
"""A signed JWT (RFC 7515, 7.1)."""

_TOKEN_ENDPOINT = "The token endpoint"  # noqa: S105


class OpenIdProvider:
    """Calls the provider that the settings name; keeps nothing between calls."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def authorization_url(self, sign_in: SignIn) -> str:
        client = OAuth2Client(
            None,
            client_id=sign_in.client_id,
            redirect_uri=sign_in.redirect_uri,
            scope=sign_in.scope,
            code_challenge_method="S256",
        )
        optional = {"audience": sign_in.audience, "prompt": sign_in.prompt}
        extra = {name: value for name, value in optional.items() if value}
        url, _ = client.create_authorization_url(
            sign_in.authorization_url,
            state=sign_in.state,
            code_verifier=sign_in.verifier,
            nonce=sign_in.nonce,
            **extra,
        )
        return str(url)

    def exchange(
        self, client: Client, *, code: str, redirect_uri: str, verifier: str
    ) -> TokenResponse:
        return self._tokens(
            client,
            "fetch_token",
            grant_type="authorization_code",
            code=code,
            redirect_uri=redirect_uri,
            code_verifier=verifier,
        )

    def refresh(self, client: Client, refresh_token: str) -> TokenResponse:
        # Without a scope the one granted before is meant (RFC 6749, 6): never more than that.
        return self._tokens(client, "refresh_token", refresh_token=refresh_token)

    def fetch_keys(self, url: str) -> tuple[ProviderKey, ...]:
        keys = read_keys(self._members(url, "The key set", timeout=_SHORT_TIMEOUT))
        if not keys:
            message = "The key set has no key that can verify a signature."
            raise CallFailed(CallFault.MALFORMED, message)
        return keys

    def verify(self, keys: Sequence[ProviderKey], token: str) -> SignedToken:
        return verify_signature(keys, token)

    def fetch_person(self, url: str, access_token: str) -> Mapping[str, object] | str:
        if not access_token.isascii() or not access_token.isprintable():
            raise ProviderTokenRejected("No identity provider issues this kind of token.")
        headers = {
            "Accept": f"application/json, {_JWT}",
            "Authorization": f"Bearer {access_token}",
        }
        response = self._http.send(
            HttpRequest(url, headers=headers, timeout=_SHORT_TIMEOUT, max_size=_MAX_SIZE)
        )
        if response.status in _REFUSED:
            raise ProviderTokenRejected("The provider doesn't accept this token.")
        token = _jwt_in(response)
        return json_members(response, "The user-info endpoint") if token is None else token

    def fetch_status(self, url: str) -> int:
        return self._http.send(HttpRequest(url)).status

    def discover(self, url: str) -> Mapping[str, object]:
        return self._members(url, "The provider's configuration", timeout=_TIMEOUT)

    def _members(self, url: str, what: str, *, timeout: float) -> Mapping[str, object]:
        request = HttpRequest(url, headers=_JSON, timeout=timeout, max_size=_MAX_SIZE)
        return json_members(self._http.send(request), what)

    def _tokens(self, client: Client, method: str, **arguments: str) -> TokenResponse:
        speaking = OAuth2Client(
            _Transport(self._http),
            client_id=client.client_id,
            client_secret=client.client_secret or None,
        )
        speaking.register_client_auth_method(("client_secret_basic", _client_secret_basic))
        try:
            token = getattr(speaking, method)(client.token_url, **arguments)
        except OAuth2Error as refused:
            raise GrantRefused(str(refused.error)[:100]) from None
        except (ValueError, TypeError, OverflowError):
            message = f"{_TOKEN_ENDPOINT} sent an invalid OAuth 2.0 response."
            raise CallFailed(CallFault.MALFORMED, message) from None
        return _read_tokens(token)


class _Transport:
    """The session that Authlib uses; sends everything through the port."""

    def __init__(self, http: Http) -> None:
        self._http = http

    def post(
        self, url: str, data: Mapping[str, str], headers: Mapping[str, str], auth: Any
    ) -> "_Response":
        url, headers, body = auth.prepare("POST", url, dict(headers), urlencode(data))
        request = HttpRequest(
            url, "POST", headers, body.encode(), timeout=_TIMEOUT, max_size=_MAX_SIZE
        )
        return _Response(self._http.send(request))


class _Response:
    def __init__(self, response: HttpResponse) -> None:
        self._answer = response
        self.status_code = response.status

    def json(self) -> Mapping[str, object]:
        try:
            members = read_json_object(self._answer.body)
        except NoJsonObject:
            raise json.JSONDecodeError("no JSON object", "", 0) from None
        # Some providers send null, or an empty error, for what RFC 6749, 5.1, leaves out.
        present = {name: value for name, value in members.items() if value is not None}
        if present.get("error") == "":
            del present["error"]
        return present

    def raise_for_status(self) -> None:
        if not self._answer.is_good:
            message = f"{_TOKEN_ENDPOINT} answered with HTTP {self.status_code}."
            raise CallFailed(CallFault.STATUS, message)


def _jwt_in(response: HttpResponse) -> str | None:
    """The JWT that a signed user info is (OpenID Connect Core, 5.3.2); ``None`` for JSON."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = response.body.decode("ascii", "replace").strip()
    is_compact = _COMPACT.fullmatch(body) is not None
    if not response.is_good or not (kind == _JWT or is_compact):
        return None
    if not is_compact:
        message = "The user-info endpoint returned an encrypted or malformed JWT."
        raise CallFailed(CallFault.MALFORMED, message)
    return body


def _client_secret_basic(
    client: Any, _method: str, uri: str, headers: dict[str, str], body: str
) -> tuple[str, dict[str, str], str]:
    """RFC 6749, 2.3.1: both parts are form-encoded first, which Authlib leaves out."""
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
    headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return uri, headers, body


def _read_tokens(token: Mapping[str, object]) -> TokenResponse:
    access, scope = token.get("access_token"), token.get("scope")
    kind = token.get("token_type", "")
    if not isinstance(access, str) or not access or str(kind).lower() != "bearer":
        message = f"{_TOKEN_ENDPOINT} returned no bearer token."
        raise CallFailed(CallFault.MALFORMED, message)
    return TokenResponse(
        access_token=access,
        id_token=_text(token, "id_token"),
        refresh_token=_text(token, "refresh_token"),
        scope=scope if isinstance(scope, str) else None,
    )


def _text(token: Mapping[str, object], name: str) -> str:
    value = token.get(name)
    return value if isinstance(value, str) else ""


class DemoProviderHttp:
    """Sends requests to the demo's identity provider by ``own``, and others by ``http``."""

    def __init__(self, http: Http, own: Http) -> None:
        self._http = http
        self._own = own

    def send(self, request: HttpRequest) -> HttpResponse:
        url = urlsplit(request.url)
        is_below = url.path.startswith(f"{DEMO_PROVIDER_PATH}/")
        is_own = is_below and is_loopback_host(url.hostname or "")
        return (self._own if is_own else self._http).send(request)
