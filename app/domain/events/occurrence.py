"""An event as one app hears of it."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.events.event import Event


@dataclass(frozen=True, slots=True)
class Occurrence:
    """``event`` happened at that moment.

    Whoever made it happen is told by kind (``User``, ``App``) and key. ``recipient_id`` is the app
    that hears of it; nobody's in a dry run without one.
    """

    event: Event
    issued_at: datetime
    principal_type: str = ""
    principal_id: int | None = None
    recipient_id: int | None = None
