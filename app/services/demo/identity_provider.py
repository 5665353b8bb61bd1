"""The identity provider of the demo shop, which the installation serves itself in development."""

from dataclasses import dataclass, field

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.single_sign_on.providers import DEMO_PROVIDER_PATH
from app.ports import Ports
from app.services.authorization.register import internal, public
from app.services.demo.activity import ISSUER
from app.services.demo.people import STAFF, made_for_demo
from app.services.demo.shop import is_filled
from app.services.identity.providers import client_secret_of, known_providers
from app.services.outbox.base_url import base_url
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider

SLUG = "demo"
NAME = "Northlight ID"
_CLIENT = "northlight-shop"
_SECRET_LENGTH = 40


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A member of the demo shop's staff who can sign in at the demo provider."""

    subject: str
    email: str
    first_name: str
    last_name: str


@dataclass(frozen=True, slots=True)
class DemoProvider:
    """The provider as the shop knows it, and who has an account there."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    people: tuple[DemoPerson, ...] = ()


@internal
def set_up_demo_provider(ports: Ports, actor: Actor) -> tuple[DemoPerson, ...]:
    """Let the demo's staff sign in with the demo provider at the address that is served.

    Only in development and in a shop that the demo filled; returns who can sign in with it. A
    provider that someone disabled stays so.
    """
    if not ports.configuration.development or not is_filled(ports):
        return ()
    issuer = f"{base_url(ports)}{DEMO_PROVIDER_PATH}"
    known = {provider.slug: provider for provider in known_providers(ports)}.get(SLUG)
    if known is None or known.issuer != issuer:
        secret = ports.randomness.token(_SECRET_LENGTH)
        settings = {**_settings(issuer), "client_secret": secret}
        if known is None:
            changes = ProviderUpdate(settings, active=True, name=NAME)
        else:
            changes = ProviderUpdate(settings)
        save_provider(ports, actor, SLUG, changes)
        with ports.database.transaction() as session:
            _move_identities(session, known.issuer if known else ISSUER, issuer)
    with ports.database.reading() as session:
        return _people(session, issuer)


@public
def show_demo_provider(ports: Ports, actor: Actor) -> DemoProvider | None:
    """Return the demo provider; ``None`` outside development, without one, or if disabled."""
    if not ports.configuration.development:
        return None
    for provider in known_providers(ports):
        if (
            provider.slug == SLUG
            and provider.active
            and provider.issuer.endswith(DEMO_PROVIDER_PATH)
        ):
            with ports.database.reading() as session:
                people = _people(session, provider.issuer)
            secret = client_secret_of(ports, provider)
            return DemoProvider(provider.issuer, provider.client_id, secret, people)
    return None


def _settings(issuer: str) -> dict[str, str | None]:
    return {
        "issuer": issuer,
        "client_id": _CLIENT,
        "oauth_authorization_url": f"{issuer}/authorize",
        "oauth_token_url": f"{issuer}/token",
        "json_web_key_set_url": f"{issuer}/keys",
        "user_info_url": f"{issuer}/userinfo",
        "accepted_clients": _CLIENT,
    }


def _move_identities(session: Session, before: str, issuer: str) -> None:
    """Link the demo's staff to the provider where it is served now."""
    users = made_for_demo(session, [person.email for person in STAFF])
    session.execute(
        update(models.ExternalIdentity)
        .where(
            models.ExternalIdentity.user_id.in_(users.values()),
            models.ExternalIdentity.issuer == before,
        )
        .values(issuer=issuer)
    )


def _people(session: Session, issuer: str) -> tuple[DemoPerson, ...]:
    identity = models.ExternalIdentity
    query = (
        select(identity.subject, models.User.email, models.User.first_name, models.User.last_name)
        .join(models.User, models.User.id == identity.user_id)
        .where(identity.issuer == issuer, models.User.is_staff, models.User.is_active)
        .order_by(models.User.id)
    )
    return tuple(DemoPerson(*row) for row in session.execute(query))
