"""The database's tables, and whether they are those that this version works with."""

from typing import Protocol


class Schema(Protocol):
    """Every method raises ``Unreachable`` when the database does not answer."""

    def upgrade(self) -> None:
        """Bring the tables to the newest revision, with what is in them; safe to repeat."""

    def current(self) -> str | None:
        """The revision that the tables are at, ``None`` when there are none yet."""

    def newest(self) -> str | None:
        """The revision that this version needs."""

    def revise(self, message: str, name: str) -> None:
        """Write the migration from the tables to what the records say (development)."""
