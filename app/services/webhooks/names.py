"""Webhooks by name: for a list to choose from."""

from dataclasses import dataclass

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import AppRecord, WebhookRecord
from app.ports import Ports
from app.services.authorization.register import requires
from app.services.lists.paging import record_from

MAX_NAMES = 200
"""A list to choose from that is longer helps nobody."""


@dataclass(frozen=True, slots=True)
class WebhookName:
    """A webhook as it is called, and whose it is."""

    id: int
    name: str
    app_id: int
    app_name: str


@requires(Permission.MANAGE_APPS)
def list_webhook_names(ports: Ports, actor: Actor) -> tuple[WebhookName, ...]:
    """The newest 200 webhooks; one statement."""
    query = (
        select(
            WebhookRecord.id,
            WebhookRecord.name,
            WebhookRecord.app_id,
            AppRecord.name.label("app_name"),
        )
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .order_by(WebhookRecord.id.desc())
        .limit(MAX_NAMES)
    )
    with ports.database.reading() as session:
        return tuple(record_from(WebhookName, row) for row in session.execute(query))
