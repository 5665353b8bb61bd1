"""The database's tables, and whether they are those that this version works with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class UpgradeStep:
    """A migration that is about to run: the ``number``-th of ``count``."""

    number: int
    count: int
    revision: str
    title: str


@dataclass(frozen=True, slots=True)
class UpgradeWait:
    """Another process is upgrading the database; it is waited for ``seconds`` at most."""

    seconds: float


@dataclass(frozen=True, slots=True)
class UpgradeRows:
    """How many rows of ``table`` the running migration has done, of ``count`` at its start."""

    table: str
    done: int
    count: int


UpgradeProgress = UpgradeStep | UpgradeWait | UpgradeRows
Report = Callable[[UpgradeProgress], None]


def ignore_progress(_progress: UpgradeProgress) -> None:
    """Report to no one."""


class Schema(Protocol):
    """Every method raises ``Unreachable`` when the database does not answer."""

    def upgrade(self, report: Report = ignore_progress) -> int:
        """Bring the tables to the newest revision, with what is in them; safe to repeat.

        Returns how many migrations ran. One process works at a time, others wait. Raises
        ``UpgradeBlocked`` when the wait was too long, ``SchemaAhead`` for tables of a newer
        version.
        """

    def has_database(self) -> bool:
        """Whether there is a database; connecting creates a SQLite file that is missing."""

    def current(self) -> str | None:
        """The revision that the tables are at, ``None`` when there are none yet."""

    def newest(self) -> str | None:
        """The revision that this version needs."""

    def check_not_ahead(self, current: str | None) -> None:
        """Raise ``SchemaAhead`` for a revision that this version doesn't know."""

    def check(self) -> None:
        """Raise ``SchemaBehind`` or ``SchemaAhead`` unless the tables are this version's."""

    def revise(self, message: str, name: str) -> None:
        """Write the migration from the tables to what the records say (development)."""
