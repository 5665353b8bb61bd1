"""Backups of the database, with everything that is stored in it, and of the queue's file."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol


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
