"""The routes of the OpenID provider: discovery, authorization, consent, tokens and claims."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlencode

import orjson
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AccessDeniedError, InvalidRequestError
from authlib.oidc.core.errors import ConsentRequiredError, LoginRequiredError
from flask import Blueprint, Response, abort, g, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from app.domain.accounts.languages import SIGNED_OUT_TAGS
from app.domain.authorization.actor import STAFF_SCOPE, Actor
from app.domain.oauth import PERSONAL_SCOPES, OAuthClient, read_scopes
from app.domain.shop.settings import admits
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected, TrafficClosed
from app.oauth import protocol
from app.oauth.devices import DEVICE_PATH, ENDPOINT, register_devices
from app.oauth.logout import Logout, check_logout, is_proved, register_logout
from app.services.identity.identify import identify, record_use
from app.services.oauth.client_sessions import read_id_token
from app.services.oauth.consents import allow_client, consent_proof, scopes_to_allow
from app.services.oauth.grants import find_client
from app.services.oauth.userinfo import has_unused_factor, issuer_of, show_claims
from app.services.sign_in.sessions import SecondFactorSkipped
from app.web.caller import visitor_from
from app.web.headers import cors_headers, preflight_headers
from app.web.installation import installation
from app.web.request_hooks import record_actor
from app.web.sessions import anonymous_actor, answered_once

AUTHORIZE = "/oauth/authorize"
LOGOUT = "/oauth/logout"
_SIGNED_IN_AFTER = "signed_in_after"
_HINT = "id_token_hint"
_NEW_SIGN_IN = frozenset(("login", "select_account"))
_NO_STORE = {"Cache-Control": "no-store", "Pragma": "no-cache"}
_JSON = "application/json"
_UNSUPPORTED = ("request", "request_uri", "registration")
_MAX_FORM = 64 * 1024
_MAX_DIGITS = 16
_LED_ON = ("authorize", "end_session")
"""Pages that redirect a form from another site once: browsers send no cookie with it."""

_ANSWERED_ONCE = ("consent", "device", "confirm_logout")
"""Pages with a form of their own."""

_PAGES = _LED_ON + _ANSWERED_ONCE
_PATHS = ("token", "userinfo", "revoke", "introspect", ENDPOINT)


class Person(Protocol):
    """Someone who is signed in at the hosted pages, since ``authenticated_at``."""

    @property
    def actor(self) -> Actor: ...

    @property
    def authenticated_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Consent:
    """What a page asks a person to allow a client.

    ``proof`` and ``decision`` ("allow" or "deny") are fields of its form, which is sent to
    ``action``. ``redirect_uri`` is where the form's answer leads.
    """

    person: Person
    client: OAuthClient
    scopes: frozenset[str]
    redirect_uri: str
    action: str
    proof: str


@dataclass(frozen=True, slots=True)
class HostedPages:
    """What the provider needs of the hosted pages.

    ``is_on`` is whether the shop has turned them on. ``person`` returns who is signed in, ``None``
    while the storefront is closed. ``sign_in_url`` is where to sign in before a path is shown,
    ``sign_in_again_url`` the same for someone who is signed in already. ``guard`` is called before
    each page of the provider and can answer it, ``finish`` after it. ``logout_page`` asks whether
    to sign out by a form for a path; ``sign_out`` does it and leads to a client's URI, if there is
    one.
    """

    is_on: Callable[[], bool]
    person: Callable[[], Person | None]
    sign_in_url: Callable[[str], str]
    sign_in_again_url: Callable[[str], str]
    guard: Callable[[], BaseResponse | None]
    finish: Callable[[Response], Response]
    consent_page: Callable[[Consent], BaseResponse]
    logout_page: Callable[[Logout, str], BaseResponse]
    sign_out: Callable[[str], BaseResponse]
    error_page: Callable[[str, str], BaseResponse]
    device_page: Callable[[Person], BaseResponse]


def make_oauth(pages: HostedPages) -> Blueprint:
    """Return the provider's routes, none of which exists while the hosted pages are off."""
    blueprint = Blueprint("oauth", __name__)
    server = protocol.Server()
    register_devices(server)
    register_logout(server)
    endpoints = _Endpoints(pages, server)
    blueprint.before_request(endpoints.begin)
    blueprint.after_request(endpoints.finish)
    for rule, view, methods in (
        ("/.well-known/openid-configuration", endpoints.describe, ["GET"]),
        ("/.well-known/oauth-authorization-server", endpoints.describe, ["GET"]),
        (AUTHORIZE, endpoints.authorize, ["GET", "POST"]),
        ("/oauth/consent", endpoints.consent, ["POST"]),
        (LOGOUT, endpoints.end_session, ["GET", "POST"]),
        (f"{LOGOUT}/confirm", endpoints.confirm_logout, ["POST"]),
        ("/oauth/token", endpoints.token, ["POST"]),
        ("/oauth/userinfo", endpoints.userinfo, ["GET", "POST"]),
        ("/oauth/introspect", endpoints.introspect, ["POST"]),
        ("/oauth/revoke", endpoints.revoke, ["POST"]),
        (f"/oauth/{ENDPOINT}", endpoints.device_authorization, ["POST"]),
        (DEVICE_PATH, endpoints.device, ["GET", "POST"]),
    ):
        name = view.__name__ if "oauth-auth" not in rule else "metadata"
        blueprint.add_url_rule(
            rule,
            name,
            answered_once(view) if name in _ANSWERED_ONCE else view,
            methods=methods,
            provide_automatic_options=False,
        )
        if name not in _PAGES:
            blueprint.add_url_rule(
                rule,
                f"{name}_preflight",
                _preflight,
                methods=["OPTIONS"],
                provide_automatic_options=False,
            )
    return blueprint


