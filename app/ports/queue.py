"""A queue of leased deliveries, from the process that leased them to those that send them."""

from typing import Protocol

from app.domain.deliveries.deliveries import Batch
from app.domain.values.installation import Unreachable


class QueueUnavailable(Unreachable):
    """A queue in a separate store doesn't respond; the adapter logs when that begins and ends."""


class Queue(Protocol):
    """Faster than asking the database, and no more than that: the rows are the truth.

    What is lost here, with a process or a whole Redis, is found again when its lease ends. Any
    number of processes may put and take. Every method except ``close`` raises
    ``QueueUnavailable`` when a separate store doesn't respond.
    """

    def put(self, batch: Batch) -> None:
        """Add ``batch`` to the queue."""

    def take(self, patience: float) -> Batch | None:
        """Remove and return the batch that has waited longest.

        ``None`` after ``patience`` seconds without one, or sooner.
        """

    def size(self) -> int:
        """How many wait."""

    def close(self) -> None:
        """Close connections and wake up waiting threads."""
