"""Inspect a pasted token of any kind; app tokens and identity providers' tokens are read here.

No one is signed in, created or changed, and the token is sent to no one.
"""

from dataclasses import replace

from sqlalchemy import ColumnElement, select, true

from app import models
from app.domain import inspector
from app.domain.apps.apps import TOKEN_PREFIX, App, has_foreign_form, is_app_token, token_digest
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import in_order, split_names
from app.domain.shop.settings import lacks_second_factor
from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH, claimed_key, peek, peek_header
from app.domain.sign_in.tokens import is_loopback_issuer
from app.domain.single_sign_on import provider_tokens
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.text import Sentence
from app.ports import NamedRow, Ports
from app.ports.http import CallFailed
from app.services.authorization.register import staff_only
from app.services.authorization.session_rights import USER_COLUMNS, read_user, switches_of
from app.services.authorization.token_rights import is_signed_out
from app.services.identity.imported_tokens import match_imported_token
from app.services.identity.own_tokens import digest_of_token
from app.services.identity.provider_assertions import (
    ProviderPerson,
    assert_person,
    waiting_problem,
)
from app.services.identity.provider_calls import verify_with
from app.services.identity.provider_token_verification import ClientBearer, client_bearer
from app.services.identity.providers import known_providers
from app.services.identity.stored_apps import ALL_APPS, to_app
from app.services.inspector.own_tokens import (
    bearer_of,
    find_named_key,
    inspect_own_token,
    may_see_rights,
    second_factor_check,
)

_OF_TOKEN = (
    models.AppToken.name.label("token_name"),
    models.AppToken.last_four.label("token_last_four"),
    models.AppToken.expires_at.label("token_expires_at"),
    models.AppToken.permissions.label("token_permissions"),
    models.AppToken.is_by_client,
    models.App.is_installed,
)


def _inspect_app_token(ports: Ports, token: str) -> inspector.Inspection:
    """Inspect a text that begins as app tokens do; one statement. Never raises."""
    if not is_app_token(token):
        text = "It starts like an app token, but its checksum is wrong."
        check = inspector.CheckName.FORM.failed(text)
        return inspector.Inspection(inspector.TokenKind.APP, (check,))
    check = inspector.CheckName.FORM.passed("A complete app token: its checksum is valid.")
    row = _find(ports, models.AppToken.digest == token_digest(token))
    if row is None:
        text = "No app has this token: it was revoked or belongs to another installation."
        return inspector.Inspection(
            inspector.TokenKind.APP, (check, inspector.CheckName.SESSION.failed(text))
        )
    return _inspection(ports, row, check)


def _inspect_imported_token(ports: Ports, actor: Actor, token: str) -> inspector.Inspection | None:
    """Inspect a token that an app brought along; ``None`` if no app here has it.

    It is compared with the hashes of imported tokens, and stays one that wasn't used here yet.
    Raises ``TooManyRequests`` if it can't be compared right now.
    """
    if not has_foreign_form(token):
        return None
    text = "An app token from another installation."
    row = _find(ports, models.AppToken.digest == token_digest(token))
    if row is None:
        match = match_imported_token(ports, token, digest_of_token(token), actor.address)
        row = None if match is None else _find(ports, models.AppToken.id == match.id)
        text = "An app token from another installation. It hasn't been used here yet."
    return None if row is None else _inspection(ports, row, inspector.CheckName.FORM.passed(text))


def _find(ports: Ports, condition: ColumnElement[bool]) -> NamedRow | None:
    query = (
        ALL_APPS.add_columns(*_OF_TOKEN)
        .join(models.AppToken, models.AppToken.app_id == models.App.id)
        .where(condition)
    )
    with ports.database.reading() as session:
        return session.execute(query).one_or_none()