def _preflight() -> Response:
    headers = preflight_headers(
        request.headers.get("Origin"),
        installation().allowed_graphql_origins,
        methods=("GET", "POST"),
        request_headers=("Authorization", "Content-Type"),
    )
    response = Response(status=HTTPStatus.NO_CONTENT, headers=headers)
    del response.headers["Content-Type"]
    return response


def _name() -> str:
    return (request.endpoint or "").removeprefix("oauth.")


def _is_page() -> bool:
    return _name() in _PAGES


class _Endpoints:
    def __init__(self, pages: HostedPages, server: protocol.Server) -> None:
        self._pages = pages
        self._server = server

    def begin(self) -> BaseResponse | None:
        """Note the caller; 404 while the shop hasn't turned the provider on."""
        request.max_content_length = _MAX_FORM
        web = installation()
        g.oauth_caller = protocol.Caller(web.ports, anonymous_actor())
        if not self._pages.is_on():
            abort(HTTPStatus.NOT_FOUND)
        # A request that comes as a form is led on to the page.
        is_led_on = _name() in _LED_ON and request.method == "POST"
        return self._pages.guard() if _is_page() and not is_led_on else None

    def finish(self, response: Response) -> Response:
        """Add the headers of a page, or let pages of allowed origins read what isn't one."""
        if _is_page():
            return self._pages.finish(response)
        allowed = installation().allowed_graphql_origins
        response.headers.update(cors_headers(request.headers.get("Origin"), allowed))
        return response

    def describe(self) -> Response:
        """Return what the provider supports (OpenID Connect Discovery 1.0; RFC 8414)."""
        response = _json(_metadata(issuer_of(protocol.caller().actor), protocol.caller().shop))
        response.headers["Cache-Control"] = "public, max-age=300"
        return response

    def authorize(self) -> BaseResponse:
        """Lead back to the client with a code, once the person is signed in and has consented."""
        if request.method == "POST":
            return redirect(f"{AUTHORIZE}?{urlencode([*request.form.items(multi=True)])}", 303)
        asked = protocol.ProtocolRequest(request, request.args)
        try:
            return self._authorize(asked)
        except OAuth2Error as error:
            return self._refuse(asked, error)

    def consent(self) -> BaseResponse:
        """Take the person's decision about the request in the query, and lead back."""
        asked = protocol.ProtocolRequest(request, request.args)
        person = self._pages.person()
        if person is None:
            return redirect(self._pages.sign_in_url(_own_path()), HTTPStatus.SEE_OTHER)
        try:
            asked.check_parameters()
            grant = self._server.get_consent_grant(asked, person)
            proof = consent_proof(
                protocol.caller().ports, person.actor, grant.client.client, _query()
            )
            if request.form.get("proof") != proof:
                message = "This page is out of date. Go back to the program and try again."
                return self._pages.error_page("invalid_request", message)
            if request.form.get("decision") != "allow":
                raise AccessDeniedError(redirect_uri=grant.redirect_uri)
            scopes = _scopes(grant)
            allow_client(protocol.caller().ports, person.actor, grant.client.client, scopes)
            return self._finish(asked, grant, person)
        except OAuth2Error as error:
            return self._refuse(asked, error)

    def _authorize(self, asked: protocol.ProtocolRequest) -> BaseResponse:
        asked.check_parameters()
        person = self._pages.person()
        is_meant = person is None or _is_hinted(person, asked)
        is_fresh = person is not None and is_meant and not _is_old(person, asked)
        fresh = person if is_fresh else None
        grant = self._server.get_consent_grant(asked, fresh)
        _check_options(asked, grant.redirect_uri)
        has_returned, prompts = _SIGNED_IN_AFTER in asked.payload.data, _prompts(asked)
        if has_returned and not is_meant:
            raise LoginRequiredError(redirect_uri=grant.redirect_uri)
        if fresh is not None and not has_returned and _steps_up(fresh, asked):
            fresh = None
        if fresh is None or prompts & _NEW_SIGN_IN:
            pages = self._pages
            url_of = pages.sign_in_url if person is None else pages.sign_in_again_url
            return redirect(url_of(_after_sign_in(asked)), HTTPStatus.SEE_OTHER)
        client, scopes = grant.client.client, _scopes(grant)
        missing = scopes_to_allow(protocol.caller().ports, fresh.actor, client, scopes)
        if not missing and "consent" not in prompts:
            return self._finish(asked, grant, fresh)
        if "none" in prompts:
            raise ConsentRequiredError(redirect_uri=grant.redirect_uri)
        query = _query()
        consent = Consent(
            person=fresh,
            client=client,
            scopes=missing or scopes,
            redirect_uri=grant.redirect_uri,
            action=f"/oauth/consent?{query}",
            proof=consent_proof(protocol.caller().ports, fresh.actor, client, query),
        )
        return self._pages.consent_page(consent)

    def _finish(self, asked: protocol.ProtocolRequest, grant: Any, person: Person) -> BaseResponse:
        server = self._server
        try:
            response: Response = server.create_authorization_response(asked, person, grant=grant)
        except SecondFactorSkipped:
            if "none" in _prompts(asked):
                raise LoginRequiredError(redirect_uri=grant.redirect_uri) from None
            again = self._pages.sign_in_again_url(_after_sign_in(asked))
            return redirect(again, HTTPStatus.SEE_OTHER)
        response.headers.update(_NO_STORE)
        return self._server.redirect_back(response)

    def _refuse(self, asked: protocol.ProtocolRequest, error: OAuth2Error) -> BaseResponse:
        """Tell the client of an error, or the person if it is unclear who asked."""
        if not error.redirect_uri:
            return self._pages.error_page(error.error, error.description or "")
        error.state = error.state or asked.payload.state
        return self._server.redirect_back(self._server.answer_error(asked, error))

    def end_session(self) -> BaseResponse:
        """Sign out at a client's request, once the person agrees or the client proves itself."""
        if request.method == "POST":
            return redirect(f"{LOGOUT}?{urlencode([*request.form.items(multi=True)])}", 303)
        return self._end_session(is_confirmed=False)

    def confirm_logout(self) -> BaseResponse:
        """Sign out: the person agrees to the request in the query."""
        return self._end_session(is_confirmed=True)

    def _end_session(self, *, is_confirmed: bool) -> BaseResponse:
        try:
            logout = check_logout(self._server, protocol.ProtocolRequest(request, request.args))
        except OAuth2Error as error:
            return self._pages.error_page(error.error, error.description or "")
        person = self._pages.person()
        if person is None or is_confirmed or is_proved(logout, person.actor.session_id):
            return self._pages.sign_out(logout.redirect_uri)
        return self._pages.logout_page(logout, f"{LOGOUT}/confirm?{_query()}")

    def token(self) -> Response:
        """Exchange a code or a refresh token."""
        asked = protocol.ProtocolRequest(request, request.form)
        return self._answer(asked, lambda: self._server.create_token_response(asked))

    def introspect(self) -> Response:
        """Say whether one of the client's own tokens works (RFC 7662)."""
        return self._endpoint("introspection")

    def revoke(self) -> Response:
        """End the grant of one of the client's own tokens (RFC 7009)."""
        return self._endpoint("revocation")

    def device_authorization(self) -> Response:
        """Return codes for a device without a browser (RFC 8628)."""
        return self._endpoint(ENDPOINT)

    def device(self) -> BaseResponse:
        """Ask for the code that a device shows, and whether it can act for the person."""
        person = self._pages.person()
        if person is None:
            return redirect(self._pages.sign_in_url(device_path()), HTTPStatus.SEE_OTHER)
        return self._pages.device_page(person)

    def _endpoint(self, name: str) -> Response:
        asked = protocol.ProtocolRequest(request, request.form)
        return self._answer(asked, lambda: self._server.create_endpoint_response(name, asked))

    def _answer(self, asked: protocol.ProtocolRequest, answer: Callable[[], Response]) -> Response:
        """Return what Authlib answers, or that a parameter is in no form for it."""
        try:
            asked.check_parameters()
            response = answer()
        except OAuth2Error as error:
            response = self._server.answer_error(asked, error)
        response.headers.update(_NO_STORE)
        return response

    def userinfo(self) -> Response:
        """Return the claims of the person whose access token it is."""
        web = installation()
        identity = identify(web.ports, visitor_from(request.environ, web))
        record_use(web.ports, identity)
        record_actor(identity.actor)
        if not admits(identity.actor, identity.switches):
            return _challenge("invalid_token", TrafficClosed.MESSAGE)
        if identity.actor.fault is not None or not identity.actor.is_user:
            fault = identity.actor.fault or TokenFault.INVALID
            return _challenge("invalid_token", fault.message)
        try:
            claims = show_claims(web.ports, identity.actor)
        except PermissionDenied:
            problem = "The token needs the scope openid."
            return _challenge("insufficient_scope", problem, HTTPStatus.FORBIDDEN)
        except TokenRejected as rejected:  # it ended a moment ago
            return _challenge("invalid_token", rejected.fault.message)
        return _uncached(_json(claims))


