"""A test identity provider whose responses and tokens the test controls."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from app.ports import Clock
from tests.servers.http import HttpServer, Received, Reply, http_server

CLIENT = "shop"
SECRET = "the client's secret"
AUDIENCE = "https://shop.example/api"
_BASIC = base64.b64encode(b"shop:the+client%27s+secret").decode()
"""RFC 6749, 2.3.1: both parts are form-encoded, then joined."""

LIFETIME = 600
KID = "key-1"
CONFIGURATION = "/.well-known/openid-configuration"
LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout"

Claims = dict[str, Any]


@cache
def rsa_key(_place: int = 0) -> rsa.RSAPrivateKey:
    """Return a key, the same for the whole run."""
    return rsa.generate_private_key(65537, 2048)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_jwk(key: object, **members: object) -> Claims:
    """Return the public part of a key as an entry of a key set."""
    reader: Any = RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else ECAlgorithm
    public = key.public_key()  # type: ignore[attr-defined]
    return {**reader.to_jwk(public, as_dict=True), "use": "sig", **members}


def as_json(value: object, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


@dataclass(slots=True)
class OwnProvider:
    """Speaks OpenID Connect at ``url``; a test may replace any of its routes.

    ``people`` are the claims that user-info tells, by the token it is asked with; whoever is not
    among them is refused. ``grants`` are the token endpoint's answers, by code or refresh token.
    """

    server: HttpServer
    clock: Clock
    people: dict[str, Claims] = field(default_factory=dict)
    grants: dict[str, Claims] = field(default_factory=dict)
    keys: list[Claims] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def settings(self) -> dict[str, str | None]:
        """Return the provider's settings for both modes."""
        return {
            "issuer": self.url,
            "client_id": CLIENT,
            "client_secret": SECRET,
            "oauth_authorization_url": f"{self.url}/authorize",
            "oauth_token_url": f"{self.url}/token",
            "json_web_key_set_url": f"{self.url}/keys",
            "oauth_logout_url": f"{self.url}/logout",
            "user_info_url": f"{self.url}/userinfo",
        }

    def now(self) -> int:
        return int(self.clock.timestamp())

    def sign(
        self, claims: Claims, key: Any = None, algorithm: str = "RS256", /, **header: object
    ) -> str:
        """Return a token with exactly these claims; ``...`` removes a claim or header member."""
        headers = {"kid": KID, "typ": "JWT", **header}
        present = {name: value for name, value in claims.items() if value is not ...}
        # Uses the JWS layer: PyJWT's token layer refuses some of these claims.
        return jwt.PyJWS().encode(
            json.dumps(present).encode(),
            rsa_key() if key is None else key,
            algorithm,
            headers={name: value for name, value in headers.items() if value is not ...},
        )

    def claims(self, sub: str = "alice", /, **changes: object) -> Claims:
        """Return the claims of an access token."""
        now = self.now()
        return {
            "iss": self.url,
            "sub": sub,
            "aud": AUDIENCE,
            "iat": now,
            "exp": now + LIFETIME,
            "scope": "openid profile email",
            **changes,
        }

    def access_token(self, sub: str = "alice", /, **changes: object) -> str:
        """Return an access token and add its subject to the user-info endpoint."""
        token = self.sign(self.claims(sub, **changes), typ="at+jwt")
        return self.known(token, sub)

    def known(self, token: str, sub: str = "alice", /, **person: object) -> str:
        """Add the bearer of ``token`` to the user-info endpoint; return ``token``."""
        self.people[token] = {**self.person(sub), **person}
        return token

    def person(self, sub: str = "alice") -> Claims:
        """Return the default claims of a person."""
        return {
            "sub": sub,
            "email": f"{sub}@sso.example",
            "email_verified": True,
            "given_name": sub.capitalize(),
            "family_name": "Sso",
        }

    def id_claims(self, nonce: str, sub: str = "alice", /, **changes: object) -> Claims:
        """Return the claims of an ID token for a sign-in with that nonce."""
        now = self.now()
        return {
            **self.person(sub),
            "iss": self.url,
            "aud": CLIENT,
            "nonce": nonce,
            "iat": now,
            "exp": now + LIFETIME,
            "sid": f"session-of-{sub}",
            **changes,
        }

    def logout_claims(self, **changes: object) -> Claims:
        """Return the claims of a logout token."""
        now = self.now()
        return {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 120,
            "jti": "once",
            "events": {LOGOUT_EVENT: {}},
            **changes,
        }

    def grant(self, code: str, /, **answer: object) -> None:
        """Set the token endpoint's response to ``code`` or a refresh token."""
        self.grants[code] = {
            "access_token": f"access for {code}",
            "token_type": "Bearer",
            "expires_in": LIFETIME,
            **answer,
        }

    def describe(self, **changes: object) -> None:
        """Serve the discovery document with changed members; ``...`` removes one."""
        self.describe_at("", **changes)

    def describe_at(self, path: str, **changes: object) -> None:
        """Serve the discovery document of an issuer whose URL has a path."""
        members = {
            "issuer": f"{self.url}{path}",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "end_session_endpoint": f"{self.url}/logout",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["RS256"],
            **changes,
        }
        present = {name: value for name, value in members.items() if value is not ...}
        self.server.answer(f"{path}{CONFIGURATION}", as_json(present))

    def answer_keys(self, _received: Received) -> Reply:
        return as_json({"keys": self.keys})

    def answer_user_info(self, received: Received) -> Reply:
        token = received.headers.get("authorization", "").removeprefix("Bearer ")
        person = self.people.get(token)
        return Reply(401) if person is None else as_json(person)

    def answer_token(self, received: Received) -> Reply:
        form = dict(parse_qsl(received.body.decode()))
        if received.headers.get("authorization") != f"Basic {_BASIC}":
            return as_json({"error": "invalid_client"}, 401)
        granted = self.grants.pop(form.get("code") or form.get("refresh_token", ""), None)
        return as_json({"error": "invalid_grant"}, 400) if granted is None else as_json(granted)


@contextmanager
def own_provider(clock: Clock) -> Iterator[OwnProvider]:
    """Run a provider that signs with one RSA key until the end of the block."""
    with http_server() as server:
        provider = OwnProvider(server, clock, keys=[public_jwk(rsa_key(), kid=KID, alg="RS256")])
        routes: dict[str, Callable[[Received], Reply]] = {
            "/keys": provider.answer_keys,
            "/userinfo": provider.answer_user_info,
            "/token": provider.answer_token,
        }
        server.routes.update(routes)
        yield provider
