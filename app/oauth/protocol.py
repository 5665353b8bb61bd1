"""Authlib's authorization server, which keeps codes and tokens by our use cases.

OAuth 2 (RFC 6749) with PKCE for every client (RFC 7636, S256), revocation (RFC 7009),
introspection (RFC 7662), the issuer in responses (RFC 9207), and OpenID Connect Core 1.0 with the
code flow.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import orjson
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.base import invalid_error_characters
from authlib.oauth2.rfc6749 import (
    AuthorizationServer,
    InvalidClientError,
    InvalidRequestError,
    InvalidScopeError,
    OAuth2Payload,
    OAuth2Request,
    UnauthorizedClientError,
    grants,
)
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc7662 import IntrospectionEndpoint
from authlib.oauth2.rfc9207 import IssuerParameter
from authlib.oidc.core.grants import OpenIDCode, OpenIDToken
from authlib.oidc.core.util import create_half_hash
from flask import Request, Response, g
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from werkzeug.datastructures import MultiDict

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import known_permissions
from app.domain.oauth import APP_TOKEN_LIFETIME, OAuthClient, read_scopes, write_scopes
from app.domain.second_factors import AuthenticationMethod
from app.domain.values.errors import TrafficClosed
from app.ports import Ports
from app.services.oauth.client_tokens import (
    IssuedToken,
    claim_assertion,
    find_issued_token,
    grant_app_token,
    revoke_grant,
)
from app.services.oauth.grants import (
    CodeRequest,
    Granted,
    StoredCode,
    StoredRefreshToken,
    find_client,
    find_code,
    find_refresh_token,
    is_client_secret,
    issue_code,
    use_code,
    use_refresh_token,
)
from app.services.oauth.userinfo import claims_of, issuer_of, sign_id_token

# Authlib writes whole tokens at this level.
logging.getLogger("authlib").setLevel(logging.WARNING)

ALGORITHM = "RS256"
ONE_FACTOR, TWO_FACTORS = "aal1", "aal2"
SECRET_METHODS = ["client_secret_basic", "client_secret_post"]
SIGNED = "private_key_jwt"
CONFIDENTIAL_METHODS = [*SECRET_METHODS, SIGNED]
TOKEN_METHODS = [*CONFIDENTIAL_METHODS, "none"]
CODE, REFRESH = "authorization_code", "refresh_token"
CREDENTIALS = "client_credentials"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_ECHOED = ("response_type", "grant_type", "redirect_uri", "client_id", "scope", "prompt")
"""Parameters that Authlib's error descriptions repeat, which hold few characters."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request to an endpoint, before any client is authenticated."""

    ports: Ports
    actor: Actor

    @property
    def shop(self) -> str:
        """The word that scopes of permissions begin with."""
        return self.ports.configuration.scope_prefix


def caller() -> Caller:
    """Return the caller of the current request, which the endpoint has stored."""
    found: Caller = g.oauth_caller
    return found


class StorefrontClosed(OAuth2Error):  # type: ignore[misc]
    """Tokens are for staff and apps alone while the storefront is closed."""

    error = "temporarily_unavailable"
    description = TrafficClosed.MESSAGE
    status_code = HTTPStatus.FORBIDDEN


class _Payload(OAuth2Payload):  # type: ignore[misc]
    def __init__(self, values: MultiDict[str, str]) -> None:
        self._values = values

    @property
    def data(self) -> MultiDict[str, str]:
        return self._values

    @property
    def datalist(self) -> Mapping[str, list[str]]:
        return defaultdict(list, {name: self._values.getlist(name) for name in self._values})


class ProtocolRequest(OAuth2Request):  # type: ignore[misc]
    """A request as Authlib reads it; ``granted`` is what a token request has come to.

    ``values`` are the parameters of the query, or of the form for a token request.
    """

    def __init__(self, request: Request, values: MultiDict[str, str]) -> None:
        # Whether the transport is secure is judged elsewhere: a proxy can end TLS.
        super().__init__(request.method, "https://localhost/", headers=request.headers)
        self.payload = _Payload(values)
        self.granted: Granted | None = None
        self.stored_code: StoredCode | None = None

    @property
    def args(self) -> MultiDict[str, str]:
        return self.payload.data

    @property
    def form(self) -> MultiDict[str, str]:
        return self.payload.data

    def check_parameters(self) -> None:
        """Raise for one that comes twice, can't be stored, or can't be repeated in an error."""
        for name, values in self.payload.datalist.items():
            if any("\0" in value for value in (name, *values)):
                raise InvalidRequestError("A parameter contains a NUL character.")
            if len(values) > 1 and not invalid_error_characters(name):
                raise InvalidRequestError(f"Multiple '{name}' in request.")
        for name in _ECHOED:
            if invalid_error_characters(self.payload.data.get(name) or ""):
                raise InvalidRequestError(f"Invalid '{name}' in request.")


