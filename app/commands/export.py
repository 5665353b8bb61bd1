"""``flask export``."""

from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from app.commands.terminal.command import standalone
from app.commands.terminal.options import FilePath, Word
from app.commands.terminal.output import output, write
from app.commands.terminal.progress import progress
from app.domain.imports.exports import Section
from app.services.imports.exports import export_installation
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
def command(file: str, *, sections: frozenset[Section], with_secrets: bool) -> None:
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
            _print(lines)
            return
        size = installation().ports.private_files.write(Path(file), lines)
    output().show_value("file", file, f"Wrote {file} ({size:,} bytes).")


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        write(line, or_end=True)