def _json(body: Mapping[str, object]) -> Response:
    return Response(orjson.dumps(body), content_type=_JSON)


def _uncached(response: Response) -> Response:
    response.headers.update(_NO_STORE)
    return response


def _challenge(
    error: str, description: str, status: HTTPStatus = HTTPStatus.UNAUTHORIZED
) -> Response:
    challenge = f'Bearer error="{error}", error_description="{description}"'
    body = orjson.dumps({"error": error, "error_description": description})
    headers = {"WWW-Authenticate": challenge, **_NO_STORE}
    return Response(body, status, headers, content_type=_JSON)


def _scopes(grant: Any) -> frozenset[str]:
    return read_scopes(grant.request.scope, protocol.caller().shop) or frozenset()


def _prompts(asked: protocol.ProtocolRequest) -> frozenset[str]:
    return frozenset((asked.payload.data.get("prompt") or "").split())


def _is_old(person: Person, asked: protocol.ProtocolRequest) -> bool:
    """Whether the sign-in is older than the request allows."""
    since = person.authenticated_at.timestamp()
    after = asked.payload.data.get(_SIGNED_IN_AFTER, "")
    if _is_number(after) and since < int(after):
        return True
    max_age = asked.payload.data.get("max_age")
    if max_age is None:
        return False
    if not _is_number(max_age):
        return True
    return protocol.caller().ports.clock.timestamp() - since > int(max_age)


