"""Token inspector: what a pasted token is, whether it is valid, and its permissions.

The token comes in a form's body and is in no response: neither page, URL nor cookie. With
JavaScript only the result is replaced.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from flask import request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import exact, html_text, permission_label, relative, time_element
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page
from app.console.frame.parts import Pill
from app.console.frame.session import actor, now, ports
from app.domain import inspector
from app.domain.authorization.actor import SessionOrigin
from app.domain.values.text import translatable
from app.services.inspector.inspect import inspect_token
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
    members: Mapping[str, object], found: inspector.Inspection, now: datetime
) -> tuple[Claim, ...]:
    """Return header or claims in the order of the token."""
    return tuple(
        Claim(name, _value(value), _claim_note(name, value, found, now))
        for name, value in members.items()
    )


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _claim_note(name: str, value: object, found: inspector.Inspection, now: datetime) -> str:
    if name in _TIMES:
        return _moment(value, now)
    if name == "type" and isinstance(value, str):
        return text(_TYPES.get(value, ""))
    notes = {
        "user_id": "" if found.bearer is None else found.bearer.name or found.bearer.email,
        "app": "" if found.app is None else found.app.name,
        "token": _session_words(found),
        "is_staff": text("informational only"),
        "csrf_token": text("no longer used"),
    }
    return notes.get(name, "")


def _session_words(found: inspector.Inspection) -> str:
    if found.session is None:
        return ""
    if found.session.origin is SessionOrigin.OIDC:
        return text("active session, started with SSO")
    if found.session.by_passkey:
        return text("active session, started with a passkey")
    return text("active session, started with a password")


def _moment(value: object, now: datetime) -> str:
    """Format Unix seconds; empty for an invalid time."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= float(str(value)) < _MAX_TIME:
        return ""
    at = datetime.fromtimestamp(float(str(value)), UTC)
    return text("{moment}, {relative}", moment=exact(at), relative=relative(at, now))


_NO_VALUE = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class CheckLine:
    """A check: ``state`` is ok, warn or bad, ``outcome`` the same in words."""

    state: str
    outcome: str
    name: str
    detail: str
    shows_access: bool


@dataclass(frozen=True, slots=True)
class TokenFact:
    """A line about the token, with a link if it has an ``endpoint``."""

    label: str
    value: str
    note: str = ""
    pills: tuple[Pill, ...] = ()
    endpoint: str = ""
    arguments: Mapping[str, object] = field(default_factory=dict)
    link: str = ""


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    id: str
    title: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """A permission; ``held`` has the label and the value of each party's column."""

    permission: str
    held: tuple[tuple[str, str], ...]
    effective: Pill


@dataclass(frozen=True, slots=True)
class Permissions:
    """The effective permissions; ``note`` says why there are no rows."""

    columns: tuple[str, ...] = ()
    rows: tuple[PermissionRow, ...] = ()
    note: str = ""
    with_sso: str = ""


@dataclass(frozen=True, slots=True)
class InspectorPage:
    """The result of an inspection; ``permissions`` is ``None`` if they are unknown."""

    verdict: Pill
    checks: tuple[CheckLine, ...]
    facts: tuple[TokenFact, ...]
    permissions: Permissions | None
    claims: tuple[ClaimGroup, ...]


def make_inspector_page(found: inspector.Inspection, now: datetime) -> InspectorPage:
    groups = (
        ClaimGroup("cl", text("Claims"), read_claims(found.claims, found, now)),
        ClaimGroup("hd", text("Header"), read_claims(found.header, found, now)),
    )
    return InspectorPage(
        verdict=_verdict(found),
        checks=tuple(_check(check) for check in found.checks),
        facts=tuple(_facts(found, now)),
        permissions=_permissions(found),
        claims=tuple(group for group in groups if group.claims),
    )


def _verdict(found: inspector.Inspection) -> Pill:
    outcomes = {check.outcome for check in found.checks}
    if inspector.CheckOutcome.FAILED in outcomes:
        is_strange = found.kind in (inspector.TokenKind.UNREADABLE, inspector.TokenKind.FOREIGN)
        return Pill("bad", text("Unrecognized token") if is_strange else text("Not valid"))
    if inspector.CheckOutcome.UNKNOWN in outcomes:
        return Pill("warn", text("Partly verified"))
    if inspector.CheckOutcome.WARNING in outcomes:
        return Pill("warn", text("Valid, reduced permissions"))
    return Pill("ok", text("Valid"))


