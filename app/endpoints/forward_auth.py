"""Forward authentication: ``GET /auth/check`` tells a proxy whether a request can pass, and whose.

The credential of the request is judged as the API judges it.
``docs/guides/forward-authentication.md`` has the proxies' configurations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from flask import Blueprint, Response, request
from werkzeug.datastructures import MultiDict

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import admits
from app.domain.values.errors import TokenFault, TooManyRequests, TrafficClosed
from app.domain.values.ids import to_global_id
from app.domain.values.installation import DatabaseUnavailable
from app.services.identity.identify import Identity, identify, record_permission_uses, record_use
from app.web.caller import visitor_from
from app.web.headers import IdentityFact
from app.web.installation import installation
from app.web.request_hooks import record_actor

CHECK_PATH = "/auth/check"
_ANSWER = {"Cache-Control": "no-store", "Vary": "Authorization, Authorization-Bearer"}
_REQUIRE, _STAFF, _REQUIRED = "require", "staff", "required"
_ON, _OFF = ("", "1", "true"), ("0", "false")
_EXTENSION = "extension"
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F))).replace("%", "")
"""What a header can hold as it is; other characters are percent-encoded."""

_MAX_ECHO = 40
_PROVIDER_SECONDS = 5
"""When to ask again about a token whose provider isn't responding."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """What a check asks of the caller; with a permission or staff, ``identified`` too."""

    permissions: frozenset[Permission]
    staff: bool
    identified: bool


class _BadCheck(Exception):
    """The check's own parameters are wrong, for any caller."""


def make_forward_auth(headers: Mapping[IdentityFact, str]) -> Blueprint:
    """Return the edge, whose successful answers have exactly these ``headers``."""
    blueprint = Blueprint("forward_auth", __name__)

    @blueprint.get(CHECK_PATH, provide_automatic_options=False)
    def check() -> Response:
        """Answer 200 with who is calling, or why the request can't pass; never with a body."""
        try:
            return _check(headers)
        except _BadCheck as wrong:
            return _refused(HTTPStatus.BAD_REQUEST, "invalid_request", str(wrong))
        except TooManyRequests as limit:
            return _retry_later(HTTPStatus.TOO_MANY_REQUESTS, limit.retry_after)
        except DatabaseUnavailable as outage:
            return _retry_later(HTTPStatus.SERVICE_UNAVAILABLE, outage.retry_after)

    return blueprint


def _check(headers: Mapping[IdentityFact, str]) -> Response:
    demand = _read_demand(request.args)
    web = installation()
    visitor = visitor_from(request.environ, web)
    identity = identify(web.ports, visitor)
    record_use(web.ports, identity)
    record_actor(identity.actor)
    if not admits(identity.actor, identity.switches):
        web.ports.activity.count_rejection()
        if visitor.credential is None:
            return _refused(HTTPStatus.UNAUTHORIZED)
        return _refused(HTTPStatus.UNAUTHORIZED, "invalid_token", TrafficClosed.MESSAGE)
    refusal = _refusal(identity.actor, demand)
    record_permission_uses(web.ports, identity.actor)
    return refusal or _passed(identity, headers)


def _refusal(actor: Actor, demand: _Demand) -> Response | None:
    if actor.fault is TokenFault.PROVIDER:
        return _retry_later(HTTPStatus.SERVICE_UNAVAILABLE, _PROVIDER_SECONDS)
    if actor.fault is not None:
        return _refused(HTTPStatus.UNAUTHORIZED, "invalid_token", actor.fault.message)
    if demand.identified and actor.kind is ActorKind.ANONYMOUS:
        return _refused(HTTPStatus.UNAUTHORIZED)
    problem = _missing(actor, demand)
    return _refused(HTTPStatus.FORBIDDEN, "insufficient_scope", problem) if problem else None


def _missing(actor: Actor, demand: _Demand) -> str:
    """Return what an identified caller lacks; "" for nothing."""
    if actor.is_third_party:
        return "Tokens of third parties are for the API alone"
    missing = ", ".join(each for each in sorted(demand.permissions) if not actor.holds(each))
    if missing:
        return f"Missing permissions: {missing}"
    return "Staff only" if demand.staff and not actor.is_staff else ""


def _passed(identity: Identity, headers: Mapping[IdentityFact, str]) -> Response:
    facts = _facts(identity)
    told = {name: quote(facts[fact], safe=_PRINTABLE) for fact, name in headers.items()}
    return _answer(HTTPStatus.OK, told)


def _read_demand(parameters: MultiDict[str, str]) -> _Demand:
    """Read the check's parameters; a typo must not let a request pass, so each one is known."""
    unknown = parameters.keys() - {_REQUIRE, _STAFF, _REQUIRED}
    if unknown:
        raise _BadCheck(f"Unknown parameter: {min(unknown)[:_MAX_ECHO]}")
    names = [name.strip() for value in parameters.getlist(_REQUIRE) for name in value.split(",")]
    for name in names:
        if name not in set(Permission):
            raise _BadCheck(f"Unknown permission: {name[:_MAX_ECHO]}")
    permissions = frozenset(map(Permission, names))
    staff = _flag(parameters, _STAFF)
    identified = _flag(parameters, _REQUIRED) or staff or bool(permissions)
    return _Demand(permissions, staff, identified)


def _flag(parameters: MultiDict[str, str], name: str) -> bool:
    values = parameters.getlist(name)
    if len(values) > 1 or not {*values} <= {*_ON, *_OFF}:
        raise _BadCheck(f"{name} must be 1 or 0, once")
    return bool(values) and values[0] in _ON


def _facts(identity: Identity) -> Mapping[IdentityFact, str]:
    """Return what is told of a caller, as ``me`` and ``app`` tell it; empty for nothing."""
    actor, expires = identity.actor, identity.expires
    app_id = "" if actor.app_id is None else to_global_id("App", actor.app_id)
    user_id = "" if actor.user_id is None else to_global_id("User", actor.user_id)
    kind: str = _EXTENSION if actor.is_user and app_id else actor.kind
    return {
        IdentityFact.KIND: kind,
        IdentityFact.ID: user_id or app_id,
        IdentityFact.APP: app_id,
        IdentityFact.EMAIL: "" if identity.user is None else identity.user.email,
        IdentityFact.STAFF: "true" if actor.is_staff else "false",
        IdentityFact.PERMISSIONS: ",".join(sorted(actor.permissions)),
        IdentityFact.SESSION: identity.session,
        IdentityFact.EXPIRES: "" if expires is None else str(int(expires)),
    }


def _refused(status: HTTPStatus, error: str = "", description: str = "") -> Response:
    """Return a refusal as RFC 6750 has it; without a credential there is no error to name."""
    challenge = "Bearer"
    if error:
        shown = "".join(each for each in description if each in _DESCRIPTION)
        challenge = f'Bearer error="{error}", error_description="{shown}"'
    return _answer(status, {"WWW-Authenticate": challenge})


_DESCRIPTION = frozenset(_PRINTABLE + " ") - {'"', "\\"}
"""The characters of ``error_description`` (RFC 6750, 3)."""


def _retry_later(status: HTTPStatus, seconds: int) -> Response:
    return _answer(status, {"Retry-After": str(seconds)})


def _answer(status: HTTPStatus, headers: Mapping[str, str]) -> Response:
    response = Response(status=status, headers={**_ANSWER, **headers})
    del response.headers["Content-Type"]
    return response
