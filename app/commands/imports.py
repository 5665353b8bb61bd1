"""``flask export``, and ``flask import``: from a file of it, Saleor, or lists of people."""

import csv
import json
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, BinaryIO, TypedDict
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from typing_extensions import Unpack, override

from app.commands.terminal.command import Group, standalone
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.options import (
    FilePath,
    Word,
    is_read,
    read_file,
    read_text,
    warn_of_exposure,
)
from app.commands.terminal.output import Column, Form, json_text, output, visible_lines, write
from app.commands.terminal.progress import progress
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.imports import runs
from app.domain.imports.exports import Section
from app.domain.imports.text_files import split_lines
from app.domain.passwords.imported_hashes import FirebaseParameters
from app.domain.values.installation import OnProgress, ignore_progress
from app.domain.values.text_rules import safe_cell
from app.services.imports.export_reading import ExportFileOptions, import_export
from app.services.imports.exports import export_installation
from app.services.imports.platform import FinishedImport, finish_import, import_platform
from app.services.imports.sections import OnFinding, OnRows
from app.services.imports.user_files import UserFileOptions, import_users
from app.web.installation import installation, operator

_STANDARD_OUTPUT = "-"


class SectionNames(click.ParamType[frozenset[Section]]):
    """Sections of an export or import, separated by commas."""

    name = "sections"
    _word = Word([section.value for section in Section])

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> frozenset[Section]:
        if not isinstance(value, str):
            return frozenset(Section)
        words = [word.strip() for word in value.split(",") if word.strip()]
        if not words:
            self.fail(f"Name at least one section: {', '.join(Section)}.", param, ctx)
        return frozenset(Section(self._word.convert(word, param, ctx)) for word in words)

    @override
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{section}")
            for section in Section
            if section.startswith(last) and section not in before.split(",")
        ]


sections_option = click.option(
    "--only",
    "sections",
    type=SectionNames(),
    default=frozenset(Section),
    metavar="SECTION,…",
    help=f"Only these sections: {', '.join(Section)}.",
)


@standalone(
    "export",
    examples=[
        ("flask export shop.jsonl", "without secrets"),
        ("flask export shop.jsonl --with-secrets", "with password hashes, tokens and secrets"),
        ("flask export - --only people,staff", "to another program"),
    ],
)
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True))
@sections_option
@click.option(
    "--with-secrets",
    is_flag=True,
    help="Include password hashes, app tokens (hashed), and secrets of webhooks and identity "
    "providers. Not to standard output.",
)
def export(file: str, *, sections: frozenset[Section], with_secrets: bool) -> None:
    """Write people, groups, apps, webhooks and settings to FILE as JSON Lines.

    `-` is standard output. Only your account can read FILE, which replaces an older one once it is
    complete. The shop can be served meanwhile; everything is of one moment. Signing keys,
    sessions, orders and logs aren't included: for those, use flask backup.
    """
    if with_secrets and file == _STANDARD_OUTPUT:
        raise click.UsageError("Secrets can't be written to standard output. Name a file.")
    with progress("Exporting") as report:
        lines = export_installation(
            *operator(), sections, with_secrets=with_secrets, on_progress=report
        )
        if file == _STANDARD_OUTPUT:
            for line in lines:
                write(line, or_end=True)
            return
        size = installation().ports.private_files.write(Path(file), lines)
    output().show_value("file", file, f"Wrote {file} ({size:,} bytes).")


