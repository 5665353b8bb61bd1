"""Set a provider up from its own description, try it, and preview whom its token would sign in."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import select

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission, in_order, known_permissions
from app.domain.single_sign_on import provider_tokens
from app.domain.single_sign_on.group_mapping import read_group_mapping
from app.domain.single_sign_on.provider_settings import discovery_url, issuer_in, read_description
from app.domain.single_sign_on.provider_users import (
    MappedKind,
    MappedTo,
    MappingPreview,
    read_person,
)
from app.domain.single_sign_on.providers import Provider, serves_any_client
from app.domain.single_sign_on.waiting_changes import ANY_CLIENT, read_waiting
from app.domain.values.errors import Problem, Refused, TokenRejected, refuse_any
from app.domain.values.inputs import Seen
from app.domain.values.installation import CheckResult, CheckState
from app.domain.values.text import Phrase, Phrases, Sentence, text, translatable
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.identity_provider import GrantRefused
from app.ports.process_cache import CallPurpose
from app.services.authorization.register import fresh_proof, requires
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.authorization.token_rights import is_signed_out
from app.services.identity.linked_accounts import (
    INACTIVE,
    SIGNED_OUT,
    TWINS,
    linked_identity_problem,
    new_identity_problem,
)
from app.services.identity.permission_holders import find_group_changes
from app.services.identity.provider_assertions import (
    ProviderPerson,
    assert_person,
    require_honoured,
    require_issued_since,
    require_opaque_allowed,
    waiting_problem,
)
from app.services.identity.provider_calls import fetch_user_info, unusable_response, verify_with
from app.services.identity.providers import find_provider
from app.services.identity.users import has_email
from app.services.inspector.own_tokens import may_see_rights
from app.services.shop.impact import sessions_without_refresh_token
from app.services.single_sign_on.provider_settings import (
    ProviderUpdate,
    missing_groups,
    save_provider,
)
from app.services.single_sign_on.sign_in import client_of

_NOBODYS = "nobody-has-given-this-out"
_REFUSED = 400
_BROKEN = 500


@fresh_proof("You're about to look up an identity provider's settings.")
@requires(Permission.MANAGE_PLUGINS)
def discover_provider(
    ports: Ports,
    actor: Actor,
    slug: str,
    issuer: str,
    *,
    asks_first: bool = False,
    seen: Seen | None = None,
) -> Provider:
    """Set the URLs of the provider ``slug`` from the discovery document of ``issuer``.

    ``issuer`` can also be the document's whole URL.
    Refuses INVALID on ``issuer`` if there is no document, it is another issuer's, or it offers
    nothing that this service can use. Refuses what ``save_provider`` does. Other settings stay.
    Raises ``Stale`` if a value of ``Plugin.facts`` isn't as ``seen`` anymore.
    """
    settings = _described(ports, issuer)
    changes = ProviderUpdate(settings, asks_first=asks_first, seen=seen or {})
    return save_provider(ports, actor, slug, changes)


@fresh_proof("You're about to add an identity provider.")
@requires(Permission.MANAGE_PLUGINS)
def add_provider(
    ports: Ports, actor: Actor, slug: str, name: str, issuer: str, settings: Mapping[str, str]
) -> Provider:
    """Add a provider with ``settings`` and what its ``issuer``, if given, describes.

    Refuses what ``discover_provider`` and ``save_provider`` do, and adds nothing then.
    """
    described = _described(ports, issuer) if issuer else {}
    changes = ProviderUpdate({**described, **settings}, name=name, is_new=True)
    return save_provider(ports, actor, slug, changes)


def _described(ports: Ports, issuer: str) -> Mapping[str, str | None]:
    """Return the settings that the discovery document of ``issuer`` names."""
    try:
        document = ports.identity_provider.discover(discovery_url(issuer))
    except CallFailed as failed:
        raise Refused(
            Problem("INVALID", "{failed}", "issuer", values={"failed": Phrase(failed)})
        ) from failed
    settings, problems = read_description(document, issuer_in(issuer))
    refuse_any(*problems)
    return settings


@requires(Permission.MANAGE_PLUGINS)
def check_provider(ports: Ports, actor: Actor, slug: str) -> tuple[CheckResult, ...]:
    """Test everything that the provider ``slug`` is used for, without signing anyone in.

    Refuses NOT_FOUND on ``provider``.
    """
    provider = find_provider(ports, slug)
    return tuple(_findings(ports, provider))


_WAYS = {
    (True, True): "This service accepts its access tokens and signs users in with it.",
    (True, False): "This service accepts its access tokens.",
    (False, True): "This service signs users in with it.",
}
"""By whether the provider's access tokens are accepted, and whether users sign in with it."""


