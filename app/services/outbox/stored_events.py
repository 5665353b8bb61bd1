"""Events as they lie in the outbox, made values again."""

from dataclasses import fields
from typing import Any

from app.domain.events import EVENTS, Event, EventType, LinkRequested
from app.domain.keys import OUTBOX_EVENT
from app.models import OutboxEventRecord
from app.ports import Ports
from app.services.authorization.register import part


@part
def read_event(ports: Ports, note: OutboxEventRecord) -> Event:
    """The event that ``note`` is about, with its secret; what a later version noted is left out.

    Raises ``DecryptionError`` when it was sealed under another SECRET_KEY.
    """
    kind: type[Any] = EVENTS[EventType(note.type)]
    names = {field.name for field in fields(kind)} - {"subject_id"}
    values = {name: value for name, value in note.data.items() if name in names}
    if issubclass(kind, LinkRequested) and note.sealed:
        values["token"] = ports.encryption.decrypt(OUTBOX_EVENT, note.sealed)
    event: Event = kind(subject_id=note.subject_id, **values)
    return event
