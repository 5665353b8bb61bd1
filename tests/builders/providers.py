"""Configured identity providers and the identities that they signed in."""

from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.single_sign_on.providers import Provider
from app.ports import Ports
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.servers.own_provider import OwnProvider


def set_up(
    ports: Ports, provider: OwnProvider, slug: str = "default", **settings: str | None
) -> Provider:
    """Make ``provider`` an active one here, with other settings where they are given."""
    changes = ProviderUpdate({**provider.settings, **settings}, active=True)
    return save_provider(ports, OPERATOR, slug, changes)


def user_called(ports: Ports, email: str) -> models.User | None:
    """Return the user with that email."""
    with ports.database.reading() as session:
        return session.scalar(select(models.User).where(models.User.email == email))


def identities(ports: Ports) -> list[tuple[str, str, bool]]:
    """Return issuer, subject and whether the email is verified of every identity."""
    identity = models.ExternalIdentity
    columns = select(identity.issuer, identity.subject, identity.is_verified).order_by(identity.id)
    with ports.database.reading() as session:
        return [
            (issuer, subject, bool(known)) for issuer, subject, known in session.execute(columns)
        ]
