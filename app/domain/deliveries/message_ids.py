"""Message ids: the ``webhook-id`` of a delivery."""

from datetime import datetime

RANDOM_LENGTH = 16
"""Random characters in one; together with the millisecond they make it the only one."""


def make_message_id(created_at: datetime, chance: str) -> str:
    """Return ``msg_``, the millisecond in hexadecimal, and ``RANDOM_LENGTH`` random characters.

    Ids sort by time, so that new ones are neighbors in the index: with random ids a delivery would
    cost more as the table grows.
    """
    return f"msg_{int(created_at.timestamp() * 1000):012x}{chance}"
