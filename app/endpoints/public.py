"""Small endpoints outside the API and the console.

``GET /.well-known/jwks.json`` (RFC 7517) is the key set that verifies Latchkey's signatures.
At ``POST /oidc/<slug>/backchannel-logout``, providers report that a person has signed out (OpenID
Connect Back-Channel Logout 1.0, 2.5 to 2.8). ``GET /media/…`` are pictures: of people
(``avatars/NAME-SIZE.webp``), the shop's logo (``logo/NAME.png``) and those of apps and OAuth
clients (``apps/NAME-SIZE.webp``, ``apps/NAME.png``, ``clients/…`` alike). ``GET /healthz`` and
``GET /readyz`` are for process managers and load balancers; they say no reasons, because everyone
can ask them: ``OPERATIONS_PORT`` has the reasons.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

import orjson
from flask import Blueprint, Response, abort, request

from app.domain.accounts.users import read_avatar_file
from app.domain.apps.apps import read_logo_file as read_app_logo_file
from app.domain.authorization.actor import anonymous
from app.domain.keys import CACHE_TIME, PublicKey
from app.domain.mails.design import read_logo_file
from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH, make_jwk
from app.domain.single_sign_on.provider_tokens import reason_of
from app.domain.values.errors import TokenRejected
from app.ports.http import CallFailed
from app.services.accounts.account_details import show_avatar
from app.services.apps.app_lists import show_app_logo
from app.services.keys import published_keys
from app.services.oauth.client_pages import show_client_logo
from app.services.shop.settings import show_logo
from app.services.single_sign_on.provider_sessions import end_sessions_by_provider
from app.web.headers import NOTHING_MAY_RUN, cors_headers, preflight_headers
from app.web.installation import installation
from app.web.operations_server import Readiness, is_ready, readiness_status
from app.web.server import STOPPING_KEY
from app.web.sessions import anonymous_actor

_METHODS = ("GET", "HEAD")
_CACHE_CONTROL = f"public, max-age={int(CACHE_TIME.total_seconds())}"
_PLUGIN = "authentication.openidconnect"
_NO_STORE = {"Cache-Control": "no-store"}
_PICTURE_HEADERS = {
    # A new picture gets a new name, so this one never changes.
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Disposition": "inline",
    "Content-Security-Policy": f"{NOTHING_MAY_RUN}; sandbox",
    # Shown by dashboards and shops of other origins.
    "Cross-Origin-Resource-Policy": "cross-origin",
}

well_known = Blueprint("wellknown", __name__)
backchannel = Blueprint("backchannel", __name__)
media = Blueprint("media", __name__)


@dataclass(frozen=True, slots=True)
class _KeySet:
    """The answer while the ring stays as it is; ``etag`` without its quotes."""

    body: bytes
    etag: str


@well_known.get("/.well-known/jwks.json", provide_automatic_options=False)
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


@well_known.route("/.well-known/jwks.json", methods=["OPTIONS"], provide_automatic_options=False)
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


@backchannel.post("/oidc/<slug:slug>/backchannel-logout", provide_automatic_options=False)
def log_out(slug: str) -> Response:
    """200 when the sessions that the logout token means have ended, if there were any."""
    request.max_content_length = 2 * MAX_PROVIDER_TOKEN_LENGTH
    web = installation()
    token = request.form.get("logout_token", "")
    try:
        ended = end_sessions_by_provider(
            web.ports, anonymous_actor(), plugin_id=f"{slug}.{_PLUGIN}", token=token
        )
    except TokenRejected as rejected:
        return _refusal(reason_of(rejected))
    except CallFailed as failed:
        return _refusal(str(failed), HTTPStatus.SERVICE_UNAVAILABLE)
    if ended is None:
        return _refusal("There is no such provider.", HTTPStatus.NOT_FOUND)
    return _answer(HTTPStatus.OK, b"")


def _refusal(reason: str, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Response:
    error = {"error": "invalid_request", "error_description": reason}
    return _answer(status, orjson.dumps(error))


def _answer(status: HTTPStatus, body: bytes) -> Response:
    return Response(body, status, _NO_STORE, content_type="application/json")


@media.get("/media/avatars/<slug:file>")
def avatar(file: str) -> Response:
    """Serve an image that this application encoded, with its type; 404 for anything else."""
    name = read_avatar_file(file)
    data = None if name is None else show_avatar(installation().ports, anonymous(), *name)
    return _picture(data, file, "image/webp")


@media.get("/media/logo/<slug:file>")
def logo(file: str) -> Response:
    """The shop's logo as we drew it; 404 for one that was replaced."""
    name = read_logo_file(file)
    data = None if name is None else show_logo(installation().ports, anonymous(), name)
    return _picture(data, file, "image/png")


@media.get("/media/apps/<slug:file>")
def app_logo(file: str) -> Response:
    """An app's logo as we drew it; 404 for one that was replaced."""
    name = read_app_logo_file(file)
    data = None if name is None else show_app_logo(installation().ports, anonymous(), *name)
    return _picture(data, file, "image/webp" if file.endswith(".webp") else "image/png")


@media.get("/media/clients/<slug:file>")
def client_logo(file: str) -> Response:
    """An OAuth client's logo as we drew it; 404 for one that was replaced."""
    name = read_app_logo_file(file)
    data = None if name is None else show_client_logo(installation().ports, anonymous(), *name)
    return _picture(data, file, "image/webp" if file.endswith(".webp") else "image/png")


def _picture(data: bytes | None, file: str, content_type: str) -> Response:
    if data is None:
        abort(404)
    response = Response(data, headers=_PICTURE_HEADERS, content_type=content_type)
    response.set_etag(file)
    response.make_conditional(request)
    return response


def make_health(readiness: Readiness) -> Blueprint:
    """Return the blueprint of both probes."""
    blueprint = Blueprint("health", __name__)

    @blueprint.get("/healthz")
    def healthy() -> Response:
        """Answer while the process can answer anything, without asking anything else."""
        return _probe_answer("ok", HTTPStatus.OK)

    @blueprint.get("/readyz")
    def ready() -> Response:
        """Answer 200 while requests can be served: database, tables, keys.

        A server that is to stop answers 503 while it still serves.
        """
        if STOPPING_KEY in request.environ:
            return _probe_answer("stopping", HTTPStatus.SERVICE_UNAVAILABLE)
        findings = readiness.findings()
        code = HTTPStatus.OK if is_ready(findings) else HTTPStatus.SERVICE_UNAVAILABLE
        return _probe_answer(readiness_status(findings), code)

    return blueprint


def _probe_answer(status: str, code: HTTPStatus) -> Response:
    return Response(f'{{"status":"{status}"}}', code, _NO_STORE, content_type="application/json")