@dataclass(frozen=True, slots=True)
class ProtocolClient:
    """A client as Authlib asks about it."""

    client: OAuthClient

    def get_client_id(self) -> str:
        return self.client.client_id

    @property
    def client_metadata(self) -> dict[str, object]:
        return {"post_logout_redirect_uris": self.client.post_logout_redirect_uris}

    def get_default_redirect_uri(self) -> None:
        """Return none: OpenID Connect requires the parameter."""

    def get_allowed_scope(self, scope: str | None) -> str | None:
        """Return as much of ``scope`` as the client can have; ``None`` for nothing."""
        shop = caller().shop
        known = (read_scopes(word, shop) or frozenset() for word in (scope or "").split())
        allowed = frozenset[str]().union(*known) & self.client.scopes
        return write_scopes(allowed, shop) or None

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return self.client.allows_redirect(redirect_uri)

    def check_client_secret(self, client_secret: str) -> bool:
        asking = caller()
        return is_client_secret(asking.ports, asking.actor, self.client, client_secret)

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        if self.client.is_public:
            return method == "none"
        return method == SIGNED if self.client.key_set else method in SECRET_METHODS

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code" and self.client.app_id is None

    def check_grant_type(self, grant_type: str) -> bool:
        if self.client.app_id is not None:
            return grant_type == CREDENTIALS
        return grant_type in (CODE, REFRESH, *((DEVICE,) if self.client.allows_devices else ()))


@dataclass(frozen=True, slots=True)
class _Code:
    """A stored code as Authlib asks about it."""

    stored: StoredCode
    code_challenge_method: str = "S256"

    @property
    def code_challenge(self) -> str:
        return self.stored.challenge

    def get_redirect_uri(self) -> str:
        return self.stored.redirect_uri

    def get_scope(self) -> str:
        return write_scopes(self.stored.scopes, caller().shop)


@dataclass(frozen=True, slots=True)
class _RefreshToken:
    stored: StoredRefreshToken

    def check_client(self, client: ProtocolClient) -> bool:
        return self.stored.client_id == client.client.id

    def get_scope(self) -> str:
        return write_scopes(self.stored.scopes, caller().shop)


class _S256(CodeChallenge):  # type: ignore[misc]
    """PKCE for every client, and no other method (RFC 9700, 2.1.1)."""

    DEFAULT_CODE_CHALLENGE_METHOD = "S256"
    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)

    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        data = grant.request.payload.data
        for name in ("code_challenge", "code_challenge_method"):
            if not data.get(name):
                raise InvalidRequestError(f"Missing '{name}': PKCE with S256 is required.")
        super().validate_code_challenge(grant, redirect_uri)


class GrantedTokens:
    """What all grants of a person's tokens share: the use case has made the tokens already."""

    TOKEN_ENDPOINT_AUTH_METHODS = TOKEN_METHODS
    request: ProtocolRequest

    def generate_token(self, **_given: object) -> dict[str, object]:
        granted = self.request.granted
        if granted is None:
            raise RuntimeError("A token is asked for before it was granted.")
        token: dict[str, object] = {
            "token_type": "Bearer",
            "access_token": granted.access_token,
            "expires_in": granted.expires_in,
            "scope": write_scopes(granted.scopes, caller().shop),
        }
        if granted.refresh_token:
            token["refresh_token"] = granted.refresh_token
        return token

    def save_token(self, token: object) -> None:
        """Keep nothing: the grant was stored with its token."""


class _CodeGrant(GrantedTokens, grants.AuthorizationCodeGrant):  # type: ignore[misc]
    def generate_authorization_code(self) -> str:
        asking, request = caller(), self.request
        person = request.user
        scopes = read_scopes(request.scope, asking.shop) or frozenset()
        asked = CodeRequest(
            client=request.client.client,
            redirect_uri=request.payload.redirect_uri,
            scopes=scopes,
            challenge=request.payload.data["code_challenge"],
            authenticated_at=person.authenticated_at,
            nonce=request.payload.data.get("nonce", ""),
        )
        return issue_code(asking.ports, person.actor, asked)

    def save_authorization_code(self, code: str, request: ProtocolRequest) -> None:
        """Keep nothing: the code was stored when it was made."""

    def query_authorization_code(self, code: str, client: ProtocolClient) -> _Code | None:
        asking = caller()
        found = find_code(asking.ports, asking.actor, client.client, code)
        self.request.stored_code = found
        return None if found is None else _Code(found)

    def delete_authorization_code(self, authorization_code: _Code) -> None:
        """Do nothing: a used code is kept, to notice one that comes again."""

    def authenticate_user(self, authorization_code: _Code) -> Any:
        asking, client = caller(), self.request.client.client
        code_id = authorization_code.stored.id
        try:
            self.request.granted = use_code(asking.ports, asking.actor, client, code_id)
        except TrafficClosed:
            raise StorefrontClosed from None
        return self.request.granted and self.request.granted.user


