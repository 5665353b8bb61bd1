"""The identities of the caller at providers: listed, linked after a fresh proof, unlinked.

For staff: customers link by an email that both sides have verified (``linked_accounts``).
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, select
from sqlalchemy.exc import IntegrityError

from app import models
from app.domain.authorization.actor import PROOF_LASTS, Actor
from app.domain.mails.mail import MailKind
from app.domain.single_sign_on.providers import ProviderError, plugin_id_of
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.ports.database import account
from app.services.audit.log import record, user_change
from app.services.authorization.register import fresh_proof, staff_only
from app.services.identity.linked_accounts import link_to_account
from app.services.identity.provider_assertions import ProviderPerson, require_codes_allowed
from app.services.identity.providers import KNOWN_BY, signs_people_in
from app.services.outbox.security_notices import notify
from app.services.sign_in.reauthentication import own_id, own_session
from app.services.single_sign_on.sign_in import (
    StartedLogin,
    find_login_provider,
    start_login,
    take_sign_in,
    verify_code,
)

_IN_USE = Problem(
    "INVALID", "You signed in with this identity. Sign in another way to unlink it.", "id"
)
_NOT_PROVED = Problem(
    "INVALID",
    "The identity provider didn't ask you to sign in again. Sign out there, then try again.",
)
_NOT_LINKED = Problem("NOT_FOUND", "You haven't linked this SSO identity.", "id")


@dataclass(frozen=True, slots=True)
class OwnIdentity:
    """An identity of the caller; ``by_owner``: they linked it, and can unlink it.

    ``is_current``: the caller's session began with it.
    """

    id: int
    linked_at: datetime
    by_owner: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class OwnProvider:
    """An active provider with which people sign in, and the caller's identities there."""

    plugin_id: str
    name: str
    identities: tuple[OwnIdentity, ...]


@staff_only
def list_own_providers(ports: Ports, actor: Actor) -> tuple[OwnProvider, ...]:
    """Return the active providers with a login page, and the caller's identities there."""
    identity, provider = models.ExternalIdentity, models.IdentityProvider
    of_session = select(models.Session.identity_id).where(models.Session.id == actor.session_id)
    query = (
        select(
            provider.slug,
            provider.name,
            identity.id,
            identity.created_at,
            identity.by_owner,
            (identity.id == of_session.scalar_subquery()).label("is_current"),
        )
        .outerjoin(identity, and_(KNOWN_BY, identity.user_id == own_id(actor)))
        .where(signs_people_in())
        .order_by(provider.id, identity.id)
    )
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    vendor = ports.configuration.vendor
    return tuple(
        OwnProvider(
            plugin_id_of(slug, vendor),
            name,
            tuple(
                OwnIdentity(row.id, row.created_at, row.by_owner, bool(row.is_current))
                for row in rows
                if row.slug == slug and row.id is not None
            ),
        )
        for slug, name in dict.fromkeys((row.slug, row.name) for row in rows)
    )


@fresh_proof("You're about to link an SSO identity to your account.")
@staff_only
def begin_own_link(
    ports: Ports, actor: Actor, *, plugin_id: str, redirect_uri: str
) -> StartedLogin:
    """Return the provider's login URL for staff who link an identity to their own account.

    The provider asks them to sign in again. Refuses NOT_FOUND for a provider that is unknown,
    inactive, or can't sign people in.
    """
    session_id = own_session(actor)
    return start_login(ports, plugin_id, redirect_uri, again=True, links_in=session_id)


@staff_only
def finish_own_link(
    ports: Ports,
    actor: Actor,
    *,
    plugin_id: str,
    code: str | None,
    state: str | None,
    error: ProviderError | None = None,
) -> str:
    """Link the identity with which the caller came back; return the provider's name.

    The ``state`` stands for the fresh proof of ``begin_own_link``: it works once, in the same
    session, within ten minutes. Refuses as ``finish_sign_in`` and ``link_to_account`` do, and a
    provider that says (``auth_time``) that it didn't ask the person to sign in. The owner gets an
    email.
    """
    session_id, provider = own_session(actor), find_login_provider(ports, plugin_id)
    started = take_sign_in(ports, provider, state or "", links_in=session_id)
    if error is not None:
        raise Refused(error.problem(provider.name))
    require_codes_allowed(ports, provider)
    verified = verify_code(ports, provider, started, code or "")
    if verified.proved_ago > PROOF_LASTS.total_seconds():
        raise Refused(_NOT_PROVED)
    person = verified.provider_person
    try:
        _link_own(ports, actor, person)
    except IntegrityError:  # the same identity was linked by another request, a moment before
        _link_own(ports, actor, person)
    return provider.name


def _link_own(ports: Ports, actor: Actor, person: ProviderPerson) -> None:
    user_id = own_id(actor)
    with ports.database.transaction(account(user_id)) as session:
        if link_to_account(ports, actor, session, person, user_id) is not None:
            values = {"provider": person.provider.name}
            notify(ports, actor, session, user_id, MailKind.IDENTITY_LINKED, values)


@fresh_proof("You're about to unlink an SSO identity from your account.")
@staff_only
def unlink_own_identity(ports: Ports, actor: Actor, *, identity_id: int) -> None:
    """Unlink an identity that the caller linked; its sessions end.

    Refuses NOT_FOUND for any other, and INVALID for the one that the caller signed in with: so
    they keep a way to sign in.
    """
    session_id, user_id = own_session(actor), own_id(actor)
    identity = models.ExternalIdentity
    with ports.database.transaction(account(user_id)) as session:
        user = session.get_one(models.User, user_id, with_for_update=True)
        own = identity.id == identity_id, identity.user_id == user_id
        found = session.scalar(select(identity).where(*own, identity.by_owner.is_(True)))
        if found is None:
            raise Refused(_NOT_LINKED)
        used = select(models.Session.identity_id).where(models.Session.id == session_id)
        if session.scalar(used) == identity_id:
            raise Refused(_IN_USE)
        before = {"issuer": found.issuer, "subject": found.subject}
        session.delete(found)
        record(ports, actor, session, user_change("user.unlink", user, before))
