"""Inspect identity providers' tokens with what this service can check itself.

No one is signed in, created or changed, and the token is sent to no one. A provider's keys are
fetched as for any request: at most once per cool-down.
"""

from dataclasses import replace

from sqlalchemy import select, true

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import in_order
from app.domain.inspector import (
    Check,
    CheckName,
    CheckOutcome,
    Inspection,
    KeyStatus,
    NamedKey,
    TokenKind,
    failed,
    passed,
    person_rights,
)
from app.domain.shop.settings import lacks_second_factor
from app.domain.sign_in.jws import claimed_key
from app.domain.single_sign_on.provider_tokens import (
    ProviderTokenRejected,
    claimed_issuer,
    read_bearer_token,
    serves_staff_with,
)
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenFault, TokenRejected
from app.models import ExternalIdentityRecord, ShopRecord, UserRecord
from app.ports import Ports
from app.ports.http import CallFailed
from app.services.authorization.live_sessions import USER_COLUMNS, read_user, switches_of
from app.services.authorization.provider_rights import is_signed_out
from app.services.authorization.register import part
from app.services.identity.provider_assertions import (
    ProviderPerson,
    assert_person,
    waiting_problem,
)
from app.services.identity.provider_keys import verify_with
from app.services.identity.providers import known_providers
from app.services.inspector.own_tokens import may_see_rights, second_factor_check
from app.services.inspector.sessions import bearer_of

_SWITCHED_OFF = "The provider is disabled."
_NOT_SET_UP = "Access tokens need the provider's key set URL and user info URL."
_BROKEN = {
    TokenFault.UNDECODABLE: "It can't be decoded: a part is missing or was changed.",
    TokenFault.ALGORITHM: "Its signing algorithm isn't accepted.",
    TokenFault.INVALID: "Its header requires an unknown extension (crit).",
}


@part
def inspect_provider_token(ports: Ports, actor: Actor, token: str) -> Inspection | None:
    """Inspect a provider's signed token; ``None`` if no configured provider can have issued it.

    Never raises.
    """
    issuer = claimed_issuer(token)
    providers = known_providers(ports)
    named = [
        candidate for candidate in providers if candidate.issuer and candidate.issuer == issuer
    ]
    candidates = named or [
        candidate
        for candidate in providers
        if not candidate.issuer and candidate.json_web_key_set_url
    ]
    inspection = None
    for provider in candidates:
        inspection = _inspect(ports, actor, token, provider)
        if inspection.is_valid or named:
            return inspection
    return inspection


def _inspect(ports: Ports, actor: Actor, token: str, provider: Provider) -> Inspection:
    kid = claimed_key(token)
    inspection = Inspection(
        TokenKind.PROVIDER,
        (),
        key=None if kid is None else NamedKey(kid, KeyStatus.UNKNOWN),
        provider=provider.name or provider.slug,
    )
    if not (provider.active and provider.takes_tokens):
        text = _SWITCHED_OFF if not provider.active else _NOT_SET_UP
        return replace(inspection, checks=(failed(CheckName.ISSUER, text),))
    check = passed(CheckName.ISSUER, "Issued by a configured provider.")
    try:
        signed = verify_with(ports, provider, token)
    except CallFailed:
        text = "The provider isn't responding, so its keys are unknown."
        return replace(
            inspection, checks=(check, Check(CheckName.KEY, CheckOutcome.UNKNOWN, text))
        )
    except TokenRejected as rejected:
        return replace(inspection, checks=(check, _broken(rejected)))
    if kid is not None:
        inspection = replace(inspection, key=NamedKey(kid, KeyStatus.PROVIDER))
    checks = (check, passed(CheckName.SIGNATURE, "Signed by the provider."))
    try:
        access = read_bearer_token(
            signed,
            provider,
            now=ports.clock.timestamp(),
            shop=ports.configuration.scope_prefix,
        )
        serves_staff = serves_staff_with(signed, provider)
    except ProviderTokenRejected as rejected:
        name = CheckName.CLAIMS
        if rejected.fault in (TokenFault.EXPIRED, TokenFault.IMMATURE):
            name = CheckName.TIME
        return replace(inspection, checks=(*checks, failed(name, rejected.reason)))
    read = passed(CheckName.CLAIMS, "An access token for this audience, not expired.")
    inspection = replace(inspection, checks=(*checks, read))
    if access.subject is None:
        text = "The token has no subject. Its owner is known only from the user info."
        check = Check(CheckName.PERSON, CheckOutcome.UNKNOWN, text)
        return replace(inspection, checks=(*inspection.checks, check))
    said = ProviderPerson(
        provider,
        access.issuer,
        ExternalPerson(access.subject),
        access.grant,
        serves_staff,
        access.amr,
    )
    return _with_person(ports, actor, inspection, assert_person(ports, said), access.issued)