def _check_result(
    subject: str, state: CheckState, message: Sentence, remedy: Sentence = "", **values: object
) -> CheckResult:
    """Return a finding whose message and remedy have places for ``values``."""
    whole = (text(message, **values), text(remedy, **values))
    return CheckResult(subject, state, *whole, templates=(message, remedy), values=values)


def _findings(ports: Ports, provider: Provider) -> Iterator[CheckResult]:
    yield _modes(provider)
    yield from _trust(provider)
    yield from _groups(ports, provider)
    yield from _refreshing(ports, provider)
    if provider.issuer:
        yield _run_check("issuer", partial(_issuer, ports, provider))
    if provider.json_web_key_set_url:
        yield _run_check("json_web_key_set_url", partial(_keys, ports, provider))
    if provider.user_info_url:
        yield _run_check("user_info_url", partial(_user_info, ports, provider))
    if provider.oauth_token_url:
        yield _run_check("oauth_token_url", partial(_token, ports, provider))
    for name in ("oauth_authorization_url", "oauth_logout_url"):
        url = getattr(provider, name)
        if url:
            yield _run_check(name, partial(_page, ports, name, url))


def _run_check(name: str, look: Callable[[], CheckResult]) -> CheckResult:
    try:
        return look()
    except CallFailed as failed:
        remedy = "Check {name} and that this machine can reach it."
        return _check_result(
            name, CheckState.FAILED, "{failed}", remedy, name=name, failed=Phrase(failed)
        )


def _modes(provider: Provider) -> CheckResult:
    if not (provider.takes_tokens or provider.signs_in):
        message = "The provider isn't set up: it has no usable endpoints."
        return _check_result("active", CheckState.FAILED, message, "flask oidc discover ISSUER")
    if not provider.active:
        message = "The provider is disabled, so no one can sign in with it."
        return _check_result("active", CheckState.WARNING, message, "flask oidc set active true")
    if provider.takes_tokens and provider.use_oauth_scope_permissions and not provider.audience:
        message = "Without an audience, scopes of clients' access tokens grant no permissions."
        return _check_result("audience", CheckState.WARNING, message, "flask oidc set audience …")
    return _check_result(
        "active", CheckState.FINE, _WAYS[provider.takes_tokens, provider.signs_in]
    )


def _refreshing(ports: Ports, provider: Provider) -> Iterator[CheckResult]:
    """Yield why sessions that begin at the provider can't be refreshed there."""
    if not (provider.active and provider.signs_in):
        return
    name = "enable_refresh_token"
    if not provider.enable_refresh_token:
        message = "Refresh tokens are off: people sign in again when their access token expires."
        yield _check_result(
            name, CheckState.WARNING, message, "flask oidc set enable_refresh_token true"
        )
        return
    with ports.database.reading() as session:
        count = session.execute(select(sessions_without_refresh_token(ports, provider))).scalar()
    if count:
        message = (
            "Open sessions for which the provider issued no refresh token: {count:,}. People sign "
            "in again when their access token expires."
        )
        remedy = "Allow this client refresh tokens (offline access) at the provider."
        yield _check_result(name, CheckState.WARNING, message, remedy, count=count)


