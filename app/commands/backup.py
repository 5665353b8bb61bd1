"""``flask backup`` and ``flask restore``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.options import FilePath
from app.commands.terminal.output import Column, output
from app.domain.authorization.actor import OPERATOR
from app.ports.database import BackupFacts, BackupKey, BackupLock
from app.services.operations.backups import create_backup, reads_secrets_of, restore_backup
from app.web.installation import installation

_FACTS = (
    Column[BackupFacts]("createdAt", "Created", lambda facts: facts.created_at),
    Column[BackupFacts]("database", "Database", lambda facts: facts.database),
    Column[BackupFacts]("revision", "Revision", lambda facts: facts.revision),
    Column[BackupFacts]("version", "Version", lambda facts: facts.version),
)
_PATH = FilePath(dir_okay=False, path_type=Path)
_passphrase_file = click.option(
    "--passphrase-file",
    type=_PATH,
    help="The file that holds the passphrase. Default: the terminal asks for it.",
)


@standalone(
    "backup",
    examples=[
        ("flask backup shop.backup", "ask for a passphrase"),
        ("flask backup shop.backup --passphrase-file /run/secrets/backup", "from a script"),
        ("flask backup shop.backup --recipient age1…", "for the holder of a private key"),
    ],
)
@click.argument("file", type=_PATH)
@click.option(
    "--recipient",
    "recipients",
    multiple=True,
    help="An age or SSH public key that can restore the backup, instead of a passphrase. "
    "Can be repeated.",
)
@_passphrase_file
def backup(file: Path, recipients: tuple[str, ...], passphrase_file: Path | None) -> None:
    """Write everything in the database to the encrypted FILE.

    That includes signing keys, avatars, and events to send. The shop can be served meanwhile.
    SECRET_KEY and other settings aren't included: without SECRET_KEY, secrets in a backup can't be
    read. For PostgreSQL, pg_dump is needed, in the server's version or a newer one.
    """
    if recipients and passphrase_file:
        raise click.UsageError("Use either --recipient or --passphrase-file.")
    passphrase = "" if recipients else _passphrase(passphrase_file, confirms=True)
    lock = BackupLock(passphrase, recipients)
    facts, size = create_backup(installation().ports, OPERATOR, file, lock)
    out = output()
    out.one(facts, _FACTS)
    out.say(f"Wrote {file} ({size:,} bytes).")


@standalone(
    "restore",
    examples=[
        ("flask restore shop.backup", "into an empty database"),
        ("flask restore shop.backup --replace", "delete what is in the database"),
        ("flask restore shop.backup --identity-file key.txt", "with an age or SSH private key"),
    ],
)
@click.argument("file", type=_PATH)
@click.option(
    "--identity-file",
    type=_PATH,
    help="The file of the age or SSH private key that opens FILE.",
)
@_passphrase_file
@click.option("--replace", is_flag=True, help="Delete everything that is in the database.")
def restore(
    file: Path, identity_file: Path | None, passphrase_file: Path | None, *, replace: bool
) -> None:
    """Put the contents of the backup FILE into the database.

    Stop all servers and workers first. Checks the backup before it changes anything. Refuses a
    database with tables unless --replace is passed, and a backup of a newer version.
    """
    if identity_file and passphrase_file:
        raise click.UsageError("Use either --identity-file or --passphrase-file.")
    if identity_file:
        key = BackupKey(identities=_read(identity_file))
    else:
        key = BackupKey(_passphrase(passphrase_file, confirms=False))
    ports = installation().ports
    facts = restore_backup(ports, OPERATOR, file, key, replace=replace)
    out = output()
    out.one(facts, _FACTS)
    out.say(f"Restored {file}.")
    if facts.revision != ports.schema.newest():
        out.say("Run `flask db upgrade` before you start the shop.")
    if not reads_secrets_of(ports, OPERATOR, facts):
        out.say(
            "The backup was made with another SECRET_KEY. Add it to SECRET_KEY_FALLBACKS, or its "
            "secrets can't be read."
        )


def _passphrase(file: Path | None, *, confirms: bool) -> str:
    if file is not None:
        passphrase = _read(file).strip()
        if not passphrase:
            raise click.ClickException(f"{file} is empty.")
        return passphrase
    if not sys.stdin.isatty():
        raise click.UsageError("A passphrase is required; pass --passphrase-file.")
    text: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=confirms, err=True)
    return text


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it isn't UTF-8 text"
        raise click.ClickException(f"Can't read {file}: {reason}.") from error
