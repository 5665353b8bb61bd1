"""Check what granting permissions to an app does to its webhooks with links.

A webhook may have been saved for links before its app could receive them, by a person who couldn't
have had them sent. A grant that would change that must be confirmed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission, in_order
from app.domain.events import LinkRequested
from app.domain.urls.masked_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks.permissions import saver_of
from app.domain.webhooks.webhooks import Webhook
from app.models import WebhookRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.webhooks.sample_objects import kinds_of
from app.services.webhooks.stored_webhooks import read_webhooks, set_saver


@dataclass(frozen=True, slots=True)
class LinkWebhook:
    """A webhook that a grant would have sent links; ``lacking`` is what ``saved_by`` lacked."""

    id: int
    name: str
    target_url: str
    saved_by: str
    lacking: tuple[Permission, ...]

    @property
    def problem(self) -> Problem:
        """Why the grant must be confirmed."""
        message = (
            "Webhook {name} was saved by {person}, who doesn't have {lacking}. It would receive "
            "links that give access to accounts."
        )
        values = {
            "name": repr(self.name or self.target_url),
            "person": self.saved_by,
            "lacking": ", ".join(self.lacking),
        }
        return Problem("OUT_OF_SCOPE_PERMISSION", message, "permissions", values=values)


class WebhooksNotConfirmed(Refused):
    """A grant would send ``webhooks`` links and isn't confirmed."""

    def __init__(self, webhooks: Sequence[LinkWebhook]) -> None:
        lacking = in_order(frozenset().union(*(webhook.lacking for webhook in webhooks)))
        problems = " ".join(webhook.problem.message for webhook in webhooks)
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
        self.webhooks = tuple(webhooks)


@part
def confirm_webhooks(
    ports: Ports,
    actor: Actor,
    session: Session,
    app_id: int,
    added: Collection[Permission],
    *,
    confirmed: bool,
) -> None:
    """Let webhooks of an app be sent the links that the permissions ``added`` to it bring.

    Only those are asked about whose saver is a person and lacked one of ``added`` then. Raises
    ``WebhooksNotConfirmed`` unless ``confirmed``; then they count as saved by ``actor``.
    """
    if not added:
        return
    query = select(WebhookRecord).where(WebhookRecord.app_id == app_id).order_by(WebhookRecord.id)
    stored = session.scalars(query.with_for_update()).all()
    found = {
        webhook.id: LinkWebhook(
            webhook.id,
            webhook.name,
            masked_url(webhook.target_url),
            webhook.saver.name,
            lacking,
        )
        for webhook in read_webhooks(ports, session, stored)
        if (lacking := _lacking(webhook, added))
    }
    if found and not confirmed:
        raise WebhooksNotConfirmed(list(found.values()))
    saver = saver_of(actor)
    for webhook in stored:
        if webhook.id in found:
            before = {"saved_by": webhook.saved_by}
            set_saver(webhook, saver)
            after = {"saved_by": webhook.saved_by}
            change = Change("webhook.confirm", "Webhook", webhook.id, webhook.name, before, after)
            record(ports, actor, session, change)


def _lacking(webhook: Webhook, added: Collection[Permission]) -> tuple[Permission, ...]:
    """Return the ``added`` permissions that the saver of ``webhook`` lacked for its links."""
    saver = webhook.saver
    if saver.kind is not ActorKind.USER or saver.permissions is None:
        return ()
    needed = {
        kind.permission for kind in kinds_of(webhook.events) if issubclass(kind, LinkRequested)
    }
    return in_order(frozenset(needed & set(added)) - saver.permissions)
