"""What carries leased deliveries from the process that leased them to whichever makes them."""

from typing import Protocol

from app.domain.deliveries.deliveries import Batch


class Queue(Protocol):
    """Faster than asking the database, and no more than that: the rows are the truth.

    What is lost here, with a process or a whole Redis, is found again when its lease ends. Any
    number of processes may put and take.
    """

    def put(self, batch: Batch) -> None:
        """Hand ``batch`` to whoever takes next."""

    def take(self, patience: float) -> Batch | None:
        """The batch that has waited longest; nobody else gets it.

        ``None`` after ``patience`` seconds without one, or sooner.
        """

    def size(self) -> int:
        """How many wait."""

    def close(self) -> None:
        """Give connections back, and let everybody go who waits here."""
