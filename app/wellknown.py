"""The key set that verifies our signatures: ``GET /.well-known/jwks.json`` (RFC 7517)."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import orjson
from flask import Blueprint, Response, request

from app.domain.keys import CACHE_TIME, PublicKey
from app.domain.sign_in.jws import make_jwk
from app.services.keys import published_keys
from app.web.headers import cors_headers, preflight_headers
from app.web.installation import installation

_METHODS = ("GET", "HEAD")
_CACHE_CONTROL = f"public, max-age={int(CACHE_TIME.total_seconds())}"

blueprint = Blueprint("wellknown", __name__)


@dataclass(frozen=True, slots=True)
class _KeySet:
    """The answer while the ring stays as it is; ``etag`` without its quotes."""

    body: bytes
    etag: str


@blueprint.get("/.well-known/jwks.json", provide_automatic_options=False)
def key_set() -> Response:
    """Return the public keys, active first; 304 for a client that has them."""
    web = installation()
    current = _key_set(published_keys(web.ports))
    headers = cors_headers(request.headers.get("Origin"), web.allowed_graphql_origins)
    headers["Cache-Control"] = _CACHE_CONTROL
    headers["ETag"] = f'"{current.etag}"'
    # RFC 9110, 13.1.2: compared weakly, for a proxy that compresses makes tags weak.
    if "If-None-Match" in request.headers and request.if_none_match.contains_weak(current.etag):
        return Response(status=304, headers=headers)
    return Response(current.body, headers=headers, content_type="application/json")


@blueprint.route("/.well-known/jwks.json", methods=["OPTIONS"], provide_automatic_options=False)
def preflight() -> Response:
    """What a browser asks before a page of another origin may read the key set."""
    headers = preflight_headers(
        request.headers.get("Origin"),
        installation().allowed_graphql_origins,
        methods=_METHODS,
        request_headers=("If-None-Match",),
    )
    response = Response(status=204, headers=headers)
    del response.headers["Content-Type"]
    return response


# Encoded once per key set; several are cached for requests during a rotation.
@lru_cache(maxsize=8)
def _key_set(keys: tuple[PublicKey, ...]) -> _KeySet:
    body = orjson.dumps({"keys": [make_jwk(key) for key in keys]})
    return _KeySet(body, hashlib.sha256(body).hexdigest()[:32])
