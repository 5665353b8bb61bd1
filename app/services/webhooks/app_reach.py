"""Webhooks that people can manage and see whole: those of apps whose permissions they all hold.

A webhook is sent what its app can read. Without this rule, people who manage apps could read
everything that any app can. A limited app token changes and sees whole only webhooks that were
saved with no more rights than it has.

A person can save webhooks of such an app before it is granted more. A grant by which such a
webhook would be sent what its saver couldn't read must be confirmed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NoReturn

from sqlalchemy import ColumnElement, Select, and_, not_, select, true
from sqlalchemy.orm import Session

from app import models
from app.domain import webhooks
from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor, ActorKind, holds_all_permissions
from app.domain.authorization.permissions import Permission, in_order
from app.domain.deliveries.redaction import REDACTED
from app.domain.events import EVENTS
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import APP_PERMISSIONS, read_permissions
from app.services.identity.stored_apps import stored_app
from app.services.webhooks.stored_webhooks import read_saver, set_saver


@building_block
def require_within_limit(actor: Actor, webhook: webhooks.Webhook, field: str = "id") -> None:
    """Refuse a limited app token INVALID on ``field`` for a webhook that was saved with more."""
    if webhooks.is_within_limit(actor, webhook.saver):
        return
    message = (
        "This webhook was saved with permissions that this token doesn't have. Use a token of the "
        "app that isn't limited."
    )
    raise Refused(Problem("INVALID", message, field))


@building_block
def next_saver(actor: Actor, before: webhooks.Webhook, after: webhooks.Webhook) -> webhooks.Saver:
    """Return who counts as the saver of ``after``, which ``actor`` changes from ``before``.

    The limit of an app token stays when a person changes neither the payload nor the target:
    enabling a webhook must not widen its payloads.
    """
    is_same = after.target_url == before.target_url and after.query == before.query
    is_same = is_same and frozenset(after.events) == frozenset(before.events)
    if is_same and before.saver.token_limit is not None and not actor.is_app:
        return before.saver
    return webhooks.saver_of(actor)


_OF_WEBHOOK = (
    select(APP_PERMISSIONS.label("app_permissions"))
    .select_from(models.Webhook)
    .join(models.App, models.App.id == models.Webhook.app_id)
)


@building_block
def app_within_reach(session: Session, actor: Actor, app_id: int, field: str) -> App:
    """Return the app whose webhooks ``actor`` is about to change, kept from being granted more.

    Refuses NOT_FOUND on ``field``. Raises ``PermissionDenied`` to people who lack one of its
    permissions. To be called before a webhook of it is locked.
    """
    lock = select(models.App.id).where(models.App.id == app_id).with_for_update(read=True)
    session.execute(lock)
    app = stored_app(session, app_id, field)
    webhooks.require_all_of_app(actor, app.permissions)
    return app


@building_block
def require_webhook_within_reach(session: Session, actor: Actor, webhook_id: int) -> None:
    """Raise ``PermissionDenied`` to people who lack a permission of the webhook's app.

    A webhook that doesn't exist is for the caller to refuse.
    """
    text = session.scalar(_OF_WEBHOOK.where(models.Webhook.id == webhook_id))
    if text is not None:
        webhooks.require_all_of_app(actor, read_permissions(text))


@building_block
def webhooks_beyond_reach(actor: Actor) -> Select[int]:
    """Return the keys of webhooks of apps with permissions that ``actor``, a person, lacks."""
    return select(models.Webhook.id).where(not_(within_reach(actor)))


@building_block
def payload_within_reach(actor: Actor) -> ColumnElement[bool]:
    """Return the condition on ``models.Delivery`` that ``actor`` can see the payload."""
    viewer = actor.viewer
    if viewer.is_app or holds_all_permissions(viewer):
        return true()
    held = viewer.held_everywhere
    lacked = [name.value for name, event in EVENTS.items() if event.permission not in held]
    reached = select(models.Webhook.id).where(within_reach(actor))
    return and_(models.Delivery.webhook_id.in_(reached), models.Delivery.event.not_in(lacked))


@building_block
def within_reach(actor: Actor) -> ColumnElement[bool]:
    """Return a condition on ``models.Webhook``: that ``actor`` holds all the app's permissions.

    True of all webhooks for apps: what else is theirs is for another condition.
    """
    viewer = actor.viewer
    if viewer.is_app or holds_all_permissions(viewer):
        return true()
    held = [permission.value for permission in viewer.held_everywhere]
    beyond = select(models.AppPermission.app_id).where(
        models.AppPermission.permission.not_in(held)
    )
    return models.Webhook.app_id.not_in(beyond)


@building_block
def lacking_for_payload(
    actor: Actor, of_app: frozenset[Permission], event: str
) -> tuple[Permission, ...]:
    """Return the permissions that ``actor`` lacks to see a delivery of ``event``; none for an app.

    The app's and the event's, which the app may have lost since.
    """
    needed = webhooks.required_permission(event)
    return webhooks.lacking_of_app(actor, of_app if needed is None else of_app | {needed})


@building_block
def seen_webhook(
    actor: Actor, webhook: webhooks.Webhook, of_app: frozenset[Permission]
) -> webhooks.Webhook:
    """Return ``webhook`` of an app with the permissions ``of_app`` as ``actor`` may see it.

    People who lack one of them see neither secret nor headers, nor keys in the URL. A token that
    can't change it sees no secrets.
    """
    lacking = webhooks.lacking_of_app(actor, of_app)
    if not lacking and webhooks.is_within_limit(actor, webhook.saver):
        return webhook
    if not lacking:
        hidden: Mapping[str, str] = dict.fromkeys(webhook.header_names, REDACTED)
        return replace(webhook, reveal=str, reveal_headers=partial(dict, hidden))

    def deny() -> NoReturn:
        raise webhooks.app_permissions_denied(lacking)

    url = masked_url(webhook.target_url)
    return replace(webhook, lacking=lacking, target_url=url, reveal=deny, reveal_headers=deny)


@dataclass(frozen=True, slots=True)
class UnconfirmedWebhook:
    """A webhook of an app that is granted permissions; ``saved_by`` lacked ``lacking`` of them."""

    id: int
    name: str
    target_url: str
    saved_by: str
    lacking: tuple[Permission, ...]

    @property
    def problem(self) -> Problem:
        """Why the grant must be confirmed."""
        message = (
            "Webhook {name} was saved by {person}, who doesn't have {lacking}. It would be sent "
            "what the app can read with these permissions."
        )
        values = {
            "name": repr(self.name or self.target_url),
            "person": self.saved_by,
            "lacking": ", ".join(self.lacking),
        }
        return Problem("OUT_OF_SCOPE_PERMISSION", message, "permissions", values=values)


class WebhooksNotConfirmed(Refused):
    """A grant that concerns ``webhooks`` isn't confirmed."""

    def __init__(self, found: Sequence[UnconfirmedWebhook]) -> None:
        lacking = in_order(frozenset().union(*(webhook.lacking for webhook in found)))
        problems = " ".join(webhook.problem.message for webhook in found)
        message = "{problems} Save the webhook yourself or delete it first."
        names = tuple(permission.value for permission in lacking)
        super().__init__(
            Problem(
                "OUT_OF_SCOPE_PERMISSION",
                message,
                "permissions",
                permissions=names,
                values={"problems": problems},
            )
        )
        self.webhooks = tuple(found)


