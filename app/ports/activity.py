"""What is noticed in passing: gathered in memory, written down once a minute by each process."""

from typing import Protocol

from app.domain.shop.traffic import TrafficKind


class Activity(Protocol):
    """Noticing costs the hot path next to nothing: no request waits for a write of these."""

    def count_request(self, kind: TrafficKind) -> None:
        """Count a request of that kind of caller."""

    def record_session_use(self, session_id: int) -> None:
        """A session was used just now."""

    def record_app_token_use(self, token_id: int, address: str | None) -> None:
        """An app's token was used just now, from ``address``."""

    def record_forwarding(self, peer: str) -> None:
        """``peer``, which is no trusted proxy, passed on what it says is somebody else's."""

    def flush(self) -> None:
        """Write down what has been gathered; what cannot be written is kept for the next time."""
