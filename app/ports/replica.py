"""A second server that repeats what the primary commits, for reads that may be a little late."""

from typing import Protocol

from app.ports.database import Database

MAX_LAG = 5.0
"""Seconds; a replica that is further behind isn't read from."""

MAX_AGE = 10.0
"""Seconds; what is read from a replica is never older, with the time between two checks."""


class Replica(Protocol):
    @property
    def database(self) -> Database:
        """Its ``reading`` asks the replica, or the primary while the replica can't be used.

        ``read``, for the hot path, asks the primary; a transaction is an error.
        """

    def check(self) -> float:
        """Ask the replica now; return by how many seconds it is behind.

        Raises ``DatabaseUnavailable`` with the reason why it isn't read from.
        """

    def close(self) -> None:
        """Give every connection back."""
