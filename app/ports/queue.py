"""Payloads of deliveries, the queue of leased ones, and the signal that wakes workers.

Deliveries go through the queue from the process that leased them to those that send them.
"""

import time
from typing import Final, Protocol

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.events import EventType, Occurrence
from app.domain.values.installation import Unreachable


class QueueUnavailable(Unreachable):
    """A queue in a separate store doesn't respond; the adapter logs when that begins and ends."""


class Queue(Protocol):
    """A queue of hints: the rows of the database stay authoritative, this is only faster.

    A batch that is lost, with a process or a whole Redis, is found again when its lease ends. Any
    number of processes can put and take. Every method except ``close`` raises
    ``QueueUnavailable`` when a separate store doesn't respond.
    """

    def put(self, batch: Batch) -> None:
        """Add ``batch`` to the queue."""

    def take(self, patience: float) -> Batch | None:
        """Remove and return the batch that has waited longest.

        ``None`` after ``patience`` seconds without one, or sooner.
        """

    def size(self) -> int:
        """Return how many batches wait."""

    def close(self) -> None:
        """Close unused connections, and wake up waiting threads.

        A thread that waits for a separate store returns within a second.
        """


_OFTEN = 0.3
"""Seconds until a worker that can't receive signals looks for work."""


class WorkSignal(Protocol):
    """A hint: a worker also looks for work every few seconds without one.

    So neither method raises when a signal can't be sent or received.
    """

    def send(self) -> None:
        """Wake each worker that waits, on this host or another."""

    def wait(self, seconds: float) -> bool:
        """Return whether to look for work, after at most ``seconds``: because a signal came.

        Signals that come between two calls count for the second. The first call, and the first
        after a connection was lost, returns True at once: signals sent before it are lost. Where
        none can be received, it returns False after a fraction of a second, so that the caller
        looks often instead.
        """

    def close(self) -> None:
        """Close connections and files."""


class NoSignal:
    """Sends nothing, and lets a worker look for work as often as it must without signals."""

    def send(self) -> None:
        return

    def wait(self, seconds: float) -> bool:
        time.sleep(min(seconds, _OFTEN))
        return False

    def close(self) -> None:
        return


NO_SIGNAL: Final[WorkSignal] = NoSignal()


class Payloads(Protocol):
    def check(self, query: str) -> tuple[EventType, ...]:
        """Check a webhook's query without running it; return its events as the catalogue has them.

        Refuses on ``query``: SYNTAX, GRAPHQL_ERROR for what the schema doesn't have,
        MISSING_SUBSCRIPTION, MISSING_EVENT without an event's own fields, UNABLE_TO_PARSE if it is
        unclear what to run (several operations, variables without values), INVALID beyond the
        limits.
        """

    def make(self, asking: object, actor: Actor, query: str, occurrence: Occurrence) -> str:
        """Run ``query`` on ``occurrence`` as ``actor``; return JSON text.

        The fields of the event itself, byte for byte the same for the same facts. ``asking`` are
        the caller's ``Ports``. Refuses GRAPHQL_ERROR on ``query`` for what ``actor`` can't see and
        for what the schema no longer has; raises any other error. Never inside a transaction.
        """
