"""Where records are kept, its snapshots, and a replica for reads that may be a little late."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Executable, Row, Select
from sqlalchemy.orm import Session


class NamedRow(Protocol):
    """A row whose columns are attributes, by their labels."""

    def __getattr__(self, label: str) -> Any: ...


class SubjectKind(StrEnum):
    """What transactions queue for, instead of waiting for its row with a connection."""

    CALLER = "caller"
    """An app or a staff member, whatever they change: a few transactions at a time."""
    ACCOUNT = "account"
    EMAIL = "email"
    """An account by its email, where its key isn't known yet."""
    CART = "cart"
    SESSION = "session"
    APP = "app"
    SHOP = "shop"


class Subject(NamedTuple):
    """Something that a transaction locks, or the caller that it writes for."""

    kind: SubjectKind
    key: int | str = 0


def account(user_id: int) -> Subject:
    return Subject(SubjectKind.ACCOUNT, user_id)


SHOP = Subject(SubjectKind.SHOP)
"""The shop's settings."""


class ReadSession(Session):
    """A session for reads; every statement sees what is committed when it starts."""

    def rows(
        self, statement: Executable, values: Mapping[str, object]
    ) -> Sequence[Row[*tuple[object, ...]]]:
        """Return the rows of a statement that selects columns and no records.

        It goes to the connection without the ORM's steps, which take as long as a page's rows.
        """
        return self.connection().execute(statement, values).all()


class Database(Protocol):
    def transaction(
        self, *subjects: Subject, signs_in: bool = False
    ) -> AbstractContextManager[Session]:
        """A session that commits at the end of the block, or rolls back when it raises.

        On SQLite it takes the write lock at once. Nothing slow belongs inside: no network, no
        mail, no password hashing.

        A server's process has a bounded number of transactions at once; those that sign people in
        (``signs_in``) have a share of their own. ``subjects`` are the accounts, carts and so on
        whose rows are locked: transactions about the same one queue here, before they count.
        Raises ``TooManyRequests`` if too many do.
        """

    def reading(self) -> AbstractContextManager[ReadSession]:
        """A session for reads.

        A worker looks here, or with ``read``, before it locks rows: most rounds find none.
        """

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        """The raw rows of one statement, for the hot path.

        ``statement`` must be a module's constant with named ``bindparam``s: it is compiled once.
        Its columns are labelled, no two alike. A ``bindparam`` with a type takes its values; those
        of a row come as the driver gives them (SQLite's booleans are 0 and 1).
        """

    @property
    def in_transaction(self) -> bool:
        """Whether the calling thread has a transaction open."""

    def close(self) -> None:
        """Give every connection back."""


class Snapshots(Protocol):
    def snapshot(self) -> AbstractContextManager[Session]:
        """Return a session for reads that all see the same moment, while others write.

        It holds a connection until the block ends, so it is for commands, not for requests.
        """


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
