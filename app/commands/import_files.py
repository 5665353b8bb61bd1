"""``flask import users`` and ``flask import file``: files, from anywhere and from exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO

import click

from app.commands.export import sections_option
from app.commands.import_progress import SectionProgress
from app.commands.import_reports import collected_findings, print_report
from app.commands.terminal.command import standalone
from app.commands.terminal.text_options import FilePath, read_file
from app.domain.authorization.actor import OPERATOR
from app.domain.imports.exports import Section
from app.domain.imports.text_files import split_lines
from app.domain.passwords.imported_hashes import FirebaseParameters
from app.services.imports.export_reading import ExportFileOptions, import_export
from app.services.imports.user_files import UserFileOptions, import_users
from app.web.installation import installation

_FILE = FilePath(dir_okay=False, path_type=Path)
_CHUNK = 1024 * 1024
_dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the report, and write nothing."
)
_csv_option = click.option(
    "--csv",
    "csv_file",
    type=FilePath(dir_okay=False, path_type=Path),
    help="Write all findings to this file.",
)
_source_option = click.option(
    "--source",
    help="A name for the file: a later run with the same name adds what is new. Default: the "
    "file's name.",
)


@standalone(
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
    ports = installation().ports
    with _opened(file) as chunks, collected_findings(csv_file) as findings:
        with ExitStack() as stack:
            show = SectionProgress(stack).show
            report = import_users(ports, OPERATOR, chunks, options, findings.add, show)
        print_report(report, findings)


@standalone(
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
@_csv_option
def file_(
    file: Path,
    source: str | None,
    sections: frozenset[Section],
    csv_file: Path | None,
    *,
    dry_run: bool,
) -> None:
    """Import what `flask export` wrote, keeping IDs. Checks the whole FILE first.

    Passwords, app tokens and secrets come along if the file has them; webhooks and identity
    providers without their secrets are imported disabled. Rows here that weren't imported can't
    have the file's IDs, so import into an empty shop. Can be interrupted and repeated.
    """
    options = ExportFileOptions(source or file.name, sections, dry_run)
    ports = installation().ports
    with _opened(file) as chunks, collected_findings(csv_file) as findings:

        def from_start() -> Iterator[bytes]:
            return split_lines(file.name, chunks())

        with ExitStack() as stack:
            show = SectionProgress(stack).show
            report = import_export(ports, OPERATOR, from_start, options, findings.add, show)
        print_report(report, findings)


FILES = (users, file_)


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