class SectionProgress:
    """The progress of each section, one after the other."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._title = ""
        self._show: OnProgress = ignore_progress

    def show(self, title: str, done: int, total: int) -> None:
        if title != self._title:
            self._stack.close()
            self._title = title
            self._show = self._stack.enter_context(progress(f"Importing {title.lower()}"))
        self._show(done, max(total, done))


_SHOWN = 5
"""Findings of one code that a terminal shows."""

_HEADINGS = ("table", "key", "name", "code", "outcome", "reason")
_OUTCOMES = {
    runs.Outcome.LEFT_OUT: "left out",
    runs.Outcome.CHANGED: "changed",
    runs.Outcome.DISABLED: "disabled",
    runs.Outcome.IMPORTED: "imported as it is, needs attention",
    runs.Outcome.NO_EFFECT: "imported, but has no effect here",
    runs.Outcome.MUST_RESET: "must reset the password",
    runs.Outcome.KEPT: "kept as it is here",
}
_COUNTS: tuple[Column[runs.Counts], ...] = (
    Column("kind", "Kind", lambda each: each.kind),
    Column("title", "Imported", lambda each: each.title, short=True),
    Column("read", "Read", lambda each: each.read, short=True),
    Column("created", "Created", lambda each: each.created, short=True),
    Column("updated", "Updated", lambda each: each.updated, short=True),
    Column("unchanged", "Unchanged", lambda each: each.unchanged, short=True),
    Column("removed", "Removed", lambda each: each.removed, short=True),
    Column("kept", "Kept", lambda each: each.kept, short=True),
    Column("leftOut", "Left out", lambda each: each.left_out, short=True),
)


@dataclass(slots=True)
class Findings:
    """Findings of a run: some of each code in memory, all of them in a temporary file as JSON.

    So that memory stays flat, however many there are.
    """

    lines: IO[str]
    table: Any = None
    """The CSV that gets each of them, if there is one."""
    counts: Counter[str] = field(default_factory=Counter)
    shown: dict[str, list[runs.Finding]] = field(default_factory=dict)

    def add(self, finding: runs.Finding) -> None:
        """Note a finding."""
        self.counts[finding.code] += 1
        first = self.shown.setdefault(finding.code, [])
        if len(first) < _SHOWN:
            first.append(finding)
        values = (
            finding.table,
            finding.key,
            finding.name,
            finding.code,
            finding.outcome.value,
            finding.reason,
        )
        self.lines.write(json.dumps(dict(zip(_HEADINGS, values, strict=True))) + "\n")
        if self.table is not None:
            self.table.writerow([safe_cell(str(value)) for value in values])

    def as_json(self) -> Iterator[Any]:
        """Yield every finding as a JSON object."""
        self.lines.seek(0)
        return map(json.loads, self.lines)


@contextmanager
def collected_findings(csv_file: Path | None) -> Generator[Findings]:
    """Collect the findings of a run, also into ``csv_file``, which only this account can read."""
    with ExitStack() as stack:
        findings = Findings(stack.enter_context(TemporaryFile("w+", encoding="utf-8")))
        if csv_file is not None:
            findings.table = csv.writer(stack.enter_context(_private_file(csv_file)))
            findings.table.writerow(_HEADINGS)
        yield findings


def print_report(report: runs.RunReport, findings: Findings) -> None:
    """Print what a run did."""
    out = output()
    if out.form is Form.JSON:
        _print_json(report, findings)
        return
    out.rows(report.counts, _COUNTS, empty="There was nothing to import.")
    # With the result, so that `> report.txt` keeps them; --short is for programs that count lines.
    is_message = out.form is Form.SHORT
    for code, first in sorted(findings.shown.items()):
        count = findings.counts[code]
        write(f"\n{code} ({count:,}), {_OUTCOMES[first[0].outcome]}:", err=is_message)
        for (table, reason), alike in groupby(first, lambda each: (each.table, each.reason)):
            rows = ", ".join(map(_row_name, alike))
            write(visible_lines(f"  {table} {rows}: {reason}"), err=is_message)
        if count > len(first):
            more = f"  and {count - len(first):,} more; --csv FILE or --json has all of them."
            write(more, err=is_message)
    if report.dry_run:
        write("\nDry run: nothing was written.", err=is_message)


def _row_name(finding: runs.Finding) -> str:
    return f"{finding.key} ({finding.name})" if finding.name else str(finding.key)


def _run(
    import_: Callable[[OnFinding, OnRows], runs.RunReport], csv_file: Path | None, *, strict: bool
) -> None:
    """Import and print the report; exit with 1 if ``strict`` and something didn't fit."""
    with collected_findings(csv_file) as findings:
        with ExitStack() as stack:
            report = import_(findings.add, SectionProgress(stack).show)
        print_report(report, findings)
    if strict and report.findings:
        click.get_current_context().exit(Exit.FAILED)


