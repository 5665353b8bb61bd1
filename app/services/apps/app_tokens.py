"""What apps authenticate with: their tokens, and clients of identity providers linked to them.

Tokens are created and shown once, listed, rotated and revoked.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.apps import apps
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.provider_tokens import CLIENTS_NEED, MAX_SUBJECT_LENGTH
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.pages import moment_range
from app.domain.values.text_rules import is_storable, line_problem
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, public, requires, requires_person
from app.services.authorization.token_rights import find_app
from app.services.identity.imported_tokens import identify_foreign_token
from app.services.identity.own_tokens import digest_of_token
from app.services.identity.providers import known_providers
from app.services.identity.stored_apps import (
    locked_app,
    refuse_apps,
    store_token,
    stored_app,
    to_token,
)
from app.services.lists.paging import record_from


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """A token to be made: until when it is good, and for what if not for all its app may do."""

    name: str = ""
    expires_at: datetime | None = None
    permissions: frozenset[Permission] | None = None


DEFAULT_TOKEN = TokenOptions()


_LASTING = "You're about to create a token that doesn't expire."


def _never_expires(
    _ports: Ports, _actor: Actor, app_id: int, options: TokenOptions = DEFAULT_TOKEN
) -> bool:
    return options.expires_at is None


@fresh_proof(_LASTING, "without expiry", _never_expires)
@requires(Permission.MANAGE_APPS)
def create_app_token(
    ports: Ports, actor: Actor, app_id: int, options: TokenOptions = DEFAULT_TOKEN
) -> apps.NewAppToken:
    """Another token for an app (`appTokenCreate`), good until it expires or is revoked.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``app``: for an app that may do what the caller may
    not, and to every app; INVALID on ``name``, and on an ``expiresAt`` past or too far;
    INVALID_PERMISSION on ``permissions`` that the app itself does not hold.
    """
    refuse_apps(actor, "app")
    expires_at = moment_range(options.expires_at, None).gte
    refuse_any(
        line_problem(options.name, "name"), apps.expiry_problem(expires_at, ports.clock.now())
    )
    with ports.database.transaction() as session:
        app = locked_app(session, actor, app_id, "app")
        refuse_any(_lasting_problem(app, "app"))
        refuse_any(apps.narrowing_problem(app.permissions, options.permissions))
        new = store_token(ports, session, app_id, options.name, expires_at, options.permissions)
        record(ports, actor, session, _creation("app_token.create", app, new.token))
        return new


def _goes_on_forever(
    ports: Ports, _actor: Actor, token_id: int, overlap: timedelta = apps.DEFAULT_OVERLAP
) -> bool:
    with ports.database.reading() as session:
        stored = session.get(models.AppToken, token_id)
        return stored is not None and stored.expires_at is None


@fresh_proof(_LASTING, "without expiry", _goes_on_forever)
@requires_person(Permission.MANAGE_APPS)
def rotate_app_token(
    ports: Ports, actor: Actor, token_id: int, overlap: timedelta = apps.DEFAULT_OVERLAP
) -> apps.NewAppToken:
    """Replace a token: a new one of the same kind, while the old one goes on for ``overlap``.

    The new one is good for the same and for as long as the old one was made for. Refuses NOT_FOUND
    and OUT_OF_SCOPE_APP on ``id``, INVALID on it for one that has expired or been replaced
    already, and INVALID on ``overlapSeconds``.
    """
    refuse_any(apps.overlap_problem(overlap))
    with ports.database.transaction() as session:
        stored, app = _find(session, actor, token_id)
        old, now = to_token(stored), ports.clock.now()
        refuse_any(_lasting_problem(app, "id"), apps.rotation_problem(old, now))
        stored.expires_at, stored.replaced_at = apps.rotated_end(old, now, overlap), now
        new = store_token(
            ports, session, app.id, old.name, apps.successor_end(old, now), old.permissions
        )
        before = {"id": old.id, "last_four": old.last_four, "ends": _text(stored.expires_at)}
        change = _creation("app_token.rotate", app, new.token, before)
        record(ports, actor, session, change)
        return new


def _lasting_problem(app: apps.App, field: str) -> Problem | None:
    if not app.client_credentials_only:
        return None
    return Problem("INVALID", "This app allows only client credentials.", field)


@requires_person(Permission.MANAGE_APPS)
def revoke_app_token(ports: Ports, actor: Actor, token_id: int) -> apps.AppToken:
    """End a token, at once and in every process (`appTokenDelete`); returns what it was.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``id``.
    """
    with ports.database.transaction() as session:
        stored, app = _find(session, actor, token_id)
        token = to_token(stored)
        session.delete(stored)
        before = {"name": token.name, "last_four": token.last_four}
        change = Change("app_token.revoke", "AppToken", token_id, app.name, before=before)
        record(ports, actor, session, change)
        return token


@requires_person(Permission.MANAGE_APPS)
def list_app_tokens(ports: Ports, actor: Actor, app_id: int) -> tuple[apps.AppToken, ...]:
    """Return the tokens of an app, the oldest first; refuses NOT_FOUND on ``app``."""
    with ports.database.reading() as session:
        stored_app(session, app_id, "app")
    return tokens_of_apps(ports, actor, (app_id,))[app_id]


@requires_person(Permission.MANAGE_APPS)
def tokens_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, tuple[apps.AppToken, ...]]:
    """Return the tokens of each of several apps, the oldest first; one statement for all."""
    query = select(models.AppToken).where(models.AppToken.app_id.in_(app_ids))
    with ports.database.reading() as session:
        stored = session.scalars(query.order_by(models.AppToken.id))
        tokens = [to_token(token) for token in stored]
    return {
        app_id: tuple(token for token in tokens if token.app_id == app_id) for app_id in app_ids
    }


@public
def verify_app_token(ports: Ports, actor: Actor, token: str) -> bool:
    """Whether ``token`` opens anything right now (`appTokenVerify`): active app, not expired.

    Raises ``TooManyRequests`` if an imported token can't be compared right now.
    """
    if apps.is_app_token(token):
        return find_app(ports, apps.token_digest(token)).found is not None
    digest = digest_of_token(token)
    foreign = identify_foreign_token(ports, token, digest, actor.address)
    return foreign is not None and foreign.app.found is not None


@dataclass(frozen=True, slots=True)
class NewClientLink:
    """A client to be linked: ``provider`` is the provider's slug.

    ``subject`` is that of the client's own account, the claim ``sub`` of the tokens that it gets
    for itself.
    """

    provider: str
    client_id: str
    subject: str


@dataclass(frozen=True, slots=True)
class ClientLink:
    """A client of an identity provider whose own tokens are an app's."""

    id: int
    app_id: int
    provider: str
    issuer: str
    client_id: str
    subject: str
    created_at: datetime


