"""The page of all commands, with the help that each prints, and the manual page of the same."""

from collections.abc import Iterator
from dataclasses import dataclass

import click

import cli
from app.commands.terminal.command import Command, Examples, Group
from app.commands.terminal.exit_codes import MEANINGS

_WIDTH = 90
_HEAD = """\
# The command line

Look up every command with its options and examples. [First steps](../guides/operators.md) explains
the common ones. Printed from the commands; `make docs` regenerates it and `docs/latchkey.1`
(`man ./docs/latchkey.1`).

Every command accepts `-h`, `-V`, `--json` and `--short`. Commands that list or show something
accept `--fields`, with the names of `--json`. Data goes to standard output, messages to standard
error. Tables and colours are for terminals; `NO_COLOR` disables colours. In a pipe, the output is
one line per item with tabs between columns. Commands never prompt there, nor with `--no-input`.
Only `flask --help`, which lists all commands, has no `-h`.

The output of `--json` is always valid JSON: an empty list is `[]`, and a command that fails or is
ended by Ctrl-C prints `{"errors": [{"code", "message", "field"}]}` on one line. Commands that run
until Ctrl-C (`webhook listen`, `webhook deliveries --follow`) print one object per line, with
errors last. Commands that change several items report the result of each, however they end.

Settings come from the environment, from `.env` in the current folder or the nearest folder above
it, and from `.env` in the folder of `wsgi.py`; the first that has a setting wins. Commands name a
file that isn't in the folder of `wsgi.py` on standard error. Outside that folder, commands stop
with exit code 1 if there is no settings file and neither `DATABASE_URL` nor `APP_ENV` is set.

Closing a pipe early, for example with `head`, changes neither what a command does nor how it ends.

"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or group, by the words that call it."""

    path: tuple[str, ...]
    command: click.Command

    @property
    def name(self) -> str:
        return " ".join(("flask", *self.path))

    @property
    def examples(self) -> Examples:
        return self.command.examples if isinstance(self.command, Command | Group) else ()

    def context(self) -> click.Context:
        """As if it had been called, on a terminal of a fixed width."""
        return self.command.make_context(
            self.name, [], resilient_parsing=True, terminal_width=_WIDTH
        )


def entries() -> Iterator[Entry]:
    """Every group and command, in the order of the list."""
    commands = cli.Commands()
    context = click.Context(commands)
    for name in cli.COMMANDS:
        command = commands.get_command(context, name)
        if command is not None:
            yield from _below((name,), command)


def _below(path: tuple[str, ...], command: click.Command) -> Iterator[Entry]:
    entry = Entry(path, command)
    yield entry
    if isinstance(command, click.Group):
        context = entry.context()
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _below((*path, name), inner)


def _overview() -> str:
    """The list that ``flask --help`` shows."""
    commands = cli.Commands()
    formatter = click.HelpFormatter(width=_WIDTH)
    commands.format_commands(click.Context(commands), formatter)
    return f"## Overview\n\n```text\n{formatter.getvalue().strip()}\n```\n"


def printed_commands() -> str:
    """The help of every command, as it is shown."""
    codes = "".join(f"| {int(code)} | {meaning} |\n" for code, meaning in MEANINGS.items())
    parts = [f"{_HEAD}| exit code | |\n|---|---|\n{codes}", _overview()]
    for entry in entries():
        text = entry.command.get_help(entry.context())
        help_text = "\n".join(line.rstrip() for line in text.split("\n"))
        level = "#" * (min(len(entry.path), 2) + 1)
        parts.append(f"{level} {entry.name}\n\n```text\n{help_text.rstrip()}\n```\n")
    return "\n".join(parts)
