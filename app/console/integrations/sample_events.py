"""Sending a sample of an event to one webhook."""

from werkzeug.wrappers import Response as BaseResponse

from app.console.integrations.event_subjects import object_named
from app.console.page_layout import done
from app.console.session import actor, ports
from app.domain.events import EVENTS, EventType
from app.domain.values.ids import to_global_id
from app.services.deliveries.dry_runs import trigger_webhook
from app.web.translation import text

_TRUE = "true"


def send_sample(webhook: int, event: EventType | None, named: str) -> BaseResponse:
    """Send the webhook the event about the object that ``named`` names, or the newest.

    Without an event, the first that the webhook subscribes to; ``named`` is an ID then. Refuses
    as ``object_named`` and ``trigger_webhook`` do. Leads to the delivery.
    """
    object_id: str | None = named or None
    if event is not None and event in EVENTS:
        object_id = object_named(ports(), actor(), event, named)
    sent = trigger_webhook(ports(), actor(), to_global_id("Webhook", webhook), object_id, event)
    return done(text("Sending sample event."), "console.deliveries.show", key=sent.id)


def sample_header() -> str:
    """Return the header that marks sample events."""
    return f"{ports().configuration.header_names.sample_header}: {_TRUE}"
