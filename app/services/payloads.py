"""What a webhook is told of an event: its own query, or the event's default, run as its app."""

from dataclasses import dataclass, field
from datetime import datetime

from app.domain.actor import Actor
from app.domain.errors import PermissionDenied, Refused
from app.domain.events import Event, default_query
from app.domain.events.occurrence import Occurrence
from app.ports import Ports
from app.services.access import part


@dataclass(frozen=True, slots=True)
class Payload:
    """The JSON text, or the ``problem`` that kept it from being made."""

    text: str = field(default="", repr=False)
    problem: str = ""


@part
def make_payload(
    ports: Ports,
    app: Actor,
    event: Event,
    query: str,
    *,
    issued_at: datetime,
    principal: tuple[str, int | None],
) -> Payload:
    """What ``app`` is told of ``event``; never inside a transaction.

    What the rules say no to is a problem of this payload alone. A store that does not answer is
    raised: then nothing is known about it, and all is tried again.
    """
    happened = Occurrence(
        event=event,
        issued_at=issued_at,
        principal_type=principal[0],
        principal_id=principal[1],
        recipient_id=app.app_id,
    )
    try:
        text = ports.payloads.make(ports, app, query or default_query(type(event)), happened)
    except (Refused, PermissionDenied) as refused:
        return Payload(problem=str(refused))
    return Payload(text)
