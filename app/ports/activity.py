"""Usage and refused sign-ins, collected in memory and written once a minute by each process."""

from typing import Protocol

from app.domain.shop.settings import TrafficKind
from app.domain.sign_in.sign_in_log import SignInRefusal


class SignInLog(Protocol):
    """No refused attempt waits for a write, and a flood of them takes bounded memory and rows."""

    def count_refusal(self, refusal: SignInRefusal, user_agent: str) -> None:
        """Count a refused attempt; equal ones become one entry, with the last ``user_agent``."""

    def flush(self) -> None:
        """Write what was counted; what cannot be written is kept for the next time."""


class Activity(Protocol):
    """Noticing costs the hot path next to nothing: no request waits for a write of these."""

    def count_request(self, kind: TrafficKind) -> None:
        """Count a request of that kind of caller."""

    def count_rejection(self) -> None:
        """Count a request that the closed storefront rejected."""

    def record_session_use(self, session_id: int) -> None:
        """Record that a session was used now."""

    def record_app_token_use(self, token_id: int, address: str | None) -> None:
        """Record that an app's token was used now, from ``address``."""

    def record_forwarding(self, peer: str) -> None:
        """Record that ``peer``, not a trusted proxy, sent a forwarded client address."""

    def flush(self) -> None:
        """Write down what has been gathered; what cannot be written is kept for the next time."""
