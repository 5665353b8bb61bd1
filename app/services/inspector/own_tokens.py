"""Inspect Latchkey's own tokens: each check with its outcome, their session, and their rights."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlalchemy import and_, literal, select

from app import models
from app.domain import inspector
from app.domain.accounts.users import User
from app.domain.apps.apps import extension_permissions
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission, ScopeGrant, in_order, read_grant
from app.domain.second_factors import began_with_passkey, read_methods
from app.domain.shop.settings import (
    PasswordLoginMode,
    lacks_second_factor,
    rejects_password_sessions,
    removes_staff_rights,
)
from app.domain.sign_in.jws import claimed_key, peek
from app.domain.sign_in.tokens import (
    Claims,
    TokenType,
    check_claims,
    is_loopback_issuer,
    read_claims,
)
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.text import Sentence
from app.ports import NamedRow, Ports
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import (
    APP_PERMISSIONS,
    USER_COLUMNS,
    read_permissions,
    read_user,
)
from app.services.authorization.shop_state import is_second_factor_required
from app.services.identity.users import NEEDED
from app.services.keys import (
    configured_key,
    last_retirement_of_ended_keys,
    ring,
    stored_ring,
    verifies_until,
)

_session = models.Session
_SESSION = (
    _session.id.label("session_id"),
    _session.origin.label("session_origin"),
    _session.scope.label("session_scope"),
    _session.amr.label("session_amr"),
    _session.created_at.label("session_created_at"),
    _session.expires_at.label("session_expires_at"),
)
_APP = (
    models.App.id.label("app_id"),
    models.App.name.label("app_name"),
    models.App.is_active.label("app_is_active"),
    APP_PERMISSIONS.label("app_permissions"),
)


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """The records behind a token's claims; ``None`` for those that no longer exist."""

    mode: PasswordLoginMode
    second_factor_required: bool
    session: inspector.TokenSession | None
    grant: ScopeGrant | None
    user: User | None
    app: inspector.TokenApp | None
    granted: frozenset[Permission]
    amr: tuple[str, ...] = ()