def verdict_sentence(found: inspector.Inspection) -> str:
    """Return the check that decides whether a token is valid, or that it is."""
    for outcome in (
        inspector.CheckOutcome.FAILED,
        inspector.CheckOutcome.UNKNOWN,
        inspector.CheckOutcome.WARNING,
    ):
        for check in found.checks:
            if check.outcome is outcome:
                return f"{_verdict(found).words}: {_detail(check)}"
    return text("Valid")


_OUTCOMES = {
    inspector.CheckOutcome.PASSED: ("ok", translatable("Passed")),
    inspector.CheckOutcome.WARNING: ("warn", translatable("Warning")),
    inspector.CheckOutcome.UNKNOWN: ("warn", translatable("Unknown")),
    inspector.CheckOutcome.FAILED: ("bad", translatable("Failed")),
}
_CHECKS = {
    inspector.CheckName.FORM: translatable("Format"),
    inspector.CheckName.KEY: translatable("Key"),
    inspector.CheckName.SIGNATURE: translatable("Signature"),
    inspector.CheckName.CLAIMS: translatable("Claims"),
    inspector.CheckName.ISSUER: translatable("Issuer"),
    inspector.CheckName.TIME: translatable("Time"),
    inspector.CheckName.SESSION: translatable("Session"),
    inspector.CheckName.PERSON: translatable("Account"),
    inspector.CheckName.APP: translatable("App"),
    inspector.CheckName.LOGIN_MODE: translatable("Password login"),
    inspector.CheckName.SECOND_FACTOR: translatable("Second factor"),
}


def _check(check: inspector.Check) -> CheckLine:
    state, outcome = _OUTCOMES[check.outcome]
    is_mode = check.name is inspector.CheckName.LOGIN_MODE
    return CheckLine(
        state=state,
        outcome=text(outcome),
        name=text(_CHECKS[check.name]),
        detail=_detail(check),
        shows_access=is_mode and check.outcome is not inspector.CheckOutcome.PASSED,
    )


def _detail(check: inspector.Check) -> str:
    if check.moment is not None:
        return text("It expired at {moment}.", moment=exact(check.moment))
    return text(check.text)


KINDS = {
    inspector.TokenKind.ACCESS: translatable("Access token"),
    inspector.TokenKind.REFRESH: translatable("Refresh token"),
    inspector.TokenKind.EXTENSION: translatable("Extension token"),
    inspector.TokenKind.APP: translatable("App token"),
    inspector.TokenKind.PROVIDER: translatable("Identity provider token"),
    inspector.TokenKind.FOREIGN: translatable("Token of an unknown issuer"),
    inspector.TokenKind.UNREADABLE: translatable("Unreadable"),
}


def _facts(found: inspector.Inspection, now: datetime) -> Iterator[TokenFact]:
    yield TokenFact(text("Kind"), text(KINDS[found.kind]))
    if found.provider:
        yield TokenFact(text("Identity provider"), found.provider)
    if found.bearer is not None:
        yield _person_fact(found.bearer)
    if found.app is not None:
        yield _app(found.app)
    if found.session is not None:
        yield _session(found.session, now)
    if found.key is not None:
        yield _key(found.key)
    yield TokenFact(text("Inspected"), exact(now))


def _person_fact(bearer: inspector.Bearer) -> TokenFact:
    kind = Pill("info", text("Staff")) if bearer.is_staff else Pill("", text("Customer"))
    pills = (kind,) if bearer.is_active else (kind, Pill("bad", text("Deactivated")))
    note = bearer.email if bearer.name else ""
    return TokenFact(text("Person"), bearer.name or bearer.email, note, pills)


def _app(app: inspector.TokenApp) -> TokenFact:
    note = ""
    if app.last_four:
        note = text("token {name} (…{last_four})", name=app.token_name, last_four=app.last_four)
    return TokenFact(
        text("App"),
        app.name,
        note,
        endpoint="console.apps.show",
        arguments={"key": app.id},
        link=text("View app"),
    )


def _session(session: inspector.TokenSession, now: datetime) -> TokenFact:
    moment = time_element(session.created_at, now)
    if session.origin is SessionOrigin.OIDC:
        started = html_text("Started with SSO {moment}", moment=moment)
    elif session.by_passkey:
        started = html_text("Started with a passkey {moment}", moment=moment)
    else:
        started = html_text("Started with a password {moment}", moment=moment)
    return TokenFact(text("Session"), started, text("expires {at}", at=exact(session.expires_at)))


