"""``flask import``: people, apps and webhooks of another installation."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TypedDict
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from typing_extensions import Unpack

from app.commands.import_files import FILES
from app.commands.import_progress import SectionProgress
from app.commands.import_reports import collected_findings, print_report
from app.commands.terminal.command import Group
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.commands.terminal.text_options import FilePath, is_read, read_text, warn_of_exposure
from app.domain.authorization.actor import OPERATOR
from app.domain.imports.runs import DEFAULT_BATCH, DEFAULT_RESERVE, Part, RunOptions
from app.services.imports.platform import FinishedImport, finish_import, import_platform
from app.web.installation import installation

_MAX_BATCH = 5_000
_VARIABLE = "PLATFORM_DATABASE_URL"

command = Group(
    "import",
    short_help="Import people, apps and webhooks from elsewhere.",
    help="Import people, apps, webhooks and settings of another installation, with their IDs and "
    "passwords. `flask import platform` can be run again until `flask import finish`: it then "
    "takes over what changed.",
    examples=[
        ("flask import platform --database @url --dry-run", "report, and write nothing"),
        ("flask import platform --database @url --media .", "import everything"),
        ("flask import platform --database @url --csv findings.csv", "what changed since"),
        ("flask import finish", "after the last run"),
    ],
)

for _file in FILES:
    command.add_command(_file)

_FINISHED = (
    Column[FinishedImport]("source", "Source", lambda each: each.source, short=True),
    Column[FinishedImport]("people", "People imported", lambda each: each.people),
    Column[FinishedImport](
        "passwordsWaiting", "Passwords not used yet", lambda each: each.passwords_waiting
    ),
    Column[FinishedImport](
        "passwordsToReset", "Passwords to reset", lambda each: each.passwords_to_reset
    ),
)


class _Options(TypedDict):
    """Options of the command that are passed on as they are."""

    batch: int
    reserve: int
    media: Path | None
    source: str
    allow_removals: bool


def _parts(
    _context: click.Context, _option: click.Parameter, value: str | None
) -> frozenset[Part]:
    if value is None:
        return frozenset(Part)
    names = [name.strip() for name in value.split(",") if name.strip()]
    known = {part.value: part for part in Part}
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise click.BadParameter(
            f"Unknown part {', '.join(unknown) or value!r}. Available parts: {', '.join(known)}."
        )
    return frozenset(known[name] for name in names)


@command.command(
    "platform",
    examples=[
        ("flask import platform --database @url --dry-run", "the URL is in the file url"),
        ("flask import platform --database @url --media .", "avatars are in this folder"),
        ("flask import platform --database @url --only people,staff", "a part of it"),
    ],
)
@click.option(
    "--database",
    metavar="URL",
    envvar=_VARIABLE,
    required=True,
    help="postgresql://user:password@host/name of the platform, @FILE that holds it, or - for "
    f"standard input. Default: the environment variable {_VARIABLE}.",
)
@click.option(
    "--media",
    type=FilePath(exists=True, file_okay=False, path_type=Path),
    help="The platform's media folder, for avatars.",
)
@click.option("--dry-run", is_flag=True, help="Print the report, and write nothing.")
@click.option(
    "--only",
    "parts",
    metavar="PARTS",
    callback=_parts,
    help=f"Import only these, separated by commas: {', '.join(Part)}.",
)
@click.option(
    "--batch",
    type=click.IntRange(1, _MAX_BATCH),
    default=DEFAULT_BATCH,
    show_default=True,
    help="Rows per transaction.",
)
@click.option(
    "--reserve",
    type=click.IntRange(0),
    default=DEFAULT_RESERVE,
    show_default=True,
    help="IDs to keep free for new rows of the platform, until `flask import finish`.",
)
@click.option(
    "--source",
    default="",
    metavar="NAME",
    help="The name under which the platform was imported before, if its database has another "
    "address now.",
)
@click.option(
    "--allow-removals",
    is_flag=True,
    help="Continue if most of what was imported is gone from the platform.",
)
@click.option(
    "--csv",
    "csv_file",
    type=FilePath(dir_okay=False, path_type=Path),
    help="Write all findings to this file.",
)
def platform(
    database: str,
    parts: frozenset[Part],
    csv_file: Path | None,
    *,
    dry_run: bool,
    **more: Unpack[_Options],
) -> None:
    """Import a database of the platform; it is only read.

    Keeps IDs, passwords and app tokens. Rows that don't fit are in the report, with what was done.
    Run it again to continue after an interruption, or to take over what changed at the platform
    since: rows that were edited here are kept. Nothing may have been created here with the
    platform's IDs, so import into an empty shop.
    """
    url = _read_url(database)
    options = RunOptions(parts, dry_run, **more)
    ports = installation().ports
    with collected_findings(csv_file) as findings:
        with ExitStack() as stack:
            show = SectionProgress(stack).show
            report = import_platform(ports, OPERATOR, url, options, findings.add, show)
        print_report(report, findings)


@command.command(
    "finish",
    examples=[("flask import finish", "new rows get the IDs after the highest one")],
)
@click.option("--source", help="The source to finish. Default: the only unfinished one.")
@yes_option
def finish(source: str | None, *, yes: bool) -> None:
    """End an import: the platform can't be imported again after that.

    IDs that were kept free for it are used, and the ledger of imported rows is emptied.
    """
    confirm_action("Finish the import? It can't be continued after that.", yes=yes)
    out = output()
    finished = finish_import(installation().ports, OPERATOR, source)
    out.one(finished, _FINISHED)


def _read_url(database: str) -> str:
    source = click.get_current_context().get_parameter_source("database")
    is_shown = source is ParameterSource.COMMANDLINE and not is_read(database)
    if is_shown and _has_password(database):
        warn_of_exposure("--database")
    return read_text(database).strip()


def _has_password(url: str) -> bool:
    try:
        return bool(urlsplit(url).password)
    except ValueError:
        return False