def _inspection(ports: Ports, row: NamedRow, check: inspector.Check) -> inspector.Inspection:
    app = to_app(row)
    expires_at, limit = row.token_expires_at, row.token_permissions
    ends = inspector.CheckName.TIME.failed("It has expired.")
    if expires_at is None:
        ends = inspector.CheckName.TIME.passed("It never expires.")
    elif expires_at > ports.clock.now():
        ends = inspector.CheckName.TIME.passed("Not expired.")
    return inspector.Inspection(
        inspector.TokenKind.APP,
        (
            check,
            inspector.CheckName.SESSION.passed("The app has this token."),
            ends,
            _active(app, is_installed=row.is_installed, is_by_client=row.is_by_client),
        ),
        app=inspector.TokenApp(
            app.id, app.name, app.is_active, row.token_last_four, row.token_name
        ),
        rights=inspector.app_rights(
            app.permissions, None if limit is None else split_names(limit)
        ),
    )


def _active(app: App, *, is_installed: bool, is_by_client: bool) -> inspector.Check:
    if app.client_credentials_only and not is_by_client:
        return inspector.CheckName.APP.failed("The app allows only client credentials.")
    if app.is_active:
        return inspector.CheckName.APP.passed("The app is active.")
    if not is_installed:
        # It calls back before it has become active.
        return inspector.CheckName.APP.passed("The app is being installed.")
    return inspector.CheckName.APP.failed("The app is deactivated.")


_SWITCHED_OFF = "The provider is disabled."
_NOT_SET_UP = "Access tokens need the provider's key set URL and user info URL."
_BROKEN = {
    TokenFault.UNDECODABLE: "It can't be decoded: a part is missing or was changed.",
    TokenFault.ALGORITHM: "Its signing algorithm isn't accepted.",
    TokenFault.INVALID: "Its header requires an unknown extension (crit).",
}


def _inspect_provider_token(ports: Ports, actor: Actor, token: str) -> inspector.Inspection | None:
    """Inspect a provider's signed token; ``None`` if no configured provider can have issued it.

    Never raises.
    """
    issuer = provider_tokens.claimed_issuer(token)
    providers = known_providers(ports)
    named = [one for one in providers if one.issuer and one.issuer == issuer]
    unnamed = (one for one in providers if not one.issuer and one.json_web_key_set_url)
    inspection = None
    for provider in named or unnamed:
        inspection = _inspect(ports, actor, token, provider)
        if inspection.is_valid or named:
            return inspection
    return inspection


def _inspect(ports: Ports, actor: Actor, token: str, provider: Provider) -> inspector.Inspection:
    kid = claimed_key(token)
    inspection = inspector.Inspection(
        inspector.TokenKind.PROVIDER,
        (),
        key=None if kid is None else inspector.NamedKey(kid, inspector.KeyStatus.UNKNOWN),
        provider=provider.name or provider.slug,
    )
    if not (provider.active and provider.takes_tokens):
        text = _SWITCHED_OFF if not provider.active else _NOT_SET_UP
        return inspection.with_checks(inspector.CheckName.ISSUER.failed(text))
    issued = inspector.CheckName.ISSUER.passed("Issued by a configured provider.")
    inspection = inspection.with_checks(issued)
    try:
        signed = verify_with(ports, provider, token)
    except CallFailed:
        text = "The provider isn't responding, so its keys are unknown."
        return inspection.with_checks(inspector.CheckName.KEY.unknown(text))
    except TokenRejected as rejected:
        return inspection.with_checks(_broken(rejected))
    if kid is not None:
        inspection = replace(inspection, key=inspector.NamedKey(kid, inspector.KeyStatus.PROVIDER))
    inspection = inspection.with_checks(
        inspector.CheckName.SIGNATURE.passed("Signed by the provider.")
    )
    return _with_bearer(ports, actor, inspection, provider, signed)


