"""The database: transactions, snapshots, a replica for reads, its tables, and its backups.

Reads from the replica can be a little late. A backup holds everything that is stored, with the
queue's file.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Executable, Row, Select
from sqlalchemy.orm import Session


class NamedRow(Protocol):
    """A row whose columns are attributes, by their labels."""

    def __getattr__(self, label: str) -> Any: ...


class SubjectKind(StrEnum):
    """What transactions queue for, instead of waiting for its row with a connection."""

    CALLER = "caller"
    """An app or a staff member: a few transactions at a time, for any of their changes."""
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


@dataclass(frozen=True, slots=True)
class BackupLock:
    """What a backup is encrypted with: a passphrase, or age's public keys of ``recipients``."""

    passphrase: str = ""
    recipients: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BackupKey:
    """What opens a backup: its passphrase, or the text of a file of private keys (age)."""

    passphrase: str = ""
    identities: str = ""


@dataclass(frozen=True, slots=True)
class BackupFacts:
    """The metadata of a backup.

    ``secret_key`` is a fingerprint of the SECRET_KEY that encrypted its secrets. ``database`` is
    ``sqlite`` or ``postgresql``.
    """

    version: str
    revision: str
    database: str
    created_at: datetime
    secret_key: str


class OpenBackup(Protocol):
    """A backup that was decrypted and is whole."""

    @property
    def facts(self) -> BackupFacts:
        """The metadata of the backup."""

    def restore(self) -> None:
        """Replace the contents of the database; on an error they stay."""


class Backups(Protocol):
    """Every method raises ``BackupFailed`` with a reason for the operator."""

    @property
    def database(self) -> str:
        """The kind of database: ``sqlite`` or ``postgresql``."""

    def write(self, file: Path, facts: BackupFacts, lock: BackupLock) -> int:
        """Write a backup of this moment while others work; return its size in bytes.

        ``file`` is complete or not there, and only this account can read it.
        """

    def open(self, file: Path, key: BackupKey) -> AbstractContextManager[OpenBackup]:
        """Decrypt a backup and check that it is whole, without touching the database."""

    def is_empty(self) -> bool:
        """Whether the database has no tables yet."""
