"""Check what granting permissions to an app does to its webhooks.

A person can save webhooks of an app whose permissions they all hold (``app_reach``), so also
before it is granted more. A grant by which such a webhook would be sent what its saver couldn't
read must be confirmed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission, in_order
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks import Saver, saver_of
from app.models import WebhookRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.webhooks.stored_webhooks import read_saver, set_saver


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

    def __init__(self, webhooks: Sequence[UnconfirmedWebhook]) -> None:
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
    query = select(WebhookRecord).where(WebhookRecord.app_id == app_id).order_by(WebhookRecord.id)
    found = [
        (stored, unconfirmed)
        for stored in session.scalars(query.with_for_update())
        if (unconfirmed := _unconfirmed(stored, added))
    ]
    if found and not confirmed:
        raise WebhooksNotConfirmed([unconfirmed for _, unconfirmed in found])
    for stored, _ in found:
        before = {"saved_by": stored.saved_by}
        set_saver(stored, _confirmed(read_saver(stored), saver_of(actor)))
        after = {"saved_by": stored.saved_by}
        label = stored.name or masked_url(stored.target_url)
        change = Change("webhook.confirm", "Webhook", stored.id, label, before, after)
        record(ports, actor, session, change)


def _unconfirmed(stored: WebhookRecord, added: frozenset[Permission]) -> UnconfirmedWebhook | None:
    """Return the webhook if a person saved it who lacked some of ``added``."""
    saver = read_saver(stored)
    if saver.kind is not ActorKind.USER or saver.permissions is None:
        return None
    lacking = in_order(added - saver.permissions)
    if not lacking:
        return None
    url = masked_url(stored.target_url)
    return UnconfirmedWebhook(stored.id, stored.name, url, saver.name, lacking)


def _confirmed(before: Saver, by: Saver) -> Saver:
    """Return the saver once ``by`` has confirmed what ``before`` saved: both stand behind it."""
    if before.permissions is None or by.permissions is None:
        return by
    return replace(by, permissions=before.permissions | by.permissions)