def _with_bearer(
    ports: Ports,
    actor: Actor,
    inspection: inspector.Inspection,
    provider: Provider,
    signed: provider_tokens.SignedToken,
) -> inspector.Inspection:
    """Add what the claims of a token say, and whose it is, to ``inspection``."""
    try:
        client = client_bearer(ports, provider, signed)
        if client is not None:
            return _with_client(ports, inspection, client)
        now, shop = ports.clock.timestamp(), ports.configuration.scope_prefix
        access = provider_tokens.read_bearer_token(signed, provider, now=now, shop=shop)
        serves_staff = provider_tokens.serves_staff_with(signed, provider)
    except provider_tokens.ProviderTokenRejected as rejected:
        name = inspector.CheckName.CLAIMS
        if rejected.fault in (TokenFault.EXPIRED, TokenFault.IMMATURE):
            name = inspector.CheckName.TIME
        return inspection.with_checks(name.failed(rejected.reason))
    text = "An access token for this audience, not expired."
    inspection = inspection.with_checks(inspector.CheckName.CLAIMS.passed(text))
    if access.subject is None:
        text = "The token has no subject. Its owner is known only from the user info."
        return inspection.with_checks(inspector.CheckName.PERSON.unknown(text))
    person = ExternalPerson(access.subject)
    said = ProviderPerson(provider, access.issuer, person, access.grant, serves_staff, access.amr)
    return _with_person(ports, actor, inspection, assert_person(ports, said), access.issued)


def _with_client(
    ports: Ports, inspection: inspector.Inspection, client: ClientBearer
) -> inspector.Inspection:
    """Add the app that a client is linked to, and its permissions, to ``inspection``."""
    of_link = ALL_APPS.join(models.AppClient, models.AppClient.app_id == models.App.id).where(
        models.AppClient.id == client.link_id
    )
    with ports.database.reading() as session:
        row = session.execute(of_link).one_or_none()
    if row is None:
        return inspection.with_checks(inspector.CheckName.APP.failed(provider_tokens.NOT_LINKED))
    app = to_app(row)
    active = inspector.CheckName.APP.failed("The app is deactivated.")
    if app.is_active:
        active = inspector.CheckName.APP.passed("The app is active.")
    read = inspector.CheckName.CLAIMS.passed(
        "A linked client got it for itself. It isn't expired."
    )
    return replace(
        inspection.with_checks(read, active),
        app=inspector.TokenApp(app.id, app.name, app.is_active),
        rights=inspector.app_rights(app.permissions, None),
    )


def _broken(rejected: TokenRejected) -> inspector.Check:
    if rejected.fault is TokenFault.SIGNATURE:
        return inspector.CheckName.SIGNATURE.failed("It isn't signed with a key of the provider.")
    return inspector.CheckName.FORM.failed(_BROKEN.get(rejected.fault, rejected.fault.message))