def _is_hinted(person: Person, asked: protocol.ProtocolRequest) -> bool:
    """Whether the person is the one of the request's ID token, if it has one."""
    hint = asked.payload.data.get(_HINT)
    if hint is None:
        return True
    asking = protocol.caller()
    claims = read_id_token(asking.ports, asking.actor, issuer_of(asking.actor), hint)
    client = find_client(asking.ports, asking.actor, asked.payload.client_id or "")
    return client is not None and claims.get("sub") == client.subject_of(person.actor.user_id or 0)


def _steps_up(person: Person, asked: protocol.ProtocolRequest) -> bool:
    """Whether the client wants a second factor, and the person has one that they didn't use."""
    wanted = (asked.payload.data.get("acr_values") or "").split()
    if protocol.TWO_FACTORS not in wanted or "none" in _prompts(asked):
        return False
    return has_unused_factor(protocol.caller().ports, person.actor)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < _MAX_DIGITS


def _after_sign_in(asked: protocol.ProtocolRequest) -> str:
    """Return the path of the same request for after a new sign-in, which it then requires.

    The age is counted from this request: a sign-in takes its time, and would never be new enough
    for a small ``max_age``.
    """
    values = dict(asked.payload.data.items())
    prompts, now = _prompts(asked), int(protocol.caller().ports.clock.timestamp())
    after = [int(value) for value in (values.get(_SIGNED_IN_AFTER, ""),) if _is_number(value)]
    if _HINT in values or protocol.TWO_FACTORS in values.get("acr_values", "").split():
        # So that a sign-in as someone else, or without a factor, isn't asked for again.
        after.append(now)
    max_age = values.pop("max_age", "")
    if _is_number(max_age):
        after.append(max(0, now - int(max_age)))
    if prompts & _NEW_SIGN_IN:
        values["prompt"] = " ".join(sorted(prompts - _NEW_SIGN_IN))
        after.append(now)
        if not values["prompt"]:
            del values["prompt"]
    if after:
        values[_SIGNED_IN_AFTER] = str(max(after))
    return f"{AUTHORIZE}?{urlencode(values)}"


