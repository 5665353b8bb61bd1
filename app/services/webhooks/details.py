"""Webhooks: an app manages its own, and staff who manage apps those of all."""

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.webhooks.webhooks import Webhook
from app.models import WebhookRecord
from app.ports import Ports
from app.services.authorization.register import staff_and_apps
from app.services.webhooks.limited_tokens import visible_webhook
from app.services.webhooks.stored_webhooks import WEBHOOKS, to_webhook

_ANY = WEBHOOKS.where(WebhookRecord.id == bindparam("webhook_id"))
_OWN = _ANY.where(WebhookRecord.app_id == bindparam("viewing_app"))


@staff_and_apps
def webhooks_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, tuple[Webhook, ...]]:
    """The webhooks of each of several apps, the oldest first, their secrets included.

    For an app its own, without any permission; for staff those of all apps with MANAGE_APPS.
    """
    _require_reach(actor.viewer, app_ids)
    query = WEBHOOKS.where(WebhookRecord.app_id.in_(app_ids)).order_by(WebhookRecord.id)
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    webhooks = [visible_webhook(actor, to_webhook(ports, *row)) for row in rows]
    return {
        app_id: tuple(webhook for webhook in webhooks if webhook.app_id == app_id)
        for app_id in app_ids
    }


@staff_and_apps
def show_webhook(ports: Ports, actor: Actor, webhook_id: int) -> Webhook | None:
    """The webhook of that key (`webhook`), its secret included.

    An app sees its own alone; staff need MANAGE_APPS.
    """
    viewer = actor.viewer
    if not viewer.is_app and not viewer.holds(Permission.MANAGE_APPS):
        raise PermissionDenied(Permission.MANAGE_APPS)
    values = {"webhook_id": webhook_id, "viewing_app": viewer.app_id}
    with ports.database.reading() as session:
        row = session.execute(_OWN if viewer.is_app else _ANY, values).one_or_none()
    return None if row is None else visible_webhook(actor, to_webhook(ports, *row))


def _require_reach(actor: Actor, app_ids: Collection[int]) -> None:
    is_its_own = actor.is_app and set(app_ids) <= {actor.app_id}
    manages = not actor.is_app and actor.holds(Permission.MANAGE_APPS)
    if not (is_its_own or manages):
        raise PermissionDenied(Permission.MANAGE_APPS)
