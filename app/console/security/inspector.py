"""Token inspector: what a pasted token is, whether it is valid, and its permissions.

The token comes in a form's body and is in no response: neither page, URL nor cookie. With
JavaScript only the result is replaced.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.formatting import exact, relative
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.session import actor, now, ports
from app.domain.authorization.actor import SessionOrigin
from app.domain.inspector.token_inspection import CheckOutcome, Inspection, LossReason, TokenKind
from app.domain.single_sign_on.provider_jws import MAX_PROVIDER_TOKEN_LENGTH
from app.services.inspector.inspect import inspect_token

_TIMES = ("iat", "exp", "nbf", "auth_time", "updated_at")
_MAX_TIME = 10**11
_TYPES = {
    "access": "an access token",
    "refresh": "a refresh token",
    "thirdparty": "an extension's token",
}
_LOST = {
    LossReason.PERSON: "not the person's",
    LossReason.PROVIDER: "not granted by the provider",
    LossReason.APP: "not the app's",
    LossReason.TOKEN: "the token was not made for it",
    LossReason.LOGIN_MODE: "login mode",
}
_STATES = {
    CheckOutcome.PASSED: "ok",
    CheckOutcome.WARNING: "warn",
    CheckOutcome.UNKNOWN: "warn",
    CheckOutcome.FAILED: "bad",
}

blueprint = PageGroup(
    "inspector",
    __name__,
    Entry("Token inspector", "braces", "jwt decode verify", Heading.SECURITY),
    url_prefix="/inspector",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """One member of a token as people read it; ``note`` says what it means."""

    name: str
    value: str
    note: str = ""


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Show the form, with the result once a token was sent."""
    found = None
    if request.method == "POST":
        found = inspect_token(ports(), actor(), request.form.get("token", ""))
    return page(
        "inspector/index.html",
        found=found,
        verdict=None if found is None else verdict(found),
        header=[] if found is None else claims_of(found.header, found),
        claims=[] if found is None else claims_of(found.claims, found),
        states=_STATES,
        lost=_LOST,
        longest=MAX_PROVIDER_TOKEN_LENGTH + 64,
        moment=now(),
    )


def verdict(found: Inspection) -> tuple[str, str]:
    """The state and the words of what all checks come to."""
    outcomes = {check.outcome for check in found.checks}
    if CheckOutcome.FAILED in outcomes:
        unreadable = found.kind in (TokenKind.UNREADABLE, TokenKind.FOREIGN)
        return "bad", "Not a token for here" if unreadable else "Not valid"
    if CheckOutcome.UNKNOWN in outcomes:
        return "warn", "Not fully known yet"
    if CheckOutcome.WARNING in outcomes:
        return "warn", "Valid, with less than its person holds"
    return "ok", "Valid"


def claims_of(members: Mapping[str, object], found: Inspection) -> list[Claim]:
    """Header or claims in the order of the token, each with what it means."""
    return [
        Claim(name, _text(value), _note(name, value, found)) for name, value in members.items()
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _note(name: str, value: object, found: Inspection) -> str:
    if name in _TIMES:
        return _moment(value)
    if name == "type" and isinstance(value, str):
        return _TYPES.get(value, "")
    notes = {
        "user_id": "" if found.bearer is None else found.bearer.name or found.bearer.email,
        "app": "" if found.app is None else found.app.name,
        "token": _session_note(found),
        "is_staff": "tells the role; decides nothing",
        "csrf_token": "not used any more",
    }
    return notes.get(name, "")


def _session_note(found: Inspection) -> str:
    if found.session is None:
        return ""
    by_sign_on = found.session.origin is SessionOrigin.OIDC
    return f"session alive, begun by {'single sign-on' if by_sign_on else 'password'}"


def _moment(value: object) -> str:
    """Format Unix seconds; empty for an invalid time."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= float(str(value)) < _MAX_TIME:
        return ""
    at = datetime.fromtimestamp(float(str(value)), UTC)
    return f"{exact(at)}, {relative(at, now())}"