def _check_options(asked: protocol.ProtocolRequest, redirect_uri: str) -> None:
    """Refuse an invalid age, another audience than the API (RFC 8707), and what isn't supported.

    Ignored, it would be answered otherwise than the client asked (OpenID Connect Core 1.0, 6).
    """
    for name in _UNSUPPORTED:
        if name in asked.payload.data:
            raise _Unsupported(name, redirect_uri=redirect_uri)
    if asked.payload.data.get("response_mode", "query") != "query":
        message = "Invalid 'response_mode' in request: only 'query' is supported."
        raise InvalidRequestError(message, redirect_uri=redirect_uri)
    if not _is_number(asked.payload.data.get("max_age", "0")):
        message = "Invalid 'max_age' in request."
        raise InvalidRequestError(message, redirect_uri=redirect_uri)
    resource = asked.payload.data.get("resource")
    if resource is not None and resource != protocol.caller().actor.issuer:
        raise _InvalidTarget(redirect_uri=redirect_uri)


class _Unsupported(OAuth2Error):  # type: ignore[misc]
    def __init__(self, name: str, redirect_uri: str) -> None:
        super().__init__(redirect_uri=redirect_uri)
        self.error = f"{name}_not_supported"


class _InvalidTarget(OAuth2Error):  # type: ignore[misc]
    error = "invalid_target"
    description = "Access tokens are for this shop's API alone."


def _query() -> str:
    return request.query_string.decode("utf-8", "replace")


def device_path() -> str:
    """Return the path of the page for devices, with the code that was entered, if any."""
    code = request.values.get("user_code", "")[:_MAX_DIGITS]
    return f"{DEVICE_PATH}?{urlencode({'user_code': code})}" if code else DEVICE_PATH


def _own_path() -> str:
    return f"{AUTHORIZE}?{_query()}"


def _metadata(issuer: str, shop: str) -> dict[str, object]:
    endpoints = {name: f"{issuer}/oauth/{name}" for name in _PATHS}
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}{AUTHORIZE}",
        "token_endpoint": endpoints["token"],
        "userinfo_endpoint": endpoints["userinfo"],
        "revocation_endpoint": endpoints["revoke"],
        "device_authorization_endpoint": endpoints[ENDPOINT],
        "introspection_endpoint": endpoints["introspect"],
        "end_session_endpoint": f"{issuer}{LOGOUT}",
        "backchannel_logout_supported": True,
        "backchannel_logout_session_supported": True,
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [
            protocol.CODE,
            protocol.REFRESH,
            protocol.CREDENTIALS,
            protocol.DEVICE,
        ],
        "subject_types_supported": ["public", "pairwise"],
        "id_token_signing_alg_values_supported": [protocol.ALGORITHM],
        "token_endpoint_auth_methods_supported": protocol.TOKEN_METHODS,
        "revocation_endpoint_auth_methods_supported": protocol.TOKEN_METHODS,
        "introspection_endpoint_auth_methods_supported": protocol.CONFIDENTIAL_METHODS,
        "token_endpoint_auth_signing_alg_values_supported": [protocol.ALGORITHM, "ES256", "PS256"],
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": [*PERSONAL_SCOPES, STAFF_SCOPE],
        "claims_supported": _CLAIMS,
        "acr_values_supported": [protocol.ONE_FACTOR, protocol.TWO_FACTORS],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "ui_locales_supported": [*SIGNED_OUT_TAGS],
        "authorization_response_iss_parameter_supported": True,
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }


_CLAIMS = [
    "sub",
    "iss",
    "aud",
    "exp",
    "iat",
    "auth_time",
    "nonce",
    "acr",
    "amr",
    "sid",
    "at_hash",
    "name",
    "given_name",
    "family_name",
    "picture",
    "locale",
    "zoneinfo",
    "updated_at",
    "email",
    "email_verified",
    "address",
    "phone_number",
    "phone_number_verified",
    "is_staff",
    "groups",
]
