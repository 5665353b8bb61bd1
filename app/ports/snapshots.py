"""Long reads of the database as it is at one moment."""

from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy.orm import Session


class Snapshots(Protocol):
    def snapshot(self) -> AbstractContextManager[Session]:
        """Return a session for reads that all see the same moment, while others write.

        It holds a connection until the block ends, so it is for commands, not for requests.
        """