def _trust(provider: Provider) -> Iterator[CheckResult]:
    """Warn about settings that wait for confirmation, or that give rights too widely."""
    waiting = [change.setting for change in read_waiting(provider.waiting_changes)]
    if waiting:
        message = (
            "Changes wait for confirmation: {names}. Until then linked accounts can't sign in, "
            "and the provider makes no one staff."
        )
        names = ", ".join(waiting)
        yield _check_result(
            "active", CheckState.WARNING, message, "flask oidc confirm", names=names
        )
    if serves_any_client(provider):
        remedy = "flask oidc set accepted_clients …"
        yield _check_result("accepted_clients", CheckState.WARNING, ANY_CLIENT, remedy)


def _groups(ports: Ports, provider: Provider) -> Iterator[CheckResult]:
    """Warn about groups of the table that don't exist, and about a table that isn't used."""
    rows = read_group_mapping(provider.group_mapping)
    if not rows:
        return
    if not provider.maps_groups:
        message = "Not used: the provider grants the permissions."
        remedy = "flask oidc set use_oauth_scope_permissions false"
        yield _check_result("group_mapping", CheckState.WARNING, message, remedy)
    named = {row.group for row in rows}
    with ports.database.reading() as session:
        missing = missing_groups(session, named)
    if missing:
        message = "No such groups: {names}. Nobody joins them."
        remedy = "Create them, or choose other groups."
        names = ", ".join(missing)
        yield _check_result("group_mapping", CheckState.WARNING, message, remedy, names=names)


def _issuer(ports: Ports, provider: Provider) -> CheckResult:
    metadata = ports.identity_provider.discover(discovery_url(provider.issuer))
    settings, problems = read_description(metadata, provider.issuer)
    remedy = f"flask oidc discover {provider.issuer}"
    if problems:
        return _check_result(
            "issuer", CheckState.FAILED, problems[0].template, remedy, **problems[0].values
        )
    differing = [name for name, value in settings.items() if getattr(provider, name) != value]
    if differing:
        message = "The provider's discovery document differs from the settings: {differing}."
        return _check_result(
            "issuer", CheckState.WARNING, message, remedy, differing=", ".join(differing)
        )
    return _check_result("issuer", CheckState.FINE, "The discovery document matches the settings.")


def _keys(ports: Ports, provider: Provider) -> CheckResult:
    keys = ports.identity_provider.fetch_keys(provider.json_web_key_set_url)
    names = Phrases(key.kid or translatable("without an ID") for key in keys)
    message = "1 usable key: {names}." if len(keys) == 1 else "{number} usable keys: {names}."
    return _check_result(
        "json_web_key_set_url", CheckState.FINE, message, number=len(keys), names=names
    )


def _user_info(ports: Ports, provider: Provider) -> CheckResult:
    try:
        ports.identity_provider.fetch_person(provider.user_info_url, _NOBODYS)
    except provider_tokens.ProviderTokenRejected:
        message = "Responding; rejects an invalid token."
        return _check_result("user_info_url", CheckState.FINE, message)
    message = "Returned a user for an invalid token."
    return _check_result("user_info_url", CheckState.FAILED, message, "Do not use this provider.")


def _token(ports: Ports, provider: Provider) -> CheckResult:
    """Exchange an invalid code: providers authenticate the client first."""
    client, redirect_uri = client_of(ports, provider), "https://client.invalid/"
    try:
        ports.identity_provider.exchange(
            client, code=_NOBODYS, redirect_uri=redirect_uri, verifier=_NOBODYS
        )
    except GrantRefused as refused:
        if refused.error in ("invalid_client", "unauthorized_client"):
            remedy = "Set client_id and client_secret to the values registered at the provider."
            return _check_result(
                "oauth_token_url",
                CheckState.FAILED,
                "The identity provider refused: {error}.",
                remedy,
                error=refused.error,
            )
        message = "Accepts the client and rejects an invalid code ({error})."
        return _check_result("oauth_token_url", CheckState.FINE, message, error=refused.error)
    message = "Issued tokens for an invalid code."
    return _check_result(
        "oauth_token_url", CheckState.FAILED, message, "Do not use this provider."
    )


