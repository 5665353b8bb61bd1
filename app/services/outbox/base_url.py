"""The address that this installation is reached at, for what happens without a request."""

from sqlalchemy import ColumnElement, exists, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.values.installation import MarkKind
from app.ports import Ports
from app.services.authorization.register import building_block, internal

_USUAL = "http://localhost:8000"
"""Where `flask serve` serves unless it is told otherwise."""


@internal
def save_base_url(ports: Ports, actor: Actor, address: str) -> None:
    """Remember where the installation is served from now on: scheme, host and port, no slash.

    With ``PUBLIC_URL`` that alone counts, and nothing is written.
    """
    if ports.configuration.public_url:
        return
    with ports.database.transaction() as session:
        session.execute(
            update(models.Shop).where(models.Shop.id == models.SHOP_ID).values(served_at=address)
        )


@building_block
def base_url(ports: Ports, served_at: str = "") -> str:
    """``PUBLIC_URL``; without it (development only) where it was served last, or usually is.

    ``served_at`` is where it will be served, for who knows better.
    """
    chosen = ports.configuration.public_url or served_at.rstrip("/")
    if chosen:
        return chosen
    with ports.database.reading() as session:
        return base_url_in(ports, session)


@building_block
def base_url_in(ports: Ports, session: Session) -> str:
    """As ``base_url``, for what has a session of the database open."""
    if ports.configuration.public_url:
        return ports.configuration.public_url
    shop = session.get(models.Shop, models.SHOP_ID)  # mostly read before, for something else
    return (shop.served_at if shop else "") or _USUAL


@building_block
def issuer_of(ports: Ports, issuer: str) -> str:
    """Return the installation's ``iss``: the request's own if there was a request.

    Operations from the command line have none, and their deliveries still need one (contract,
    "Webhooks": ``Api-Url``).
    """
    return issuer or f"{base_url(ports)}/graphql/"


@building_block
def is_anything_held() -> ColumnElement[bool]:
    """Whether a process holds anything, as a part of a statement that asks for more."""
    kinds = [MarkKind.HELD.value, MarkKind.RESTORED.value]
    return exists().where(models.InstallationMark.kind.in_(kinds))