@building_block
def confirm_webhooks(
    ports: Ports,
    actor: Actor,
    session: Session,
    app_id: int,
    added: frozenset[Permission],
    *,
    confirmed: bool,
) -> None:
    """Let webhooks of an app be sent what it can read with the permissions ``added`` to it.

    Only those are asked about whose saver is a person and lacked one of ``added`` then. Raises
    ``WebhooksNotConfirmed`` unless ``confirmed``; then they count as saved by ``actor``.
    """
    if not added:
        return
    query = (
        select(models.Webhook).where(models.Webhook.app_id == app_id).order_by(models.Webhook.id)
    )
    found = [
        (stored, unconfirmed)
        for stored in session.scalars(query.with_for_update())
        if (unconfirmed := _unconfirmed(stored, added))
    ]
    if found and not confirmed:
        raise WebhooksNotConfirmed([unconfirmed for _, unconfirmed in found])
    for stored, _ in found:
        before = {"saved_by": stored.saved_by}
        set_saver(stored, _confirmed(read_saver(stored), webhooks.saver_of(actor)))
        after = {"saved_by": stored.saved_by}
        label = stored.name or masked_url(stored.target_url)
        change = Change("webhook.confirm", "Webhook", stored.id, label, before, after)
        record(ports, actor, session, change)


def _unconfirmed(
    stored: models.Webhook, added: frozenset[Permission]
) -> UnconfirmedWebhook | None:
    """Return the webhook if a person saved it who lacked some of ``added``."""
    saver = read_saver(stored)
    if saver.kind is not ActorKind.USER or saver.permissions is None:
        return None
    lacking = in_order(added - saver.permissions)
    if not lacking:
        return None
    url = masked_url(stored.target_url)
    return UnconfirmedWebhook(stored.id, stored.name, url, saver.name, lacking)


def _confirmed(before: webhooks.Saver, by: webhooks.Saver) -> webhooks.Saver:
    """Return the saver once ``by`` has confirmed what ``before`` saved: both stand behind it."""
    if before.permissions is None or by.permissions is None:
        return by
    return replace(by, permissions=before.permissions | by.permissions)
