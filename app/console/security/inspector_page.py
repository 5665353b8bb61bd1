"""The token inspector's view model: what a token is, what was checked, and what it can do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from markupsafe import Markup

from app.console.formatting import exact, html_text, permission_label, time_element
from app.console.parts import Pill
from app.console.security.token_claims import Claim, read_claims
from app.domain.authorization.actor import SessionOrigin
from app.domain.inspector.token_inspection import (
    Bearer,
    Check,
    CheckName,
    CheckOutcome,
    Inspection,
    KeyStatus,
    LossReason,
    NamedKey,
    Right,
    TokenApp,
    TokenKind,
    TokenSession,
)
from app.web.translation import text

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
    """The token's claims or its header."""

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


def make_inspector_page(found: Inspection, now: datetime) -> InspectorPage:
    """Return the page that shows ``found``."""
    groups = (
        ClaimGroup("cl", "Claims", read_claims(found.claims, found, now)),
        ClaimGroup("hd", "Header", read_claims(found.header, found, now)),
    )
    return InspectorPage(
        verdict=_verdict(found),
        checks=tuple(_check(check) for check in found.checks),
        facts=tuple(_facts(found, now)),
        permissions=_permissions(found),
        claims=tuple(group for group in groups if group.claims),
    )


def _verdict(found: Inspection) -> Pill:
    outcomes = {check.outcome for check in found.checks}
    if CheckOutcome.FAILED in outcomes:
        is_strange = found.kind in (TokenKind.UNREADABLE, TokenKind.FOREIGN)
        return Pill("bad", "Unrecognized token" if is_strange else "Not valid")
    if CheckOutcome.UNKNOWN in outcomes:
        return Pill("warn", "Partly verified")
    if CheckOutcome.WARNING in outcomes:
        return Pill("warn", "Valid, reduced permissions")
    return Pill("ok", "Valid")


_OUTCOMES = {
    CheckOutcome.PASSED: ("ok", "Passed"),
    CheckOutcome.WARNING: ("warn", "Warning"),
    CheckOutcome.UNKNOWN: ("warn", "Unknown"),
    CheckOutcome.FAILED: ("bad", "Failed"),
}
_CHECKS = {
    CheckName.FORM: "Format",
    CheckName.KEY: "Key",
    CheckName.SIGNATURE: "Signature",
    CheckName.CLAIMS: "Claims",
    CheckName.ISSUER: "Issuer",
    CheckName.TIME: "Time",
    CheckName.SESSION: "Session",
    CheckName.PERSON: "Account",
    CheckName.APP: "App",
    CheckName.LOGIN_MODE: "Password login",
    CheckName.SECOND_FACTOR: "Second factor",
}


def _check(check: Check) -> CheckLine:
    state, outcome = _OUTCOMES[check.outcome]
    is_mode = check.name is CheckName.LOGIN_MODE
    return CheckLine(
        state=state,
        outcome=outcome,
        name=_CHECKS[check.name],
        detail=check.text,
        shows_access=is_mode and check.outcome is not CheckOutcome.PASSED,
    )


_KINDS = {
    TokenKind.ACCESS: "Access token",
    TokenKind.REFRESH: "Refresh token",
    TokenKind.EXTENSION: "Extension token",
    TokenKind.APP: "App token",
    TokenKind.PROVIDER: "Identity provider token",
    TokenKind.FOREIGN: "Token of an unknown issuer",
    TokenKind.UNREADABLE: "Unreadable",
}


def _facts(found: Inspection, now: datetime) -> Iterator[TokenFact]:
    yield TokenFact("Kind", _KINDS[found.kind])
    if found.provider:
        yield TokenFact("Identity provider", found.provider)
    if found.bearer is not None:
        yield _person(found.bearer)
    if found.app is not None:
        yield _app(found.app)
    if found.session is not None:
        yield _session(found.session, now)
    if found.key is not None:
        yield _key(found.key)
    yield TokenFact("Inspected", exact(now))


def _person(bearer: Bearer) -> TokenFact:
    kind = Pill("info", "Staff") if bearer.is_staff else Pill("", "Customer")
    pills = (kind,) if bearer.is_active else (kind, Pill("bad", "Deactivated"))
    note = bearer.email if bearer.name else ""
    return TokenFact("Person", bearer.name or bearer.email, note, pills)


