"""Refused sign-in attempts, counted in memory and written once a minute by each process."""

from typing import Protocol

from app.domain.sign_in.sign_in_events import SignInRefusal


class SignInLog(Protocol):
    """No refused attempt waits for a write, and a flood of them takes bounded memory and rows."""

    def count_refusal(self, refusal: SignInRefusal, user_agent: str) -> None:
        """Count a refused attempt; equal ones become one entry, with the last ``user_agent``."""

    def flush(self) -> None:
        """Write what was counted; what cannot be written is kept for the next time."""