def _page(ports: Ports, name: str, url: str) -> CheckResult:
    """The browser goes there, not this service: that something answers is all to look at."""
    status = ports.identity_provider.fetch_status(url)
    if status >= _BROKEN:
        message = "Responded with HTTP {status}."
        return _check_result(
            name, CheckState.WARNING, message, "Check {name}.", status=status, name=name
        )
    refuses = "Responding; rejects an empty request with HTTP {status}."
    answers = "Responding with HTTP {status}."
    return _check_result(
        name, CheckState.FINE, refuses if status >= _REFUSED else answers, status=status
    )


_SCHEME = "bearer "


@dataclass(frozen=True, slots=True)
class _Read:
    """The claims of a token; ``issued`` in Unix seconds, ``tells_rights`` if it can grant."""

    kind: MappedKind
    provider_person: ProviderPerson
    issued: float | None = None
    tells_rights: bool = True


@dataclass(frozen=True, slots=True)
class _Account:
    """The account of a token's person, if there is one.

    ``is_signed_out``: the token is older than a sign-out everywhere. ``is_verified`` is whether
    its identity is, ``None`` where none is linked; ``is_linkable``: it could be linked.
    ``waiting_mark`` is the identity's. ``problem`` is why none could be chosen.
    """

    user: User | None = None
    is_signed_out: bool = False
    is_verified: bool | None = None
    is_linkable: bool = False
    waiting_mark: str | None = None
    problem: Problem | None = None


@requires(Permission.MANAGE_PLUGINS)
def preview_mapping(ports: Ports, actor: Actor, slug: str, token: str) -> MappingPreview:
    """Preview the account and permissions for a provider's ``token``; nothing changes.

    An access token is sent to the provider's user-info endpoint, as in any request; an ID token is
    read here. The provider may be inactive. ``token`` is neither logged nor stored. Refuses
    NOT_FOUND on ``provider`` and REQUIRED on ``token``; other problems are the reason in the
    result.
    """
    provider = find_provider(ports, slug)
    text = token.strip()
    text = text[len(_SCHEME) :].strip() if text.lower().startswith(_SCHEME) else text
    if not text:
        raise Refused(Problem("REQUIRED", "Paste a token of this provider.", "token"))
    kind = MappedKind.ACCESS if provider_tokens.is_signed(text) else MappedKind.OPAQUE
    try:
        read = _read(ports, provider, text)
    except CallFailed as failed:
        return MappingPreview(kind, MappedTo.NOBODY, unusable_response(failed))
    except TokenRejected as rejected:
        return MappingPreview(kind, MappedTo.NOBODY, provider_tokens.reason_of(rejected))
    said = read.provider_person
    return _mapped(ports, actor, replace(read, provider_person=assert_person(ports, said)))


def _read(ports: Ports, provider: Provider, token: str) -> _Read:
    if not provider_tokens.is_signed(token):
        if not provider_tokens.is_opaque(token):
            raise provider_tokens.ProviderTokenRejected(
                "This is not an access token of an identity provider."
            )
        require_opaque_allowed(provider)
        person = read_person(_ask(ports, provider, token), provider)
        serves_staff = provider.serves_staff_of_any_client
        said = ProviderPerson(provider, "", person, serves_staff=serves_staff)
        return _Read(MappedKind.OPAQUE, said)
    if not provider.json_web_key_set_url:
        raise provider_tokens.ProviderTokenRejected(
            "Its signature can't be verified without a key set URL."
        )
    signed = verify_with(ports, provider, token)
    if provider_tokens.is_id_token(signed, provider):
        return _read_id(ports, provider, signed)
    return _read_access(ports, provider, token, signed)


