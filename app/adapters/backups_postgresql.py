"""Backups of a PostgreSQL database by the server's own ``pg_dump`` and ``pg_restore``."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url, text

from app.adapters.backup_files import opened_backup, private_temporary_folder, write_backup
from app.adapters.database_errors import translate_errors
from app.adapters.private_files import make_private_file
from app.adapters.schema_revisions import connection_to
from app.domain.values.installation import BackupFailed
from app.ports.database import BackupFacts, BackupKey, BackupLock, OpenBackup

_DUMP = "database.dump"
_SCHEMA = "public"
_ASIDE = "latchkey_before_restore"


@dataclass(frozen=True, slots=True)
class PostgresqlBackups:
    """The schema ``public`` of the database at ``url``."""

    url: str
    database: str = "postgresql"

    def write(self, file: Path, facts: BackupFacts, lock: BackupLock) -> int:
        with private_temporary_folder() as folder:
            dump = folder / _DUMP
            options = ("--format=custom", "--no-owner", "--no-privileges", f"--schema={_SCHEMA}")
            _run(self.url, "pg_dump", *options, f"--file={dump}")
            return write_backup(file, {_DUMP: dump}, facts, lock)

    @contextmanager
    def open(self, file: Path, key: BackupKey) -> Iterator[OpenBackup]:
        with (
            private_temporary_folder() as folder,
            opened_backup(file, key, folder) as facts,
        ):
            if (folder / _DUMP).is_file():
                # Reads all of it, and finds a program that is too old for it.
                _run("", "pg_restore", "--file=/dev/null", str(folder / _DUMP))
            yield _Open(self, facts, folder)

    def is_empty(self) -> bool:
        tables = text("SELECT count(*) FROM pg_tables WHERE schemaname = :schema")
        with translate_errors(), connection_to(self.url) as connection:
            return not connection.scalar(tables, {"schema": _SCHEMA})


@dataclass(frozen=True, slots=True)
class _Open:
    target: PostgresqlBackups
    facts: BackupFacts
    folder: Path

    def restore(self) -> None:
        url = self.target.url
        # What is there stays until all of the backup, which creates the schema, is in its place.
        _execute(
            url,
            f"DROP SCHEMA IF EXISTS {_ASIDE} CASCADE",
            f"ALTER SCHEMA {_SCHEMA} RENAME TO {_ASIDE}",
        )
        options = ("--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction")
        try:
            _run(url, "pg_restore", *options, str(self.folder / _DUMP))
        except BaseException:
            _execute(
                url,
                f"DROP SCHEMA IF EXISTS {_SCHEMA} CASCADE",
                f"ALTER SCHEMA {_ASIDE} RENAME TO {_SCHEMA}",
            )
            raise
        _execute(url, f"DROP SCHEMA {_ASIDE} CASCADE")


def _execute(url: str, *statements: str) -> None:
    with translate_errors(), connection_to(url) as connection:
        for statement in statements:
            connection.execute(text(statement))


def _without_password(url: str, folder: Path) -> str:
    """Return ``url`` with a file for its password: every account sees a process's arguments."""
    parsed = make_url(url).set(drivername="postgresql")
    # libpq takes it as a parameter, too.
    plain = parsed.password or parsed.query.get("password")
    if not plain:
        return parsed.render_as_string(hide_password=False)
    file = folder / "pgpass"
    make_private_file(file)
    password = str(plain).replace("\\", "\\\\").replace(":", "\\:")
    file.write_text(f"*:*:*:*:{password}\n")
    # With set(), None would leave the password as it is.
    named = (
        parsed._replace(password=None)
        .difference_update_query(["password"])
        .update_query_dict({"passfile": str(file)})
    )
    return named.render_as_string(hide_password=False)


def _run(url: str, program: str, *arguments: str) -> None:
    path = shutil.which(program)
    if path is None:
        raise BackupFailed(
            f"{program} isn't installed. Install PostgreSQL's client programs, in the server's "
            "version or a newer one."
        )
    with private_temporary_folder() as folder:
        target = [f"--dbname={_without_password(url, folder)}"] if url else []
        done = subprocess.run(  # noqa: S603 - the program is ours, the URL the operator's
            [path, *target, *arguments], capture_output=True, text=True, check=False
        )
    if done.returncode:
        [*_, last] = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise BackupFailed(f"{program} failed: {last}")