_KEYS = {
    inspector.KeyStatus.ACTIVE: translatable("active"),
    inspector.KeyStatus.NEXT: translatable("signs after the next rotation"),
    inspector.KeyStatus.RETIRED: translatable("retired"),
    inspector.KeyStatus.ENDED: translatable("expired"),
    inspector.KeyStatus.WITHDRAWN: translatable("withdrawn"),
    inspector.KeyStatus.PROVIDER: translatable("of the identity provider"),
    inspector.KeyStatus.UNKNOWN: translatable("unknown"),
}
_KEYS_ELSEWHERE = (inspector.KeyStatus.PROVIDER, inspector.KeyStatus.UNKNOWN)


def _key(key: inspector.NamedKey) -> TokenFact:
    kid = html_text(Markup("<code>{kid}</code>"), kid=key.kid)
    note = text(_KEYS[key.status])
    if key.verifies_until is not None:
        note = text("{status}, valid until {at}", status=note, at=exact(key.verifies_until))
    if key.status in _KEYS_ELSEWHERE:
        return TokenFact(text("Key"), kid, note)
    return TokenFact(
        text("Key"), kid, note, endpoint="console.keys.index", link=text("View signing keys")
    )


def _permissions(found: inspector.Inspection) -> Permissions | None:
    if found.rights_hidden:
        return Permissions(note=_hidden(found.bearer))
    if found.rights is None:
        return None
    if not found.rights:
        return Permissions(note=text("This token has no permissions."))
    parties = [name for name in _PARTIES if any(_held_text(right, name) for right in found.rights)]
    return Permissions(
        columns=tuple(map(text, parties)),
        rows=tuple(_permission(right, parties, found) for right in found.rights),
        with_sso=_with_sso(found),
    )


def _hidden(bearer: inspector.Bearer | None) -> Markup:
    needed = "MANAGE_STAFF" if bearer is not None and bearer.is_staff else "MANAGE_USERS"
    return html_text(
        Markup("To see these permissions, you need <b>{label}</b> (<code>{needed}</code>)."),
        label=permission_label(needed),
        needed=needed,
    )


_PARTIES = (translatable("Person"), translatable("Provider"), translatable("App"))


def _held_text(right: inspector.Right, party: str) -> str:
    """Return whether a party holds the permission; empty for a party that isn't concerned."""
    held = {"Person": right.by_person, "Provider": right.by_provider, "App": right.by_app}[party]
    if held is None:
        return ""
    return text("Yes") if held else text("No")


_LOST = {
    inspector.LossReason.PERSON: translatable("No: the person doesn't have it"),
    inspector.LossReason.PROVIDER: translatable("No: the provider didn't grant it"),
    inspector.LossReason.APP: translatable("No: the app doesn't have it"),
    inspector.LossReason.TOKEN: translatable("No: not in the token's scope"),
    inspector.LossReason.LOGIN_MODE: translatable("No: login mode"),
    inspector.LossReason.SECOND_FACTOR: translatable("No: no second factor"),
}


def _permission(
    right: inspector.Right, parties: list[str], found: inspector.Inspection
) -> PermissionRow:
    if right.lost_by is not None:
        effective = Pill("off", text(_LOST[right.lost_by]))
    elif found.is_valid:
        effective = Pill("ok", text("Yes"))
    else:
        effective = Pill("off", text("No: the token isn't valid"))
    return PermissionRow(
        permission=permission_label(right.permission),
        held=tuple((text(party), _held_text(right, party) or _NO_VALUE) for party in parties),
        effective=effective,
    )


def _with_sso(found: inspector.Inspection) -> str:
    """Return what the login mode takes away; empty if it takes nothing."""
    if all(right.lost_by is not inspector.LossReason.LOGIN_MODE for right in found.rights or ()):
        return ""
    if not found.by_sign_on:
        return text("No permissions if this person signs in with SSO.")
    return html_text(
        Markup("If this person signs in with SSO: <b>{permissions}</b>."),
        permissions=", ".join(permission_label(permission) for permission in found.by_sign_on),
    )


blueprint = PageGroup(
    "inspector",
    __name__,
    Entry("Token inspector", "braces", "jwt decode verify", Heading.TOOLS, needs=inspect_token),
    url_prefix="/inspector",
)


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Show the form, with the result once a token was sent."""
    found: InspectorPage | None = None
    if request.method == "POST":
        inspection = inspect_token(ports(), actor(), request.form.get("token", ""))
        found = make_inspector_page(inspection, now())
    return page("inspector/index.html", found=found, longest=inspector.MAX_PASTED)