class _RefreshGrant(GrantedTokens, grants.RefreshTokenGrant):  # type: ignore[misc]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token: str) -> _RefreshToken | None:
        asking = caller()
        found = find_refresh_token(asking.ports, asking.actor, refresh_token)
        return None if found is None else _RefreshToken(found)

    def create_token_response(self) -> Any:
        asking, client = caller(), self.request.client.client
        token_id = self.request.refresh_token.stored.id
        scopes = read_scopes(self.request.payload.scope or "", asking.shop) or None
        try:
            self.request.granted = use_refresh_token(
                asking.ports, asking.actor, client, token_id, scopes
            )
        except TrafficClosed:
            raise StorefrontClosed from None
        if self.request.granted is None:
            raise InvalidGrant("This refresh token doesn't work anymore.")
        return super().create_token_response()

    def authenticate_user(self, refresh_token: _RefreshToken) -> Any:
        return self.request.granted and self.request.granted.user

    def revoke_old_credential(self, refresh_token: _RefreshToken) -> None:
        """Do nothing: the token was used up with its successor."""


class _AppGrant(grants.ClientCredentialsGrant):  # type: ignore[misc]
    TOKEN_ENDPOINT_AUTH_METHODS = CONFIDENTIAL_METHODS

    def generate_token(self, scope: str | None = None, **_given: object) -> dict[str, object]:
        asking, client = caller(), self.request.client.client
        scopes = read_scopes(scope or "", asking.shop)
        permissions = known_permissions(scopes or ())
        if scopes is None or len(permissions) != len(scopes):
            raise InvalidScopeError("Scopes of an app are permissions.")
        narrowed = permissions or None
        new = grant_app_token(asking.ports, asking.actor, client, narrowed)
        if new is None:
            raise UnauthorizedClientError("The app of this client is not active.")
        token: dict[str, object] = {
            "token_type": "Bearer",
            "access_token": new.secret,
            "expires_in": int(APP_TOKEN_LIFETIME.total_seconds()),
        }
        return token | ({"scope": write_scopes(scopes, asking.shop)} if scopes else {})

    def save_token(self, token: object) -> None:
        """Keep nothing: the token was stored when it was made."""


