"""Check that a webhook's links give no one more access than they have.

Contract, "Webhooks": staff need MANAGE_APPS for the webhooks of all apps, an app manages its own.
But a link gives access to another account. A limited app token has the permissions that it was
limited to, also through a webhook.
"""

from collections.abc import Iterable

from app.domain.apps.apps import App
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import in_order
from app.domain.events import EventType, LinkRequested
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks.webhooks import Webhook
from app.services.authorization.register import part
from app.services.webhooks.sample_objects import kinds_of


@part
def require_link_permission(actor: Actor, app: App, webhook: Webhook, field: str) -> None:
    """Refuse INVALID if ``webhook`` of ``app`` would be sent what ``actor`` may not have sent.

    For people on ``field``: links. For a limited app token on the events or the query: events
    whose permission the token lacks. What an app does with its own webhooks by a token without a
    limit is its own affair.
    """
    if actor.is_app:
        _require_own_events(actor, webhook)
    else:
        _require_links(actor, app, webhook, field)


@part
def carries_links(events: Iterable[EventType]) -> bool:
    """Whether one of ``events`` carries a link that gives access to an account."""
    return any(issubclass(kind, LinkRequested) for kind in kinds_of(events))


def _require_own_events(actor: Actor, webhook: Webhook) -> None:
    if actor.token_limit is None:
        return
    field = "query" if webhook.query else "asyncEvents"
    if EventType.ANY_EVENTS in webhook.events:
        message = "A limited token can't subscribe to ANY_EVENTS. List the events instead."
        raise Refused(Problem("INVALID", message, field))
    lacking = {kind.permission for kind in kinds_of(webhook.events)} - actor.permissions
    if lacking:
        names = ", ".join(in_order(frozenset(lacking)))
        message = "These events need permissions that this token doesn't have: {names}."
        raise Refused(Problem("INVALID", message, field, values={"names": names}))


def _require_links(actor: Actor, app: App, webhook: Webhook, field: str) -> None:
    needed = {
        kind.permission for kind in kinds_of(webhook.events) if issubclass(kind, LinkRequested)
    }
    lacking = (needed & app.permissions) - actor.permissions
    if lacking:
        names = ", ".join(in_order(frozenset(lacking)))
        message = (
            "The webhook would receive links that give access to accounts. You "
            "need these permissions to save it: {names}."
        )
        raise Refused(Problem("INVALID", message, field, values={"names": names}))