def _read_access(
    ports: Ports, provider: Provider, token: str, signed: provider_tokens.SignedToken
) -> _Read:
    shop, now = ports.configuration.scope_prefix, ports.clock.timestamp()
    access = provider_tokens.read_bearer_token(signed, provider, now=now, shop=shop)
    serves_staff = provider_tokens.serves_staff_with(signed, provider)
    require_issued_since(provider, access.issued, now)
    require_honoured(ports, provider, access.issuer, access.subject)
    person = read_person(_ask(ports, provider, token), provider, access.subject, signed.claims)
    said = ProviderPerson(provider, access.issuer, person, access.grant, serves_staff)
    return _Read(MappedKind.ACCESS, said, access.issued)


def _read_id(ports: Ports, provider: Provider, signed: provider_tokens.SignedToken) -> _Read:
    if not provider.client_id:
        raise provider_tokens.ProviderTokenRejected("ID tokens can't be read without a client ID.")
    identity = provider_tokens.read_id_token(
        signed, provider, nonce=None, now=ports.clock.timestamp()
    )
    person = read_person(identity.claims, provider)
    said = ProviderPerson(provider, identity.issuer, person)
    return _Read(MappedKind.ID, said, tells_rights=not provider.use_oauth_scope_permissions)


def _ask(ports: Ports, provider: Provider, token: str) -> Mapping[str, object]:
    return fetch_user_info(ports, provider, token, CallPurpose.VERIFIED)


def _mapped(ports: Ports, actor: Actor, read: _Read) -> MappingPreview:
    """Return what ``find_or_create_account`` would do, without writing."""
    person = read.provider_person.person
    found = _account(ports, read)
    user, verified = found.user, found.is_verified
    linked = verified is not None
    preview = MappingPreview(
        read.kind,
        MappedTo.KNOWN if linked else MappedTo.MADE if user is None else MappedTo.LINKED,
        person=person,
        user_id=None if user is None else user.id,
        email=person.email if user is None else user.email,
        provider_rules=read.provider_person.provider.use_oauth_scope_permissions,
    )
    problem = _problem(ports, read.provider_person, found)
    if problem is not None or found.is_signed_out:
        reason = SIGNED_OUT if problem is None else problem.message
        return replace(preview, outcome=MappedTo.NOBODY, reason=reason)
    return _with_rights(ports, actor, read, preview, user)


def _problem(ports: Ports, provider_person: ProviderPerson, found: _Account) -> Problem | None:
    if found.problem is not None:
        return found.problem
    user, is_verified = found.user, found.is_verified
    waits = waiting_problem(ports, provider_person.provider, user, found.waiting_mark)
    if waits is not None:
        return waits
    if user is None or is_verified is None:
        problem = new_identity_problem(
            provider_person.person, is_known=user is not None, is_linkable=found.is_linkable
        )
    else:
        problem = linked_identity_problem(provider_person, user, is_verified=is_verified)
    if problem is None and user is not None and not user.is_active:
        return INACTIVE
    return problem


def _account(ports: Ports, read: _Read) -> _Account:
    provider_person, identity = read.provider_person, models.ExternalIdentity
    person = provider_person.person
    exact, imported = provider_person.provider.issuers_here(provider_person.issuer)
    query = (
        select(
            identity.is_verified,
            identity.waiting_mark,
            identity.tokens_valid_after.label("signed_out_there"),
            models.User.tokens_valid_after.label("signed_out_here"),
            *USER_COLUMNS,
        )
        .join(models.User, models.User.id == identity.user_id)
        .where(identity.issuer.in_((exact, imported)), identity.subject == person.subject)
        .order_by(identity.issuer != exact)
        .limit(1)
    )
    has_no_password = models.User.password_hash.is_(None).label("has_no_password")
    by_email = select(*USER_COLUMNS, has_no_password).where(has_email(person.email))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        counts = provider_person.provider.waits or (row is not None and not row.waiting_mark)
        if row is not None and counts:
            signed_out = row.signed_out_here, row.signed_out_there
            ended = read.issued is not None and is_signed_out(read.issued, *signed_out)
            return _Account(
                read_user(row),
                is_signed_out=ended,
                is_verified=row.is_verified,
                waiting_mark=row.waiting_mark,
            )
        found = session.execute(by_email).all() if person.email else ()
    if len(found) != 1:
        return _Account(problem=TWINS if found else None)
    user = read_user(found[0])
    return _Account(user, is_linkable=user.is_confirmed or found[0].has_no_password)