@fresh_proof("You're about to let a client act as an app.")
@requires_person(Permission.MANAGE_APPS)
def link_app_client(ports: Ports, actor: Actor, app_id: int, new: NewClientLink) -> ClientLink:
    """Let a client of an identity provider act as an app, with the app's permissions.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``app``, NOT_FOUND and INVALID on ``provider``,
    REQUIRED and INVALID on ``clientId`` and ``subject``, UNIQUE on ``clientId`` for a client that
    is linked already.
    """
    client_id, subject = new.client_id.strip(), new.subject.strip()
    refuse_any(*_text_problems(client_id, "clientId"), *_text_problems(subject, "subject"))
    try:
        with ports.database.transaction() as session:
            app = locked_app(session, actor, app_id, "app")
            provider = _linkable_provider(session, new.provider)
            _refuse_person(session, provider.issuer, subject)
            stored = models.AppClient(
                app_id=app_id,
                provider_id=provider.id,
                issuer=provider.issuer,
                client_id=client_id,
                subject=subject,
                created_at=ports.clock.now(),
            )
            session.add(stored)
            session.flush()
            link = _to_link(stored, provider.slug)
            after = _link_facts(link)
            record(
                ports,
                actor,
                session,
                Change("app_client.link", "App", app_id, app.name, after=after),
            )
            return link
    except IntegrityError as taken:
        message = "This client is already linked to an app."
        raise Refused(Problem("UNIQUE", message, "clientId")) from taken


@requires_person(Permission.MANAGE_APPS)
def unlink_app_client(ports: Ports, actor: Actor, link_id: int) -> ClientLink:
    """Remove a link, at once and in every process; returns what it was.

    Refuses NOT_FOUND and OUT_OF_SCOPE_APP on ``id``.
    """
    missing = Refused(Problem("NOT_FOUND", "Linked client not found.", "id"))
    with ports.database.transaction() as session:
        app_id = session.scalar(
            select(models.AppClient.app_id).where(models.AppClient.id == link_id)
        )
        if app_id is None:
            raise missing
        app = locked_app(session, actor, app_id, "id")
        found = session.execute(
            _LINKS.where(models.AppClient.id == link_id).with_for_update(of=models.AppClient)
        ).one_or_none()
        if found is None:
            raise missing
        link = _to_link(*found)
        session.delete(found[0])
        before = _link_facts(link)
        record(
            ports,
            actor,
            session,
            Change("app_client.unlink", "App", app.id, app.name, before=before),
        )
        return link


