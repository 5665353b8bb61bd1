"""Delete temporary endpoints that outlived their process."""

from contextlib import suppress

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.webhooks import MAX_TEMPORARY_AGE, TEMPORARY_URL, has_own_app
from app.models import AppRecord, WebhookRecord
from app.ports import Ports
from app.services.apps.app_changes import delete_app
from app.services.authorization.register import internal
from app.services.webhooks.changes import delete_webhook


@internal
def delete_expired_endpoints(ports: Ports, actor: Actor) -> int:
    """Delete temporary endpoints after ``MAX_TEMPORARY_AGE``, with the apps created for them.

    Returns how many there were.
    """
    query = (
        select(WebhookRecord.id, WebhookRecord.name, AppRecord.id, AppRecord.name)
        .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
        .where(
            WebhookRecord.target_url == TEMPORARY_URL,
            WebhookRecord.created_at <= ports.clock.now() - MAX_TEMPORARY_AGE,
        )
    )
    with ports.database.reading() as session:
        expired = session.execute(query).all()
    for webhook_id, webhook_name, app_id, app_name in expired:
        with suppress(Refused):  # another process has deleted it
            if has_own_app(webhook_name, app_name):
                delete_app(ports, actor, app_id)
            else:
                delete_webhook(ports, actor, to_global_id("Webhook", webhook_id))
    return len(expired)