class _SignedAssertion(JWTBearerClientAssertion):  # type: ignore[misc]
    """Authentication by a JWT that the client signs (RFC 7523), each for one use."""

    CLIENT_AUTH_METHOD = SIGNED

    def __call__(self, query_client: Any, request: ProtocolRequest) -> Any:
        try:
            return super().__call__(query_client, request)
        except (JoseError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise InvalidClientError("Invalid client assertion.") from None

    def get_audiences(self) -> list[str]:
        issuer = issuer_of(caller().actor)
        return [issuer, f"{issuer}/oauth/token"]

    def verify_claims(self, claims: dict[str, Any]) -> None:
        """Check the claims by the installation's clock."""
        asking = caller()
        registry = jwt.JWTClaimsRegistry(
            now=int(asking.ports.clock.timestamp()),
            leeway=self.leeway,
            iss={"essential": True, "value": str(claims.get("sub"))},
            sub={"essential": True},
            aud={"essential": True, "values": self.get_audiences()},
            exp={"essential": True},
            jti={"essential": True},
        )
        registry.validate(claims)
        client = find_client(asking.ports, asking.actor, claims["sub"])
        expires = datetime.fromtimestamp(claims["exp"], UTC)
        jti = str(claims["jti"])
        if client is None or not claim_assertion(asking.ports, asking.actor, client, jti, expires):
            raise InvalidClientError("The assertion was used before, or is valid for too long.")

    def resolve_client_public_key(self, client: ProtocolClient) -> Any:
        return KeySet.import_key_set(json.loads(client.client.key_set or '{"keys": []}'))


class InvalidGrant(OAuth2Error):  # type: ignore[misc]
    error = "invalid_grant"


class _IdTokens:
    """Signs ID tokens with the key ring; the claims are those of the grant."""

    def encode_id_token(self, token: Mapping[str, object], request: ProtocolRequest) -> str:
        asking, granted = caller(), request.granted
        if granted is None:
            raise RuntimeError("An ID token is asked for before anything was granted.")
        ports, now = asking.ports, int(asking.ports.clock.timestamp())
        subject = request.client.client.subject_of(granted.user.id)
        half = create_half_hash(granted.access_token, ALGORITHM)
        claims = {
            **claims_of(ports, asking.actor.issuer, granted.user, subject, granted.scopes),
            "iss": issuer_of(asking.actor),
            "aud": request.client.get_client_id(),
            "iat": now,
            "exp": now + ports.configuration.jwt_ttl_access,
            "auth_time": int(granted.authenticated_at.timestamp()),
            "acr": TWO_FACTORS if granted.has_second_factor else ONE_FACTOR,
            "amr": _methods(granted),
            "sid": granted.sid,
            "at_hash": half.decode() if isinstance(half, bytes) else half,
        }
        if request.stored_code is not None and request.stored_code.nonce:
            claims["nonce"] = request.stored_code.nonce
        return sign_id_token(ports, claims)


def _methods(granted: Granted) -> list[str]:
    if granted.amr or granted.origin is not SessionOrigin.PASSWORD:
        return [*granted.amr]
    return [AuthenticationMethod.PASSWORD.value]


class _CodeIdToken(_IdTokens, OpenIDCode):  # type: ignore[misc]
    def exists_nonce(self, nonce: str, request: ProtocolRequest) -> bool:
        """Return false: a nonce is for the client to compare, and a code works once."""
        return False


class GrantIdToken(_IdTokens, OpenIDToken):  # type: ignore[misc]
    """The ID token of a grant that no authorization request with a nonce began."""


class _Revocation(RevocationEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = TOKEN_METHODS

    def authenticate_token(self, request: ProtocolRequest, client: ProtocolClient) -> str:
        self.check_params(request, client)
        return str(request.form["token"])

    def revoke_token(self, token: str, request: ProtocolRequest) -> None:
        asking = caller()
        revoke_grant(asking.ports, asking.actor, request.client.client, token)


class _Introspection(IntrospectionEndpoint):  # type: ignore[misc]
    CLIENT_AUTH_METHODS = CONFIDENTIAL_METHODS

    def authenticate_token(
        self, request: ProtocolRequest, client: ProtocolClient
    ) -> tuple[ProtocolClient, IssuedToken] | None:
        self.check_params(request, client)
        asking = caller()
        token = request.form["token"]
        found = find_issued_token(asking.ports, asking.actor, client.client, token)
        return None if found is None else (client, found)

    def create_introspection_payload(
        self, token: tuple[ProtocolClient, IssuedToken] | None
    ) -> dict[str, object]:
        if token is None:
            return {"active": False}
        asking, (client, found) = caller(), token
        return _introspected(asking, client, found)


def _introspected(asking: Caller, client: ProtocolClient, token: IssuedToken) -> dict[str, object]:
    return {
        "active": True,
        "client_id": client.get_client_id(),
        "token_type": "refresh_token" if token.is_refresh else "Bearer",
        "scope": write_scopes(token.scopes, asking.shop),
        "sub": token.subject,
        "iss": asking.actor.issuer,
        "iat": token.issued,
        "exp": token.expires,
    }


class _Issuer(IssuerParameter):  # type: ignore[misc]
    """The issuer in every response that goes to a client, also in errors (RFC 9207)."""

    def get_issuer(self) -> str:
        return issuer_of(caller().actor)


class Server(AuthorizationServer):  # type: ignore[misc]
    """Authlib's server; the caller of each request is in Flask's ``g``."""

    def __init__(self) -> None:
        super().__init__()
        self.issuer = _Issuer()
        self.register_grant(_CodeGrant, [_S256(), _CodeIdToken()])
        self.register_grant(_RefreshGrant, [GrantIdToken()])
        self.register_grant(_AppGrant)
        self.register_client_auth_method(SIGNED, _SignedAssertion())
        self.register_endpoint(_Revocation)
        self.register_endpoint(_Introspection)

    def query_client(self, client_id: str) -> ProtocolClient | None:
        asking = caller()
        found = find_client(asking.ports, asking.actor, client_id)
        return None if found is None else ProtocolClient(found)

    def create_oauth2_request(self, request: ProtocolRequest) -> ProtocolRequest:
        return request

    def send_signal(self, name: str, *args: object, **kwargs: object) -> None:
        """Tell no one: our use cases record what happens."""

    def handle_response(
        self, status: int, payload: object, headers: list[tuple[str, str]]
    ) -> Response:
        body = orjson.dumps(payload) if isinstance(payload, dict) else str(payload)
        return Response(body, status, headers)

    def answer_error(self, request: ProtocolRequest, error: OAuth2Error) -> Response:
        response: Response = self.handle_error_response(request, error)
        return response

    def redirect_back(self, response: Response) -> Response:
        """Return a response of the authorization endpoint with the issuer in its location."""
        if response.location:
            self.issuer.add_issuer_parameter(self, response)
            response.status_code = HTTPStatus.SEE_OTHER
        return response