@requires_person(Permission.MANAGE_APPS)
def list_app_clients(ports: Ports, actor: Actor, app_id: int) -> tuple[ClientLink, ...]:
    """Return the clients linked to an app, the oldest first; refuses NOT_FOUND on ``app``."""
    with ports.database.reading() as session:
        stored_app(session, app_id, "app")
    return clients_of_app(ports, actor, app_id)


@requires_person(Permission.MANAGE_APPS)
def clients_of_app(ports: Ports, actor: Actor, app_id: int) -> tuple[ClientLink, ...]:
    """Return the clients linked to an app that exists, the oldest first; one statement."""
    of_app = _LINKS.where(models.AppClient.app_id == app_id).order_by(models.AppClient.id)
    with ports.database.reading() as session:
        return tuple(_to_link(*row) for row in session.execute(of_app))


@requires_person(Permission.MANAGE_APPS)
def linkable_providers(ports: Ports, actor: Actor) -> Mapping[str, str]:
    """Return the names of the providers whose clients can be linked, by their slugs."""
    return {
        provider.slug: provider.name or provider.slug
        for provider in known_providers(ports)
        if provider.active and _linking_problem(provider) is None
    }


_LINKS = select(models.AppClient, models.IdentityProvider.slug).join(
    models.IdentityProvider, models.IdentityProvider.id == models.AppClient.provider_id
)


def _to_link(stored: models.AppClient, slug: str) -> ClientLink:
    return record_from(ClientLink, stored, provider=slug)


def _link_facts(link: ClientLink) -> dict[str, object]:
    return {
        "provider": link.provider,
        "issuer": link.issuer,
        "client_id": link.client_id,
        "subject": link.subject,
    }


def _text_problems(value: str, field: str) -> tuple[Problem | None, ...]:
    if not value:
        return (Problem("REQUIRED", "This field is required.", field),)
    return (line_problem(value, field, max_length=MAX_SUBJECT_LENGTH),)


def _linkable_provider(session: Session, slug: str) -> models.IdentityProvider:
    """Return the provider, locked until the end of the transaction.

    Refuses NOT_FOUND, and INVALID for one whose tokens no client can be linked by.
    """
    of_slug = select(models.IdentityProvider).where(models.IdentityProvider.slug == slug)
    provider = session.scalar(of_slug.with_for_update(read=True)) if is_storable(slug) else None
    if provider is None:
        raise Refused(Problem("NOT_FOUND", "Identity provider not found.", "provider"))
    refuse_any(_linking_problem(provider))
    return provider


def _linking_problem(provider: Provider | models.IdentityProvider) -> Problem | None:
    if not provider.issuer or not provider.audience:
        return Problem("INVALID", CLIENTS_NEED, "provider")
    if not provider.json_web_key_set_url or not provider.user_info_url:
        message = "Set the provider's key set URL and user info URL: access tokens need both."
        return Problem("INVALID", message, "provider")
    return None


def _refuse_person(session: Session, issuer: str, subject: str) -> None:
    """Refuse INVALID if somebody has signed in with that subject: it isn't a client's."""
    identity = models.ExternalIdentity
    of_person = select(identity.id).where(identity.issuer == issuer, identity.subject == subject)
    if session.scalar(of_person) is not None:
        message = "This is the subject of a person's account, not of a client's own account."
        raise Refused(Problem("INVALID", message, "subject"))


def _find(session: Session, actor: Actor, token_id: int) -> tuple[models.AppToken, apps.App]:
    """Return the token and its app, both locked, the app first."""
    missing = Refused(Problem("NOT_FOUND", "Token not found.", "id"))
    of_token = models.AppToken.id == token_id
    app_id = session.scalar(select(models.AppToken.app_id).where(of_token))
    if app_id is None:
        raise missing
    app = locked_app(session, actor, app_id, "id")
    stored = session.scalar(select(models.AppToken).where(of_token).with_for_update())
    if stored is None:
        raise missing
    return stored, app


def _creation(
    action: str, app: apps.App, token: apps.AppToken, before: Mapping[str, object] | None = None
) -> Change:
    after = {
        "name": token.name,
        "last_four": token.last_four,
        "expires_at": _text(token.expires_at),
        "permissions": None if token.permissions is None else sorted(token.permissions),
    }
    return Change(action, "AppToken", token.id, app.name, before or {}, after)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
