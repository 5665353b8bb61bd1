"""``flask backup``, ``flask restore`` and ``flask resume``."""

import sys
from pathlib import Path

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.options import FilePath
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.ports.database import BackupFacts, BackupKey, BackupLock
from app.services.operations.backups import create_backup, reads_secrets_of, restore_backup
from app.services.operations.holds import (
    Held,
    HeldWork,
    check_installation,
    count_held,
    hold_findings,
    resume_sending,
)
from app.web.installation import installation, operator

_FACTS: tuple[Column[BackupFacts], ...] = (
    Column("createdAt", "Created", lambda facts: facts.created_at),
    Column("database", "Database", lambda facts: facts.database),
    Column("revision", "Revision", lambda facts: facts.revision),
    Column("version", "Version", lambda facts: facts.version),
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
    facts, size = create_backup(*operator(), file, lock)
    output().show_item(facts, _FACTS, f"Wrote {file} ({size:,} bytes).")


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
    "--identity-file", type=_PATH, help="The file of the age or SSH private key that opens FILE."
)
@_passphrase_file
@click.option("--replace", is_flag=True, help="Delete everything that is in the database.")
@click.option(
    "--beside-worker",
    is_flag=True,
    help="Restore although a worker uses the database, which can send for some seconds.",
)
def restore(
    file: Path,
    identity_file: Path | None,
    passphrase_file: Path | None,
    *,
    replace: bool,
    beside_worker: bool,
) -> None:
    """Put the contents of the backup FILE into the database.

    Stop all servers and workers first: refuses a database that a worker used in the last 20
    seconds. Checks the backup before it changes anything. Refuses a
    database with tables unless --replace is passed, and a backup of a newer version. What waits in
    it is sent only after `flask resume`.
    """
    if identity_file and passphrase_file:
        raise click.UsageError("Use either --identity-file or --passphrase-file.")
    if identity_file:
        key = BackupKey(identities=_read(identity_file))
    else:
        key = BackupKey(_passphrase(passphrase_file, confirms=False))
    ports = installation().ports
    facts = restore_backup(*operator(), file, key, replace=replace, beside_worker=beside_worker)
    out = output()
    out.show_item(facts, _FACTS, f"Restored {file}.")
    out.say(
        "Deliveries, emails and app installations that wait are held. Run `flask resume` to say "
        "what to send."
    )
    if facts.revision != ports.schema.newest():
        out.say("Run `flask db upgrade` before you start the shop.")
    if not reads_secrets_of(*operator(), facts):
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


_HELD: tuple[Column[HeldWork], ...] = (
    Column("kind", "Kind", lambda work: work.kind.value, short=True),
    Column("count", "Waiting", lambda work: work.count, short=True),
)
_DISCARDED: tuple[Column[HeldWork], ...] = (
    Column("kind", "Kind", lambda work: work.kind.value, short=True),
    Column("count", "Discarded", lambda work: work.count, short=True),
)


@standalone(
    "resume",
    examples=[
        ("flask resume", "what is held, and why"),
        ("flask resume --send none", "in a copy: discard what waits"),
        ("flask resume --send all", "after a move or a recovery"),
        ("flask resume --send emails --send installations", "discard deliveries"),
    ],
)
@click.option(
    "--send",
    "sent",
    type=click.Choice(["all", "none", *(kind.value for kind in Held)]),
    multiple=True,
    help="What to send of what waits; the rest is discarded. Repeatable.",
)
@yes_option
def resume(sent: tuple[str, ...], *, yes: bool) -> None:
    """Send again after a restore or a move, or show what is held.

    A database that was restored, or that meets another SECRET_KEY, PUBLIC_URL or database server,
    holds its deliveries, emails and app installations, so that a copy sends nothing in the name of
    the original. Discarded deliveries are failed, and can be resent. Links that people request
    meanwhile are sent.
    """
    ports = installation().ports
    out = output()
    hold = check_installation(*operator())
    counts = count_held(*operator())
    for finding in hold_findings(ports):
        out.say(finding.message)
    if not sent:
        out.rows(counts, _HELD, empty="")
        if hold is None:
            out.say("Nothing is held: everything is being sent.")
        return
    chosen = _chosen(sent)
    dropped = [work for work in counts if work.kind not in chosen and work.count]
    if dropped:
        lost = ", ".join(f"{work.count:,} {work.kind.value}" for work in dropped)
        confirm_action(f"Discard {lost}?", yes=yes)
    out.rows(resume_sending(*operator(), chosen), _DISCARDED, empty="")
    out.say("Everything is being sent from now on.")


def _chosen(sent: tuple[str, ...]) -> tuple[Held, ...]:
    if len(sent) > 1 and {"all", "none"}.intersection(sent):
        raise click.UsageError("--send all and --send none can't be combined with others.")
    if sent == ("all",):
        return tuple(Held)
    return () if sent == ("none",) else tuple(Held(kind) for kind in sent)