def _print_json(report: runs.RunReport, findings: Findings) -> None:
    """Print the whole report, a finding at a time: there can be a million."""
    head = {
        "source": report.source,
        "release": report.release,
        "dryRun": report.dry_run,
        "imported": [
            {column.name: column.read(each) for column in _COUNTS} for each in report.counts
        ],
        "findingCounts": dict(sorted(findings.counts.items())),
    }
    start = json_text(head)[:-1]
    write(f'{start}, "findings": [')
    separator = ""
    for finding in findings.as_json():
        sys.stdout.write(separator + json_text(finding))
        separator = ",\n"
    write("]}")


def _private_file(path: Path) -> IO[str]:
    """Empty and restrict the file, which must not be a link: it can be in a shared folder."""
    with ExitStack() as stack:
        try:
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            file = stack.enter_context(os.fdopen(opened, "w", encoding="utf-8", newline=""))
            if stat.S_ISREG(os.fstat(opened).st_mode):
                os.fchmod(opened, 0o600)
                os.ftruncate(opened, 0)
        except OSError as error:
            raise click.UsageError(f"Can't write {path}: {error.strerror}.") from None
        stack.pop_all()
        return file


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

_FILE = FilePath(dir_okay=False, path_type=Path)
_CHUNK = 1024 * 1024
_dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the report, and write nothing."
)
_csv_option = click.option(
    "--csv", "csv_file", type=_FILE, help="Write all findings to this file."
)
_strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 1 if there are findings, after importing the rest."
)
_source_option = click.option(
    "--source",
    help="A name for the file: a later run with the same name adds what is new. Default: the "
    "file's name.",
)


@command.command(
    "users",
    examples=[
        ("flask import users people.csv --dry-run", "report, and write nothing"),
        ("flask import users people.jsonl --staff", "with staff and their groups"),
        ("flask import users users.jsonl --firebase-signer-key-file key.txt", "from Firebase"),
    ],
)
@click.argument("file", type=_FILE)
@_source_option
@click.option("--staff", is_flag=True, help="Import staff and members of groups, too.")
@click.option(
    "--firebase-signer-key-file",
    type=_FILE,
    help="The file with base64_signer_key of Firebase's password hash parameters.",
)
@click.option(
    "--firebase-salt-separator",
    default="Bw==",
    show_default=True,
    help="base64_salt_separator of them.",
)
@click.option(
    "--firebase-rounds", type=click.IntRange(1), default=8, show_default=True, help="rounds."
)
@click.option(
    "--firebase-mem-cost", type=click.IntRange(1), default=14, show_default=True, help="mem_cost."
)
@_dry_run_option
@_strict_option
@_csv_option
def users(  # noqa: PLR0913 - one for each option
    file: Path,
    source: str | None,
    firebase_signer_key_file: Path | None,
    firebase_salt_separator: str,
    firebase_rounds: int,
    firebase_mem_cost: int,
    csv_file: Path | None,
    *,
    staff: bool,
    dry_run: bool,
    strict: bool,
) -> None:
    """Import people from FILE: CSV with a header, or JSON Lines, in UTF-8.

    Columns: email (required), first_name, last_name, is_active, is_confirmed, language_code,
    date_joined, last_login, note, external_reference, metadata, private_metadata, password_hash
    and more; docs/operations/export.md lists them. People who are here already stay as they are.
    Can be interrupted and repeated.
    """
    firebase = None
    if firebase_signer_key_file is not None:
        key = read_file(str(firebase_signer_key_file)).strip()
        firebase = FirebaseParameters(
            key, firebase_salt_separator, firebase_rounds, firebase_mem_cost
        )
    options = UserFileOptions(source or file.name, dry_run, staff, firebase)
    caller = operator()
    with _opened(file) as chunks:
        _run(partial(import_users, *caller, chunks, options), csv_file, strict=strict)