def _with_rights(
    ports: Ports, actor: Actor, read: _Read, preview: MappingPreview, user: User | None
) -> MappingPreview:
    provider_person = read.provider_person
    was_staff = user is not None and user.is_staff
    becomes = provider_person.is_staff and not was_staff
    is_staff = was_staff or becomes
    sees_rights = (user is None or may_see_rights(actor, user)) and (
        not becomes or actor.holds(Permission.MANAGE_STAFF)
    )
    joins, leaves = _group_changes(ports, provider_person, user, becomes=becomes)
    name = f"{provider_person.person.first_name} {provider_person.person.last_name}".strip()
    preview = replace(
        preview,
        name=name or ("" if user is None else f"{user.first_name} {user.last_name}".strip()),
        is_staff=is_staff,
        becomes_staff=becomes,
        rights_hidden=not sees_rights,
    )
    if sees_rights:
        groups = () if user is None else tuple(group.name for group in user.groups)
        preview = replace(preview, groups=groups, joins=joins, leaves=leaves)
    if not read.tells_rights:
        return replace(preview, permissions=None)
    rights = provider_person.rights
    if rights is not None:
        is_staff = preview.is_staff and provider_person.serves_staff
        return replace(preview, is_staff=is_staff, permissions=in_order(rights.permissions))
    if not sees_rights:
        return replace(preview, permissions=None)
    if user is not None and not (becomes or joins or leaves):
        return replace(preview, permissions=in_order(user.permissions))
    found = _permissions_with(ports, user, joins, leaves, becomes=becomes)
    return replace(preview, permissions=in_order(found))


def _group_changes(
    ports: Ports, provider_person: ProviderPerson, user: User | None, *, becomes: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the groups that signing in adds a person to, and those that it removes them from.

    The provider's first group is created if it doesn't exist. Who becomes staff leaves the groups
    that they were in as staff before.
    """
    first = {provider_person.first_group} - {""} if becomes else set[str]()
    joining = first | (provider_person.groups or frozenset())
    leaving = provider_person.groups_to_leave
    is_staff = user is not None and user.is_staff
    if not becomes and not (is_staff and (joining or leaving)):
        return (), ()
    with ports.database.reading() as session:
        key = None if user is None or becomes else user.id
        changes = find_group_changes(session, key, joining, leaving)
    here = set[str]() if user is None else {group.name for group in user.groups}
    joins = {*changes.joins.values(), *first}
    leaves = here - joins if becomes else changes.leaves.values()
    return tuple(sorted(joins - here)), tuple(sorted(leaves))


def _permissions_with(
    ports: Ports, user: User | None, joins: Sequence[str], leaves: Sequence[str], *, becomes: bool
) -> frozenset[Permission]:
    """Return the permissions of ``user`` after they joined and left groups by these names.

    A group that doesn't exist has none. Who ``becomes`` staff has those of groups alone.
    """
    if user is not None and user.is_superuser and not becomes:
        return user.permissions
    kept = () if user is None else [group.name for group in user.groups]
    names = {*joins, *kept} - set(leaves)
    of_groups = (
        select(models.GroupPermission.permission)
        .join(models.Group, models.Group.id == models.GroupPermission.group_id)
        .where(models.Group.name.in_(names))
    )
    own = select(models.UserPermission.permission).where(
        models.UserPermission.user_id == (None if user is None or becomes else user.id)
    )
    with ports.database.reading() as session:
        return known_permissions((*session.scalars(of_groups), *session.scalars(own)))