def _broken(rejected: TokenRejected) -> Check:
    if rejected.fault is TokenFault.SIGNATURE:
        return failed(CheckName.SIGNATURE, "It isn't signed with a key of the provider.")
    return failed(CheckName.FORM, _BROKEN.get(rejected.fault, rejected.fault.message))


def _with_person(
    ports: Ports,
    actor: Actor,
    inspection: Inspection,
    provider_person: ProviderPerson,
    issued: float | None,
) -> Inspection:
    """Add the person known by that subject, and their permissions, to ``inspection``."""
    identity, provider = ExternalIdentityRecord, provider_person.provider
    exact, imported = provider.issuers_here(provider_person.issuer)
    counts = true() if provider.waits else identity.waiting_mark == ""
    query = (
        select(
            ShopRecord,
            identity.waiting_mark,
            identity.tokens_valid_after.label("signed_out_there"),
            UserRecord.tokens_valid_after.label("signed_out_here"),
            *USER_COLUMNS,
        )
        .select_from(ShopRecord)
        .join(identity, identity.issuer.in_((exact, imported)))
        .join(UserRecord, UserRecord.id == identity.user_id)
        .where(identity.subject == provider_person.person.subject, counts)
        .order_by(identity.issuer != exact)
        .limit(1)
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    if row is None:
        text = "No account is linked yet. The first sign-in creates or links one."
        check = Check(CheckName.PERSON, CheckOutcome.UNKNOWN, text)
        return replace(inspection, checks=(*inspection.checks, check))
    user = read_user(row)
    checks = [*inspection.checks, _alive(active=user.is_active)]
    problem = waiting_problem(ports, provider, user, row.waiting_mark)
    if problem is not None:
        checks.append(failed(CheckName.PERSON, problem.message))
    if issued is not None and is_signed_out(issued, row.signed_out_here, row.signed_out_there):
        text = "It was issued before this person signed out everywhere."
        checks.append(failed(CheckName.SESSION, text))
    inspection = replace(inspection, checks=tuple(checks), bearer=bearer_of(user))
    if not may_see_rights(actor, user):
        return replace(inspection, rights_hidden=True)
    granted = provider_person.rights
    scopes = None if granted is None else granted.permissions
    switches = switches_of(row.ShopRecord, ports.clock.now())
    missing = lacks_second_factor(provider_person.amr, required=switches.second_factor_required)
    if switches.second_factor_required and user.is_staff:
        checks.append(second_factor_check(missing=missing))
        inspection = replace(inspection, checks=tuple(checks))
    rights = person_rights(
        user.permissions,
        mode=switches.password_login_mode,
        origin=SessionOrigin.OIDC,
        second_factor_missing=missing,
        scopes=scopes,
    )
    permissions = in_order(user.permissions if scopes is None else scopes)
    return replace(inspection, rights=rights, by_sign_on=permissions)


def _alive(*, active: bool) -> Check:
    if active:
        return passed(CheckName.PERSON, "The account is active.")
    return failed(CheckName.PERSON, "The account is deactivated.")