def _with_person(
    ports: Ports,
    actor: Actor,
    inspection: inspector.Inspection,
    provider_person: ProviderPerson,
    issued: float | None,
) -> inspector.Inspection:
    """Add the person known by that subject, and their permissions, to ``inspection``."""
    identity, provider = models.ExternalIdentity, provider_person.provider
    exact, imported = provider.issuers_here(provider_person.issuer)
    counts = true() if provider.waits else identity.waiting_mark == ""
    query = (
        select(
            models.Shop,
            identity.waiting_mark,
            identity.tokens_valid_after.label("signed_out_there"),
            models.User.tokens_valid_after.label("signed_out_here"),
            *USER_COLUMNS,
        )
        .select_from(models.Shop)
        .join(identity, identity.issuer.in_((exact, imported)))
        .join(models.User, models.User.id == identity.user_id)
        .where(identity.subject == provider_person.person.subject, counts)
        .order_by(identity.issuer != exact)
        .limit(1)
    )
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
    if row is None:
        text = "No account is linked yet. The first sign-in creates or links one."
        return inspection.with_checks(inspector.CheckName.PERSON.unknown(text))
    user = read_user(row)
    alive = inspector.CheckName.PERSON.passed("The account is active.")
    if not user.is_active:
        alive = inspector.CheckName.PERSON.failed("The account is deactivated.")
    inspection = replace(inspection.with_checks(alive), bearer=bearer_of(user))
    problem = waiting_problem(ports, provider, user, row.waiting_mark)
    if problem is not None:
        failed = inspector.CheckName.PERSON.failed(problem.message)
        inspection = inspection.with_checks(failed)
    if issued is not None and is_signed_out(issued, row.signed_out_here, row.signed_out_there):
        text = "It was issued before this person signed out everywhere."
        inspection = inspection.with_checks(inspector.CheckName.SESSION.failed(text))
    if not may_see_rights(actor, user):
        return replace(inspection, rights_hidden=True)
    granted = provider_person.rights
    scopes = None if granted is None else granted.permissions
    switches = switches_of(row.Shop, ports.clock.now())
    missing = lacks_second_factor(provider_person.amr, required=switches.second_factor_required)
    if switches.second_factor_required and user.is_staff:
        inspection = inspection.with_checks(second_factor_check(missing=missing))
    rights = inspector.person_rights(
        user.permissions,
        mode=switches.password_login_mode,
        origin=SessionOrigin.OIDC,
        second_factor_missing=missing,
        scopes=scopes,
    )
    permissions = in_order(user.permissions if scopes is None else scopes)
    return replace(inspection, rights=rights, by_sign_on=permissions)


_SCHEMES = ("bearer", "jwt")


@staff_only
def inspect_token(ports: Ports, actor: Actor, token: str) -> inspector.Inspection:
    """Explain ``token``; never raises for any text but ``TooManyRequests``.

    For all staff: anyone with a token can use it anyway. Its person's permissions are shown to
    themselves and to those who manage them. The token isn't logged, stored, returned or sent to a
    provider. A leading scheme (``Bearer``) is ignored.
    """
    text = _without_scheme(token)
    if not text:
        return _unreadable("Paste a token.")
    if len(text) > MAX_PROVIDER_TOKEN_LENGTH:
        return _unreadable("It's too long for a token.")
    if text.startswith(TOKEN_PREFIX):
        return _inspect_app_token(ports, text)
    if not provider_tokens.is_signed(text):
        return _inspect_imported_token(ports, actor, text) or _unreadable(
            "Not a Latchkey token format. Only a provider can read its opaque tokens."
        )
    inspection = _inspect_signed(ports, actor, text)
    return replace(inspection, header=peek_header(text), claims=peek(text))


def _inspect_signed(ports: Ports, actor: Actor, text: str) -> inspector.Inspection:
    if claimed_key(text) is None and not peek_header(text):
        return _unreadable("It can't be decoded: a part is missing or was changed.")
    key = find_named_key(ports, text)
    is_ours = key is not None and key.status is not inspector.KeyStatus.UNKNOWN
    if is_ours or _is_own_issuer(ports, actor, text):
        return inspect_own_token(ports, actor, text, key)
    inspection = _inspect_provider_token(ports, actor, text)
    if inspection is not None:
        return inspection
    nobody = inspector.CheckName.ISSUER.failed(
        "It wasn't issued by this service or a configured provider."
    )
    return inspector.Inspection(inspector.TokenKind.FOREIGN, (nobody,), key=key)


def _is_own_issuer(ports: Ports, actor: Actor, text: str) -> bool:
    issuer = provider_tokens.claimed_issuer(text)
    configured = ports.configuration.issuer
    if issuer is None or configured:
        return issuer is not None and issuer == configured
    return issuer == actor.issuer or is_loopback_issuer(issuer)


def _without_scheme(token: str) -> str:
    text = token.strip()
    scheme, _, rest = text.partition(" ")
    return rest.strip() if scheme.lower().rstrip(":") in _SCHEMES else text


def _unreadable(why: Sentence) -> inspector.Inspection:
    return inspector.Inspection(
        inspector.TokenKind.UNREADABLE, (inspector.CheckName.FORM.failed(why),)
    )