def _app(app: TokenApp) -> TokenFact:
    note = ""
    if app.last_four:
        note = text("token {name} (…{last_four})", name=app.token_name, last_four=app.last_four)
    return TokenFact(
        "App",
        app.name,
        note,
        endpoint="console.apps.show",
        arguments={"key": app.id},
        link="View app",
    )


def _session(session: TokenSession, now: datetime) -> TokenFact:
    moment = time_element(session.created_at, now)
    if session.origin is SessionOrigin.OIDC:
        started = html_text("Started with SSO {moment}", moment=moment)
    else:
        started = html_text("Started with a password {moment}", moment=moment)
    return TokenFact("Session", started, text("expires {at}", at=exact(session.expires_at)))


_KEYS = {
    KeyStatus.ACTIVE: "active",
    KeyStatus.NEXT: "signs after the next rotation",
    KeyStatus.RETIRED: "retired",
    KeyStatus.ENDED: "expired",
    KeyStatus.PROVIDER: "of the identity provider",
    KeyStatus.UNKNOWN: "unknown",
}
_KEYS_ELSEWHERE = (KeyStatus.PROVIDER, KeyStatus.UNKNOWN)


def _key(key: NamedKey) -> TokenFact:
    kid = html_text(Markup("<code>{kid}</code>"), kid=key.kid)
    note = _KEYS[key.status]
    if key.verifies_until is not None:
        note = text("{status}, valid until {at}", status=note, at=exact(key.verifies_until))
    if key.status in _KEYS_ELSEWHERE:
        return TokenFact("Key", kid, note)
    return TokenFact("Key", kid, note, endpoint="console.keys.index", link="View signing keys")


def _permissions(found: Inspection) -> Permissions | None:
    if found.rights_hidden:
        return Permissions(note=_hidden(found.bearer))
    if found.rights is None:
        return None
    if not found.rights:
        return Permissions(note="This token has no permissions.")
    parties = [name for name in _PARTIES if any(_held(right, name) for right in found.rights)]
    return Permissions(
        columns=tuple(parties),
        rows=tuple(_permission(right, parties, found) for right in found.rights),
        with_sso=_with_sso(found),
    )


def _hidden(bearer: Bearer | None) -> Markup:
    needed = "MANAGE_STAFF" if bearer is not None and bearer.is_staff else "MANAGE_USERS"
    return html_text(
        Markup("To see these permissions, you need <b>{label}</b> (<code>{needed}</code>)."),
        label=permission_label(needed),
        needed=needed,
    )


_PARTIES = ("Person", "Provider", "App")


def _held(right: Right, party: str) -> str:
    """Return whether a party holds the permission; empty for a party that isn't concerned."""
    held = {"Person": right.by_person, "Provider": right.by_provider, "App": right.by_app}[party]
    if held is None:
        return ""
    return "Yes" if held else "No"


_LOST = {
    LossReason.PERSON: "No: the person doesn't have it",
    LossReason.PROVIDER: "No: the provider didn't grant it",
    LossReason.APP: "No: the app doesn't have it",
    LossReason.TOKEN: "No: not in the token's scope",
    LossReason.LOGIN_MODE: "No: login mode",
    LossReason.SECOND_FACTOR: "No: no second factor",
}


def _permission(right: Right, parties: list[str], found: Inspection) -> PermissionRow:
    if right.lost_by is not None:
        effective = Pill("off", _LOST[right.lost_by])
    elif found.is_valid:
        effective = Pill("ok", "Yes")
    else:
        effective = Pill("off", "No: the token isn't valid")
    return PermissionRow(
        permission=permission_label(right.permission),
        held=tuple((party, _held(right, party) or _NO_VALUE) for party in parties),
        effective=effective,
    )


def _with_sso(found: Inspection) -> str:
    """Return what the login mode takes away; empty if it takes nothing."""
    if all(right.lost_by is not LossReason.LOGIN_MODE for right in found.rights or ()):
        return ""
    if not found.by_sign_on:
        return "No permissions if this person signs in with SSO."
    return html_text(
        Markup("If this person signs in with SSO: <b>{permissions}</b>."),
        permissions=", ".join(permission_label(permission) for permission in found.by_sign_on),
    )
