"""An event as received by one app."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.events.event import Event


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``event`` happened at that time.

    The principal is named by kind (``User``, ``App``) and key. ``recipient_id`` is the receiving
    app, ``None`` in a dry run without one.
    """

    event: Event
    issued_at: datetime
    principal_type: str = ""
    principal_id: int | None = None
    recipient_id: int | None = None