@command.command(
    "file",
    examples=[
        ("flask import file shop.jsonl --dry-run", "report, and write nothing"),
        ("flask import file shop.jsonl", "into an empty shop"),
        ("flask import file shop.jsonl --only people,staff", "a part of it"),
    ],
)
@click.argument("file", type=_FILE)
@sections_option
@_source_option
@_dry_run_option
@_strict_option
@_csv_option
def file_(
    file: Path,
    source: str | None,
    sections: frozenset[Section],
    csv_file: Path | None,
    *,
    dry_run: bool,
    strict: bool,
) -> None:
    """Import what `flask export` wrote, keeping IDs. Checks the whole FILE first.

    Passwords, app tokens and secrets come along if the file has them; webhooks and identity
    providers without their secrets are imported disabled. Rows here that weren't imported can't
    have the file's IDs, so import into an empty shop. Can be interrupted and repeated.
    """
    options = ExportFileOptions(source or file.name, sections, dry_run)
    caller = operator()
    with _opened(file) as chunks:

        def from_start() -> Iterator[bytes]:
            return split_lines(file.name, chunks())

        _run(partial(import_export, *caller, from_start, options), csv_file, strict=strict)


@contextmanager
def _opened(file: Path) -> Iterator[Callable[[], Iterator[bytes]]]:
    """Yield what reads a file from its start; a pipe is copied, so that it can be read twice."""
    with ExitStack() as stack:
        try:
            opened: BinaryIO = stack.enter_context(file.open("rb"))
            if not opened.seekable():
                copy = stack.enter_context(TemporaryFile())
                copyfileobj(opened, copy, _CHUNK)
                opened = copy
        except OSError as error:
            raise click.UsageError(f"Can't read {file}: {error.strerror}.") from None
        yield lambda: _chunks(file, opened)


def _chunks(file: Path, opened: BinaryIO) -> Iterator[bytes]:
    try:
        opened.seek(0)
        while chunk := opened.read(_CHUNK):
            yield chunk
    except OSError as error:
        raise click.UsageError(f"Can't read {file}: {error.strerror}.") from None


_MAX_BATCH = 5_000
_VARIABLE = "PLATFORM_DATABASE_URL"


_FINISHED: tuple[Column[FinishedImport], ...] = (
    Column("source", "Source", lambda each: each.source, short=True),
    Column("people", "People imported", lambda each: each.people),
    Column("passwordsWaiting", "Passwords not used yet", lambda each: each.passwords_waiting),
    Column("passwordsToReset", "Passwords to reset", lambda each: each.passwords_to_reset),
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
) -> frozenset[runs.Part]:
    if value is None:
        return frozenset(runs.Part)
    names = [name.strip() for name in value.split(",") if name.strip()]
    known = {part.value: part for part in runs.Part}
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
@_dry_run_option
@_strict_option
@click.option(
    "--only",
    "parts",
    metavar="PARTS",
    callback=_parts,
    help=f"Import only these, separated by commas: {', '.join(runs.Part)}.",
)
@click.option(
    "--batch",
    type=click.IntRange(1, _MAX_BATCH),
    default=runs.DEFAULT_BATCH,
    show_default=True,
    help="Rows per transaction.",
)
@click.option(
    "--reserve",
    type=click.IntRange(0),
    default=runs.DEFAULT_RESERVE,
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
@_csv_option
def platform(
    database: str,
    parts: frozenset[runs.Part],
    csv_file: Path | None,
    *,
    dry_run: bool,
    strict: bool,
    **more: Unpack[_Options],
) -> None:
    """Import a database of the platform; it is only read.

    Keeps IDs, passwords and app tokens. Rows that don't fit are in the report, with what was done.
    Run it again to continue after an interruption, or to take over what changed at the platform
    since: rows that were edited here are kept. Nothing may have been created here with the
    platform's IDs, so import into an empty shop.
    """
    url = _read_url(database)
    options = runs.RunOptions(parts, dry_run, **more)
    caller = operator()
    _run(partial(import_platform, *caller, url, options), csv_file, strict=strict)


@command.command(
    "finish", examples=[("flask import finish", "new rows get the IDs after the highest one")]
)
@click.option("--source", help="The source to finish. Default: the only unfinished one.")
@yes_option
def finish(source: str | None, *, yes: bool) -> None:
    """End an import: the platform can't be imported again after that.

    IDs that were kept free for it are used, and the ledger of imported rows is emptied.
    """
    confirm_action("Finish the import? It can't be continued after that.", yes=yes)
    out = output()
    finished = finish_import(*operator(), source)
    out.show_item(finished, _FINISHED)


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
