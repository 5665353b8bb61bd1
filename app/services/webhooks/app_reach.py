"""Webhooks that people can manage and see whole: those of apps whose permissions they all hold.

A webhook is sent what its app can read. Without this rule, people who manage apps could read
everything that any app can.
"""

from dataclasses import replace

from sqlalchemy import ColumnElement, Select, and_, not_, select, true
from sqlalchemy.orm import Session

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS
from app.domain.urls.web_urls import masked_url
from app.domain.webhooks import (
    Webhook,
    app_permissions_denied,
    lacking_of_app,
    require_all_of_app,
    required_permission,
)
from app.models import AppPermissionRecord, AppRecord, DeliveryRecord, WebhookRecord
from app.services.authorization.register import part
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.identity.stored_apps import stored_app
from app.services.webhooks.limited_tokens import visible_webhook

_OF_WEBHOOK = (
    select(APP_PERMISSIONS.label("app_permissions"))
    .select_from(WebhookRecord)
    .join(AppRecord, AppRecord.id == WebhookRecord.app_id)
)


@part
def app_within_reach(session: Session, actor: Actor, app_id: int, field: str) -> App:
    """Return the app whose webhooks ``actor`` is about to change, kept from being granted more.

    Refuses NOT_FOUND on ``field``. Raises ``PermissionDenied`` to people who lack one of its
    permissions. To be called before a webhook of it is locked.
    """
    lock = select(AppRecord.id).where(AppRecord.id == app_id).with_for_update(read=True)
    session.execute(lock)
    app = stored_app(session, app_id, field)
    require_all_of_app(actor, app.permissions)
    return app


@part
def require_webhook_within_reach(session: Session, actor: Actor, webhook_id: int) -> None:
    """Raise ``PermissionDenied`` to people who lack a permission of the webhook's app.

    A webhook that doesn't exist is for the caller to refuse.
    """
    text = session.scalar(_OF_WEBHOOK.where(WebhookRecord.id == webhook_id))
    if text is not None:
        require_all_of_app(actor, read_permissions(text))


@part
def webhooks_beyond_reach(actor: Actor) -> Select[int]:
    """Return the keys of webhooks of apps with permissions that ``actor``, a person, lacks."""
    return select(WebhookRecord.id).where(not_(within_reach(actor)))


@part
def payload_within_reach(actor: Actor) -> ColumnElement[bool]:
    """Return the condition on ``DeliveryRecord`` that ``actor`` can see the payload."""
    viewer = actor.viewer
    if viewer.is_app or holds_all_permissions(viewer):
        return true()
    lacked = [name.value for name, event in EVENTS.items() if not viewer.holds(event.permission)]
    webhooks = select(WebhookRecord.id).where(within_reach(actor))
    return and_(DeliveryRecord.webhook_id.in_(webhooks), DeliveryRecord.event.not_in(lacked))


@part
def within_reach(actor: Actor) -> ColumnElement[bool]:
    """Return the condition on ``WebhookRecord`` that ``actor`` holds all of the app's permissions.

    True of all webhooks for apps: what else is theirs is for another condition.
    """
    viewer = actor.viewer
    if viewer.is_app or holds_all_permissions(viewer):
        return true()
    held = [permission.value for permission in viewer.permissions]
    beyond = select(AppPermissionRecord.app_id).where(AppPermissionRecord.permission.not_in(held))
    return WebhookRecord.app_id.not_in(beyond)


@part
def lacking_for_payload(
    actor: Actor, of_app: frozenset[Permission], event: str
) -> tuple[Permission, ...]:
    """Return the permissions that ``actor`` lacks to see a delivery of ``event``; none for an app.

    The app's and the event's, which the app may have lost since.
    """
    needed = required_permission(event)
    return lacking_of_app(actor, of_app if needed is None else of_app | {Permission(needed)})


@part
def seen_webhook(actor: Actor, webhook: Webhook, of_app: frozenset[Permission]) -> Webhook:
    """Return ``webhook`` of an app with the permissions ``of_app`` as ``actor`` may see it.

    People who lack one of them see neither secret nor headers, nor keys in the URL.
    """
    lacking = lacking_of_app(actor, of_app)
    if not lacking:
        return visible_webhook(actor, webhook)
    denied = app_permissions_denied(lacking)

    def deny() -> str:
        raise denied

    def deny_headers() -> dict[str, str]:
        raise denied

    return replace(
        webhook,
        lacking=lacking,
        target_url=masked_url(webhook.target_url),
        reveal=deny,
        reveal_headers=deny_headers,
    )
