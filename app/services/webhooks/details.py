"""Webhooks: an app manages its own, and staff who manage apps those of all."""

from collections.abc import Collection, Mapping

from sqlalchemy import bindparam

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.webhooks import Webhook
from app.models import AppRecord, WebhookRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import staff_and_apps
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.webhooks.app_reach import seen_webhook
from app.services.webhooks.stored_webhooks import WEBHOOKS, to_webhook

_ALL = WEBHOOKS.join(AppRecord, AppRecord.id == WebhookRecord.app_id).add_columns(
    APP_PERMISSIONS.label("app_permissions")
)
_ANY = _ALL.where(WebhookRecord.id == bindparam("webhook_id"))
_OWN = _ANY.where(WebhookRecord.app_id == bindparam("viewing_app"))


@staff_and_apps
def webhooks_of_apps(
    ports: Ports, actor: Actor, app_ids: Collection[int]
) -> Mapping[int, tuple[Webhook, ...]]:
    """The webhooks of each of several apps, the oldest first, their secrets included.

    For an app its own, without any permission; for staff those of all apps with MANAGE_APPS, but
    without secrets those of apps with permissions that they lack.
    """
    _require_reach(actor.viewer, app_ids)
    query = _ALL.where(WebhookRecord.app_id.in_(app_ids)).order_by(WebhookRecord.id)
    with ports.database.reading() as session:
        rows = session.execute(query).all()
    webhooks = [_seen(ports, actor, row) for row in rows]
    return {
        app_id: tuple(webhook for webhook in webhooks if webhook.app_id == app_id)
        for app_id in app_ids
    }


@staff_and_apps
def show_webhook(ports: Ports, actor: Actor, webhook_id: int) -> Webhook | None:
    """The webhook of that key (`webhook`), its secret included as in ``webhooks_of_apps``.

    An app sees its own alone; staff need MANAGE_APPS.
    """
    viewer = actor.viewer
    if not viewer.is_app and not viewer.holds(Permission.MANAGE_APPS):
        raise PermissionDenied(Permission.MANAGE_APPS)
    values = {"webhook_id": webhook_id, "viewing_app": viewer.app_id}
    with ports.database.reading() as session:
        row = session.execute(_OWN if viewer.is_app else _ANY, values).one_or_none()
    return None if row is None else _seen(ports, actor, row)


def _seen(ports: Ports, actor: Actor, row: NamedRow) -> Webhook:
    webhook = to_webhook(ports, row.WebhookRecord, row.events)
    return seen_webhook(actor, webhook, read_permissions(row.app_permissions))


def _require_reach(actor: Actor, app_ids: Collection[int]) -> None:
    is_its_own = actor.is_app and set(app_ids) <= {actor.app_id}
    manages = not actor.is_app and actor.holds(Permission.MANAGE_APPS)
    if not (is_its_own or manages):
        raise PermissionDenied(Permission.MANAGE_APPS)
