"""The manual page ``latchkey(1)``, for ``man``."""

from collections.abc import Iterator

import click

from app.commands.terminal.exit_codes import MEANINGS
from app.domain.values.installation import VERSION
from docs.commands import Entry, entries

_HEAD = f"""\
.TH LATCHKEY 1 "" "latchkey {VERSION}" "Latchkey"
.SH NAME
latchkey \\- the front door of a commerce platform, from the shell
.SH SYNOPSIS
.B flask
.I COMMAND
.RI [ OPTIONS ]
.RI [ ARGUMENTS ]
.SH DESCRIPTION
Commands of the program
.B flask
in the folder of wsgi.py, or anywhere if the variable FLASK_APP names that file.
Data goes to standard output, messages to standard error.
Without
.B \\-\\-instance
a command works on this installation, as its operator.
"""
_TAIL = """\
.SH ENVIRONMENT
.TP
.B FLASK_APP
Where wsgi.py is.
.TP
.B LATCHKEY_TOKEN
A token for the instance that
.B \\-\\-instance
names.
.TP
.B NO_COLOR
Tables without colours.
.PP
Settings come from the environment, from .env in the current folder or the nearest folder above it,
and from .env in the folder of wsgi.py; the first that has a setting wins.
.env.example explains each.
"""
_COMMON = {
    "-h, --help": "Show what a command does, with examples.",
    "-V, --version": "Show the version.",
    "--json": "Show the result as JSON, a failure too.",
    "--short": "Show the result as plain text, a line each.",
}
"""Options of every command, listed once."""


def printed_manual() -> str:
    """Roff, for the ``man`` macros."""
    lines = [_HEAD.rstrip(), ".SH OPTIONS", "Every command takes:"]
    for flags, what in _COMMON.items():
        lines += [".TP", f".B {_text(flags)}", what]
    lines.append(".SH COMMANDS")
    for entry in entries():
        lines += _section(entry)
    lines += [".SH EXIT STATUS"]
    for code, meaning in MEANINGS.items():
        lines += [".TP", f".B {int(code)}", _text(meaning[0].upper() + meaning[1:] + ".")]
    return "\n".join([*lines, _TAIL])


def _section(entry: Entry) -> Iterator[str]:
    context = entry.context()
    usage = " ".join(entry.command.collect_usage_pieces(context))
    yield f".SS {_text(f'{entry.name} {usage}')}"
    for number, part in enumerate((entry.command.help or "").split("\n\n")):
        if number:
            yield ".PP"
        if part.startswith("\b\n"):  # click's mark for lines that must not be filled
            yield from (".nf", *(_text(line) for line in part.splitlines()[1:]), ".fi")
        else:
            yield _text(" ".join(part.split()))
    for param in entry.command.get_params(context):
        record = param.get_help_record(context)
        if record is not None and record[0] not in _COMMON:
            yield from (".TP", f".B {_text(record[0])}", _text(record[1]))
    if entry.examples:
        yield ".PP"
        yield "Examples:"
    for line, what in entry.examples:
        yield from (".TP", f".B {_text(line)}", _text(f"{what[0].upper()}{what[1:]}."))


def _text(text: str) -> str:
    """``text`` as roff prints it: no line is a request, no dash a hyphen."""
    plain = click.unstyle(text).replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    plain = plain.replace("'", "\\(aq").replace('"', "\\(dq").replace("…", "...")
    return f"\\&{plain}" if plain.startswith(".") else plain
