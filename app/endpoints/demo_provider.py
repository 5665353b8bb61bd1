"""The demo shop's identity provider below ``/demo-identity-provider``, in development alone.

OpenID Connect Core 1.0, 3.1 (authorization code), with PKCE (RFC 7636, S256 required) and refresh
tokens. Its people are the demo's staff, who sign in by choosing themselves from a list.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from http import HTTPStatus
from typing import NoReturn
from urllib.parse import unquote_plus, urlencode, urlsplit

from flask import Blueprint, Response, jsonify, redirect, render_template, request
from werkzeug.exceptions import BadRequest, Forbidden, HTTPException, NotFound
from werkzeug.wrappers import Response as BaseResponse

from app.domain.authorization.actor import anonymous
from app.domain.sign_in.tokens import is_loopback_host
from app.domain.single_sign_on.providers import DEMO_PROVIDER_PATH
from app.domain.urls.web_urls import parse_web_url
from app.ports.keys import DemoProviderKey
from app.services.demo.identity_provider import DemoPerson, DemoProvider, show_demo_provider
from app.web.headers import NOTHING_MAY_RUN
from app.web.installation import installation

_CODE_LASTS = timedelta(minutes=1)
_ACCESS_LASTS = timedelta(minutes=10)
_REFRESH_LASTS = timedelta(days=30)
_CODE, _ACCESS, _REFRESH, _ID = "demo-code", "at+jwt", "demo-refresh", "JWT"
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:12vh auto 0;padding:0 1.5rem}"
    "h1{font-size:1.25rem;margin:0}p{opacity:.8;margin:.25rem 0 1.5rem}"
    "button{display:block;width:100%;margin:0 0 .5rem;padding:.625rem 1rem;border-radius:.375rem;"
    "border:1px solid #8a94a0;background:Canvas;color:CanvasText;font:inherit;text-align:left;"
    "cursor:pointer}button:hover,button:focus-visible{border-color:#0b7285}"
    "button span{display:block;font-size:.8125rem;opacity:.8}"
)
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_POLICY = NOTHING_MAY_RUN.replace("; form-action 'none'", "") + (f"; style-src 'sha256-{_DIGEST}'")
"""Without ``form-action``: the form's answer leads back to the client."""


