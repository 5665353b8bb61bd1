"""Which events carry links, and which a limited app token can subscribe to.

Such a token has the permissions that it was limited to, also through a webhook.
"""

from collections.abc import Iterable

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import in_order
from app.domain.events import EventType, LinkRequested, kinds_of
from app.domain.values.errors import Problem, Refused
from app.domain.webhooks import Webhook
from app.services.authorization.register import part


@part
def carries_links(events: Iterable[EventType]) -> bool:
    """Whether one of ``events`` carries a link that gives access to an account."""
    return any(issubclass(kind, LinkRequested) for kind in kinds_of(events))


@part
def require_own_events(actor: Actor, webhook: Webhook) -> None:
    """Refuse INVALID to a limited app token for events whose permission it lacks.

    On ``asyncEvents`` or ``query``. What an app does with its own webhooks by a token without a
    limit is its own affair, and people hold all permissions of the app (``app_reach``).
    """
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
