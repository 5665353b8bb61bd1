"""``flask audit``: the audit log."""

from pathlib import Path

import click

from app.commands.terminal import options
from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, output
from app.commands.terminal.progress import progress
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.audit import AuditEntry, AuditFilter, Topic
from app.domain.values.pages import PageRequest
from app.services.audit.entries import Pruned, count_before, list_entries, prune_entries
from app.web.installation import installation, operator

command = Group(
    "audit",
    short_help="List who changed what, and prune old entries.",
    help="List who changed what and from where, and prune old entries of the audit log.",
    examples=[
        ("flask audit list --since 2d", "the changes of the last two days"),
        ("flask audit prune --before 2025-01-01 --export audit-2024.jsonl", "keep them in a file"),
    ],
)

_COLUMNS: tuple[Column[AuditEntry], ...] = (
    Column("at", "Time", lambda entry: entry.at, short=True),
    Column("actor", "Actor", lambda entry: entry.actor_name, short=True),
    Column("action", "Action", lambda entry: entry.action, short=True),
    Column(
        "subject", "Subject", lambda entry: f"{entry.subject_type}:{entry.subject_id}", short=True
    ),
    Column("name", "Name", lambda entry: entry.subject_name or None),
    Column("actorKind", "Kind", lambda entry: entry.actor_kind),
    Column("address", "IP address", lambda entry: entry.address or None),
    Column("before", "Before", lambda entry: dict(entry.before) or None),
    Column("after", "After", lambda entry: dict(entry.after) or None),
)
_PRUNED: tuple[Column[Pruned], ...] = (
    Column("entries", "Deleted", lambda pruned: pruned.entries, short=True),
    Column("exported", "Exported bytes", lambda pruned: pruned.exported),
)


@command.command(
    "list",
    examples=[
        ("flask audit list --topic access --since 14d", "settings, providers and templates"),
        ("flask audit list --search ann@example.com --json", "for a script"),
    ],
)
@click.option("--topic", type=options.Word(Topic), help="Only this topic.")
@click.option("--action", default="", help="Only this action, such as shop.update.")
@click.option("--since", default="", help="Only changes since then: 2h, 14d or 2026-03-01.")
@click.option(
    "--search",
    default="",
    help="Only changes whose actor, subject, IP address or action contains this text.",
)
@click.option(
    "--own-profiles", is_flag=True, help="Include what customers changed of their own profiles."
)
@options.page_options
@options.fields_option(_COLUMNS)
def list_(
    *,
    topic: Topic | None,
    action: str,
    since: str,
    search: str,
    own_profiles: bool,
    request: PageRequest,
) -> None:
    """List changes with who made them, newest first."""
    ports = installation().ports
    filter_ = AuditFilter(
        topic=topic,
        action=action,
        since=options.read_moment(since, ports.clock.now()) if since else None,
        text=search,
        own_profile=own_profiles,
    )
    page = list_entries(*operator(), request, filter_)
    options.show_page(page, _COLUMNS, empty="No matching entries")


@command.command(
    "prune",
    examples=[
        ("flask audit prune --before 365d --export audit.jsonl", "entries older than a year"),
        ("flask audit prune --before 2025-01-01 --no-export --yes", "from a script"),
    ],
)
@click.option(
    "--before", required=True, help="Delete entries from before then: 365d or 2025-01-01."
)
@click.option(
    "--export",
    "file",
    type=options.FilePath(dir_okay=False, path_type=Path),
    help="Write them to this new file first, as JSON Lines. Only your account can read it.",
)
@click.option("--no-export", is_flag=True, help="Delete them without a copy.")
@yes_option
def prune(*, before: str, file: Path | None, no_export: bool, yes: bool) -> None:
    """Delete old entries of the audit log, after writing them to a file.

    Entries are deleted in batches, so the shop can be served meanwhile. The log notes how many
    were deleted. AUDIT_LOG_DAYS deletes old entries without this command, and without a copy.
    """
    if (file is None) != no_export:
        raise click.UsageError(
            "Name a file with --export, or pass --no-export to delete entries without a copy."
        )
    ports = installation().ports
    moment = options.read_moment(before, ports.clock.now())
    count = count_before(*operator(), moment)
    out = output()
    if count:
        entries = "1 entry" if count == 1 else f"{count:,} entries"
        confirm_action(f"Delete {entries} of the audit log?", yes=yes)
    with progress("Deleting") as report:
        pruned = prune_entries(*operator(), moment, file, report)
    out.show_item(pruned, _PRUNED)
    if file is not None:
        out.say(f"Wrote {file} ({pruned.exported:,} bytes).")