class TokenError(HTTPException):
    """An error of the token endpoint (RFC 6749, 5.2)."""

    def __init__(self, error: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> None:
        response = jsonify(error=error)
        response.status = status
        response.headers["Cache-Control"] = "no-store"
        if status is HTTPStatus.UNAUTHORIZED:
            response.headers["WWW-Authenticate"] = "Basic"
        super().__init__(response=response)


@dataclass(frozen=True, slots=True)
class AuthorizationRequest:
    """A request that can be answered with a code."""

    redirect_uri: str
    scope: str
    state: str
    nonce: str
    challenge: str


@dataclass(slots=True)
class Endpoints:
    """The provider's routes; a code is used once in each process."""

    find_key: Callable[[], DemoProviderKey]
    used: dict[str, float] = field(default_factory=dict)

    def describe(self) -> Response:
        issuer = _provider().issuer
        return jsonify(
            issuer=issuer,
            authorization_endpoint=f"{issuer}/authorize",
            token_endpoint=f"{issuer}/token",
            jwks_uri=f"{issuer}/keys",
            userinfo_endpoint=f"{issuer}/userinfo",
            response_types_supported=["code"],
            grant_types_supported=["authorization_code", "refresh_token"],
            subject_types_supported=["public"],
            id_token_signing_alg_values_supported=["ES256"],
            token_endpoint_auth_methods_supported=["client_secret_basic"],
            code_challenge_methods_supported=["S256"],
            scopes_supported=["openid", "profile", "email", "offline_access"],
            claims_supported=["sub", "email", "email_verified", "given_name", "family_name"],
        )

    def keys(self) -> Response:
        _provider()
        return jsonify(keys=[self.find_key().public_key()])

    def authorize(self) -> BaseResponse:
        """Ask who signs in; the choice is sent to the same URL."""
        provider = _provider()
        authorization = _authorization_request(provider)
        if isinstance(authorization, BaseResponse):
            return authorization
        if request.method == "GET":
            page = render_template(
                "demo_provider.html",
                people=provider.people,
                client=urlsplit(authorization.redirect_uri).netloc,
                style=_STYLE,
            )
            return Response(
                page, headers={"Content-Security-Policy": _POLICY, "Cache-Control": "no-store"}
            )
        person = _find_person(provider, request.form.get("person", ""))
        if person is None:
            raise BadRequest("Choose one of the people.")
        now = _now()
        code = {
            "sub": person.subject,
            "redirect_uri": authorization.redirect_uri,
            "scope": authorization.scope,
            "nonce": authorization.nonce,
            "challenge": authorization.challenge,
            "auth_time": int(now),
            "exp": now + _CODE_LASTS.total_seconds(),
            "jti": installation().ports.randomness.token(22),
        }
        answer = {"code": self.find_key().sign(_CODE, code), "iss": provider.issuer}
        return _back(authorization.redirect_uri, authorization.state, answer)

    def token(self) -> Response:
        """Exchange a code or a refresh token."""
        provider = _provider()
        _authenticate_client(provider)
        grant_type = request.form.get("grant_type", "")
        if grant_type == "authorization_code":
            return self._tokens(provider, self._code())
        if grant_type == "refresh_token":
            return self._tokens(provider, self._read(_REFRESH, "refresh_token"))
        raise TokenError("unsupported_grant_type")

    def user_info(self) -> Response:
        """Return the claims of the person whose access token it is."""
        provider = _provider()
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
        claims = self.find_key().read(_ACCESS, sent) or {}
        person = _find_person(provider, str(claims.get("sub", "")))
        if person is None or _is_over(claims):
            raise TokenError("invalid_token", HTTPStatus.UNAUTHORIZED)
        return jsonify(_claims(person))

    def _code(self) -> Mapping[str, object]:
        code = self._read(_CODE, "code")
        verifier = request.form.get("code_verifier", "")
        is_same = hmac.compare_digest(_challenge(verifier), str(code["challenge"]))
        if not is_same or request.form.get("redirect_uri") != code["redirect_uri"]:
            raise TokenError("invalid_grant")
        now = _now()
        self.used = {name: until for name, until in self.used.items() if until > now}
        if str(code["jti"]) in self.used:
            raise TokenError("invalid_grant")
        self.used[str(code["jti"])] = now + _CODE_LASTS.total_seconds()
        return code

    def _read(self, kind: str, name: str) -> Mapping[str, object]:
        claims = self.find_key().read(kind, request.form.get(name, ""))
        if claims is None or _is_over(claims):
            raise TokenError("invalid_grant")
        return claims

    def _tokens(self, provider: DemoProvider, grant: Mapping[str, object]) -> Response:
        person = _find_person(provider, str(grant["sub"]))
        if person is None:
            raise TokenError("invalid_grant")
        now = int(_now())
        issued = {
            "iss": provider.issuer,
            "sub": person.subject,
            "iat": now,
            "exp": now + int(_ACCESS_LASTS.total_seconds()),
        }
        about = {"aud": provider.client_id, "auth_time": grant["auth_time"], **_claims(person)}
        if grant.get("nonce"):
            about["nonce"] = grant["nonce"]
        scope = str(grant["scope"])
        answer = {
            "access_token": self.find_key().sign(
                _ACCESS, {**issued, "client_id": provider.client_id, "scope": scope}
            ),
            "token_type": "Bearer",
            "expires_in": int(_ACCESS_LASTS.total_seconds()),
            "id_token": self.find_key().sign(_ID, {**issued, **about}),
            "scope": scope,
        }
        if "offline_access" in scope.split():
            kept = {name: grant[name] for name in ("sub", "scope", "auth_time")}
            until = now + _REFRESH_LASTS.total_seconds()
            answer["refresh_token"] = self.find_key().sign(_REFRESH, {**kept, "exp": until})
        response = jsonify(answer)
        response.headers["Cache-Control"] = "no-store"
        return response


def make_demo_provider(find_key: Callable[[], DemoProviderKey]) -> Blueprint:
    """Return the provider's routes; ``find_key`` is called when a signature is needed."""
    endpoints = Endpoints(find_key)
    blueprint = Blueprint("demo_provider", __name__, url_prefix=DEMO_PROVIDER_PATH)
    for rule, view, methods in (
        ("/.well-known/openid-configuration", endpoints.describe, ("GET",)),
        ("/keys", endpoints.keys, ("GET",)),
        ("/authorize", endpoints.authorize, ("GET", "POST")),
        ("/token", endpoints.token, ("POST",)),
        ("/userinfo", endpoints.user_info, ("GET",)),
    ):
        blueprint.add_url_rule(rule, view.__name__, view, methods=methods)
    return blueprint


def _provider() -> DemoProvider:
    """Return the provider, if the request was sent to this machine or to the provider's issuer.

    Under any other name it could be a web page's own, which was made to lead here (DNS rebinding):
    then the browser takes answers for that page's, and lets it read them.
    """
    provider = show_demo_provider(installation().ports, anonymous())
    if provider is None:
        raise NotFound
    if not _is_own_url(provider, request.host_url):
        raise MisdirectedRequest
    origin = request.headers.get("Origin")
    if origin is not None and origin.partition("://")[2] != request.host:
        raise Forbidden("Only this server's own pages can send this.")
    return provider


def _is_own_url(provider: DemoProvider, url: str) -> bool:
    """Return whether ``url`` is at this machine or at the provider's host."""
    found, issuer = parse_web_url(url), parse_web_url(provider.issuer)
    if found is None or issuer is None:
        return False
    return found.host == issuer.host or is_loopback_host(found.host.strip("[]"))


class MisdirectedRequest(HTTPException):
    """A request for another host (RFC 9110, 15.5.20)."""

    code = HTTPStatus.MISDIRECTED_REQUEST
    description = "The demo's identity provider isn't at this host."


def _authorization_request(provider: DemoProvider) -> AuthorizationRequest | BaseResponse:
    """Return the request, or the answer to an invalid one (RFC 6749, 4.1.2.1)."""
    arguments = request.args
    redirect_uri = arguments.get("redirect_uri", "")
    if arguments.get("client_id") != provider.client_id:
        raise BadRequest("This client isn't registered.")
    if not _is_own_url(provider, redirect_uri):
        raise BadRequest("This redirect URL isn't registered.")
    state, scope = arguments.get("state", ""), arguments.get("scope", "")
    challenge = arguments.get("code_challenge", "")
    if arguments.get("response_type") != "code":
        return _back(redirect_uri, state, {"error": "unsupported_response_type"})
    if "openid" not in scope.split():
        return _back(redirect_uri, state, {"error": "invalid_scope"})
    if not challenge or arguments.get("code_challenge_method") != "S256":
        return _back(redirect_uri, state, {"error": "invalid_request"})
    if arguments.get("prompt") == "none":
        return _back(redirect_uri, state, {"error": "login_required"})
    return AuthorizationRequest(redirect_uri, scope, state, arguments.get("nonce", ""), challenge)


def _back(redirect_uri: str, state: str, answer: Mapping[str, str]) -> BaseResponse:
    """Lead back to the client with ``answer``."""
    query = urlencode({**answer, **({"state": state} if state else {})})
    joint = "&" if urlsplit(redirect_uri).query else "?"
    return redirect(f"{redirect_uri}{joint}{query}", HTTPStatus.SEE_OTHER)


def _authenticate_client(provider: DemoProvider) -> None:
    """Raise unless the client's credentials are in the Authorization header."""
    sent = request.authorization
    if sent is None or sent.type != "basic":
        _refuse_client()
    # RFC 6749, 2.3.1: both parts are form-encoded.
    name, secret = (unquote_plus(part or "") for part in (sent.username, sent.password))
    is_secret = hmac.compare_digest(secret.encode(), provider.client_secret.encode())
    if name != provider.client_id or not is_secret:
        _refuse_client()


def _refuse_client() -> NoReturn:
    raise TokenError("invalid_client", HTTPStatus.UNAUTHORIZED)


def _find_person(provider: DemoProvider, subject: str) -> DemoPerson | None:
    return next((person for person in provider.people if person.subject == subject), None)


def _claims(person: DemoPerson) -> dict[str, object]:
    return {
        "sub": person.subject,
        "email": person.email,
        "email_verified": True,
        "given_name": person.first_name,
        "family_name": person.last_name,
    }


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _is_over(claims: Mapping[str, object]) -> bool:
    until = claims.get("exp")
    return not isinstance(until, (int, float)) or until <= _now()


def _now() -> float:
    return installation().ports.clock.timestamp()