def _load_token_trace(ports: Ports, claims: Claims) -> TokenTrace:
    """Return the session, person and app that ``claims`` name, ended and deleted ones too."""
    app = models.App
    person = _session.user_id if claims.user_id is None else literal(claims.user_id)
    query = (
        select(
            models.Shop.password_login_mode,
            models.Shop.second_factor_from,
            *_SESSION,
            *_APP,
            *USER_COLUMNS,
        )
        .select_from(models.Shop)
        .outerjoin(_session, and_(_session.token == claims.session, _session.user_id == person))
        .outerjoin(models.User, models.User.id == person)
        .outerjoin(app, app.id == (claims.app_id or 0))
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    return TokenTrace(
        mode=PasswordLoginMode(row.password_login_mode),
        second_factor_required=is_second_factor_required(
            row.second_factor_from, ports.clock.now()
        ),
        session=None if row.session_id is None else _session_in(row),
        grant=read_grant(row.session_scope),
        user=None if row.user_id is None else read_user(row),
        app=None if row.app_id is None else _app_in(row),
        granted=read_permissions(row.app_permissions),
        amr=read_methods(row.session_amr or ""),
    )


@building_block
def bearer_of(user: User) -> inspector.Bearer:
    name = f"{user.first_name} {user.last_name}".strip()
    return inspector.Bearer(user.id, user.email, name, user.is_staff, user.is_active)


def _session_in(row: NamedRow) -> inspector.TokenSession:
    origin = SessionOrigin(row.session_origin)
    amr = read_methods(row.session_amr or "")
    return inspector.TokenSession(
        id=row.session_id,
        origin=origin,
        created_at=row.session_created_at,
        expires_at=row.session_expires_at,
        by_passkey=origin is SessionOrigin.PASSWORD and began_with_passkey(amr),
    )


def _app_in(row: NamedRow) -> inspector.TokenApp:
    return inspector.TokenApp(row.app_id, row.app_name, row.app_is_active)


_BROKEN = {
    TokenFault.UNDECODABLE: "It can't be decoded: a part is missing or was changed.",
    TokenFault.ALGORITHM: "It isn't signed with RS256, the only accepted algorithm.",
    TokenFault.INVALID: "Its header has unexpected members.",
    TokenFault.SIGNATURE: "It doesn't name a key.",
}


_OWN_KEYS = {
    inspector.KeyStatus.ACTIVE: "A signing key of this service: active.",
    inspector.KeyStatus.NEXT: "A signing key of this service: next.",
    inspector.KeyStatus.RETIRED: "A signing key of this service: retired.",
}
_COMPLETE = {
    TokenType.ACCESS: "All claims are present. Type: access.",
    TokenType.REFRESH: "All claims are present. Type: refresh.",
    TokenType.EXTENSION: "All claims are present. Type: thirdparty.",
}
_ACTIVE = {
    True: "The session is active. It started with SSO.",
    False: "The session is active. It started with a password.",
}
"""By whether the session began at an identity provider."""


@dataclass(slots=True)
class _Checks:
    checks: list[inspector.Check] = field(default_factory=list)

    def add_check(
        self, name: inspector.CheckName, good: Sentence | None, bad: Sentence = ""
    ) -> bool:
        """Add a check, passed if it has a ``good`` text; return whether it has."""
        self.checks.append(name.failed(bad) if good is None else name.passed(good))
        return good is not None


@building_block
def inspect_own_token(
    ports: Ports, actor: Actor, token: str, key: inspector.NamedKey | None
) -> inspector.Inspection:
    """Inspect a signed token with Latchkey's issuer or one of its keys. Never raises."""
    inspection = inspector.Inspection(inspector.TokenKind.ACCESS, (), claims=peek(token), key=key)
    findings = _Checks()
    everything = _signed(ports, token, key, findings)
    claims = None if everything is None else _own_claims(ports, everything, findings)
    if claims is not None:
        inspection = replace(inspection, kind=inspector.TokenKind[TokenType(claims.type).name])
        if _check_issuer(ports, actor, claims, findings) and _in_time(ports, claims, findings):
            trace = _load_token_trace(ports, claims)
            inspection = _add_session(actor, inspection, trace, claims, findings)
    return replace(inspection, checks=tuple(findings.checks))


@building_block
def find_named_key(ports: Ports, token: str) -> inspector.NamedKey | None:
    """Return the ring's key that ``token`` names; ``None`` without a ``kid``."""
    kid = claimed_key(token)
    if kid is None:
        return None
    ring(ports)
    stored = stored_ring(ports)
    if kid in stored.withdrawn:
        return inspector.NamedKey(kid, inspector.KeyStatus.WITHDRAWN)
    fixed = configured_key(ports, stored)
    if fixed is not None:
        is_fixed = kid == fixed.public.kid
        return inspector.NamedKey(
            kid, inspector.KeyStatus.ACTIVE if is_fixed else inspector.KeyStatus.UNKNOWN
        )
    for key in stored.keys:
        if key.pair.public.kid != kid:
            continue
        ended = last_retirement_of_ended_keys(ports)
        over = key.retired_at is not None and key.retired_at <= ended
        status = inspector.KeyStatus.ENDED if over else inspector.KeyStatus[key.state.name]
        return inspector.NamedKey(kid, status, verifies_until(ports, key))
    return inspector.NamedKey(kid, inspector.KeyStatus.UNKNOWN)


def _signed(
    ports: Ports, token: str, key: inspector.NamedKey | None, findings: _Checks
) -> Mapping[str, object] | None:
    """Return the claims; ``None`` if no key of the ring has signed them."""
    try:
        everything = ports.keys.verify(ring(ports).ring.published, token)
    except TokenRejected as rejected:
        if rejected.fault is not TokenFault.SIGNATURE or key is None:
            findings.add_check(inspector.CheckName.FORM, None, _BROKEN[rejected.fault])
            return None
        findings.add_check(inspector.CheckName.FORM, "A complete token, signed with RS256.")
        if key.status is inspector.KeyStatus.ENDED:
            findings.add_check(
                inspector.CheckName.KEY, None, "The key was retired and has expired."
            )
        elif key.status is inspector.KeyStatus.WITHDRAWN:
            findings.add_check(inspector.CheckName.KEY, None, "The key was withdrawn.")
        elif key.status is inspector.KeyStatus.UNKNOWN:
            findings.add_check(inspector.CheckName.KEY, None, "Unknown key ID.")
        else:
            findings.add_check(inspector.CheckName.KEY, _OWN_KEYS[key.status])
            bad = "The signature doesn't match the key: the token was changed or forged."
            findings.add_check(inspector.CheckName.SIGNATURE, None, bad)
        return None
    findings.add_check(inspector.CheckName.FORM, "A complete token, signed with RS256.")
    findings.add_check(
        inspector.CheckName.KEY, _OWN_KEYS[key.status if key else inspector.KeyStatus.ACTIVE]
    )
    findings.add_check(inspector.CheckName.SIGNATURE, "Signature valid.")
    return everything


def _own_claims(
    ports: Ports, everything: Mapping[str, object], findings: _Checks
) -> Claims | None:
    owners = ports.configuration.token_owners
    try:
        claims = read_claims(everything, owners)
    except TokenRejected:
        owner_claim = everything.get("owner")
        bad = "A required claim is missing or has the wrong type."
        if isinstance(owner_claim, str) and owner_claim not in owners:
            bad = "It belongs to another owner: TOKEN_OWNER or VENDOR has changed since."
        findings.add_check(inspector.CheckName.CLAIMS, None, bad)
        return None
    has_known_type = claims.type in list(TokenType)
    bad = "Unknown token type."
    good = _COMPLETE[TokenType(claims.type)] if has_known_type else None
    return claims if findings.add_check(inspector.CheckName.CLAIMS, good, bad) else None


def _check_issuer(ports: Ports, actor: Actor, claims: Claims, findings: _Checks) -> bool:
    configured = ports.configuration.issuer
    ours = claims.iss == (configured or actor.issuer)
    ours = ours or (not configured and is_loopback_issuer(claims.iss))
    good = "Issued for this URL." if ours else None
    return findings.add_check(inspector.CheckName.ISSUER, good, "It was issued for another URL.")


def _in_time(ports: Ports, claims: Claims, findings: _Checks) -> bool:
    now = ports.clock.timestamp()
    try:
        check_claims(claims, now=now, issuer=claims.iss, configured=True)
    except TokenRejected as rejected:
        if rejected.fault is TokenFault.IMMATURE:
            bad = "It isn't valid yet: iat or nbf is in the future."
            return findings.add_check(inspector.CheckName.TIME, None, bad)
        since = datetime.fromtimestamp(max(0, min(claims.exp, now)), UTC)
        findings.checks.append(
            replace(inspector.CheckName.TIME.failed("It has expired."), moment=since)
        )
        return False
    return findings.add_check(inspector.CheckName.TIME, "Not expired.")


def _add_session(
    actor: Actor,
    inspection: inspector.Inspection,
    trace: TokenTrace,
    claims: Claims,
    findings: _Checks,
) -> inspector.Inspection:
    """``inspection`` with the session, the person and the app that the token speaks for."""
    session, user = trace.session, trace.user
    origin = SessionOrigin.NONE if session is None else session.origin
    good = None if session is None else _ACTIVE[origin is SessionOrigin.OIDC]
    findings.add_check(inspector.CheckName.SESSION, good, "The session has ended.")
    alive = user is not None and user.is_active
    bad = "The account doesn't exist." if user is None else "The account is deactivated."
    findings.add_check(
        inspector.CheckName.PERSON, "The account is active." if alive else None, bad
    )
    is_extension = claims.type == TokenType.EXTENSION
    if is_extension:
        on = trace.app is not None and trace.app.is_active
        bad = "The app was deleted." if trace.app is None else "The app is deactivated."
        findings.add_check(inspector.CheckName.APP, "The app is active." if on else None, bad)
    missing = False
    if session is not None:
        findings.checks.append(_mode_check(trace.mode, origin))
        is_of_staff = user is not None and user.is_staff
        missing = lacks_second_factor(trace.amr, required=trace.second_factor_required)
        if trace.second_factor_required and is_of_staff:
            findings.checks.append(second_factor_check(missing=missing))
    inspection = replace(
        inspection,
        session=session,
        app=trace.app,
        bearer=None if user is None else bearer_of(user),
    )
    if user is None or session is None:
        return inspection
    if not may_see_rights(actor, user):
        return replace(inspection, rights_hidden=True)
    app = extension_permissions(trace.granted) if is_extension else None
    scopes = None if trace.grant is None else trace.grant.permissions
    permissions = user.permissions
    rights = inspector.person_rights(
        permissions,
        mode=trace.mode,
        origin=origin,
        second_factor_missing=missing,
        scopes=scopes,
        app=app,
    )
    return replace(inspection, rights=rights, by_sign_on=_by_sign_on(permissions, scopes, app))


@building_block
def may_see_rights(actor: Actor, user: User) -> bool:
    """Whether ``actor`` can see the permissions of ``user``: their own, or a managed user's."""
    own = actor.is_account_owner and actor.user_id == user.id
    return own or actor.holds(NEEDED[user.is_staff])


def _mode_check(mode: PasswordLoginMode, origin: SessionOrigin) -> inspector.Check:
    if rejects_password_sessions(mode, origin):
        reason = "Password login is off, and the session started with a password."
        return inspector.CheckName.LOGIN_MODE.failed(reason)
    if removes_staff_rights(mode, origin):
        reason = "Password login is limited to customers, so staff permissions don't apply."
        return inspector.CheckName.LOGIN_MODE.warned(reason)
    return inspector.CheckName.LOGIN_MODE.passed("The login mode doesn't limit this session.")


@building_block
def second_factor_check(*, missing: bool) -> inspector.Check:
    """Check a session of staff while a second factor is required."""
    if missing:
        reason = "Staff need a second factor, and this session used none."
        return inspector.CheckName.SECOND_FACTOR.warned(reason)
    return inspector.CheckName.SECOND_FACTOR.passed("The session used a second factor.")


def _by_sign_on(
    held: frozenset[Permission],
    scopes: frozenset[Permission] | None,
    app: frozenset[Permission] | None,
) -> tuple[Permission, ...]:
    mine = held if scopes is None else scopes
    return in_order(mine if app is None else mine & app)
