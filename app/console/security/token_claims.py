"""A token's claims and header as people read them, each with what its value means."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from app.console.formatting import exact, relative
from app.domain.authorization.actor import SessionOrigin
from app.domain.inspector.token_inspection import Inspection
from app.domain.values.text import translatable
from app.web.translation import text

_TIMES = ("iat", "exp", "nbf", "auth_time", "updated_at")
_MAX_TIME = 10**11
_TYPES = {
    "access": translatable("access token"),
    "refresh": translatable("refresh token"),
    "thirdparty": translatable("extension token"),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """A member of the token; ``note`` explains its value."""

    name: str
    value: str
    note: str = ""


def read_claims(
    members: Mapping[str, object], found: Inspection, now: datetime
) -> tuple[Claim, ...]:
    """Return header or claims in the order of the token."""
    return tuple(
        Claim(name, _value(value), _note(name, value, found, now))
        for name, value in members.items()
    )


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _note(name: str, value: object, found: Inspection, now: datetime) -> str:
    if name in _TIMES:
        return _moment(value, now)
    if name == "type" and isinstance(value, str):
        return text(_TYPES.get(value, ""))
    notes = {
        "user_id": "" if found.bearer is None else found.bearer.name or found.bearer.email,
        "app": "" if found.app is None else found.app.name,
        "token": _session(found),
        "is_staff": text("informational only"),
        "csrf_token": text("no longer used"),
    }
    return notes.get(name, "")


def _session(found: Inspection) -> str:
    if found.session is None:
        return ""
    if found.session.origin is SessionOrigin.OIDC:
        return text("active session, started with SSO")
    return text("active session, started with a password")


def _moment(value: object, now: datetime) -> str:
    """Format Unix seconds; empty for an invalid time."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= float(str(value)) < _MAX_TIME:
        return ""
    at = datetime.fromtimestamp(float(str(value)), UTC)
    return text("{moment}, {relative}", moment=exact(at), relative=relative(at, now))
