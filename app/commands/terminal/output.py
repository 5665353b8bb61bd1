"""What a command shows: JSON, short lines, or a table on a terminal.

Data goes to standard output, messages to standard error, whatever the form.
"""

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Generic, TextIO, TypeVar

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.domain.values.errors import Problem
from app.domain.values.times import in_zone

_GAP = 2
_MAX_WORD = 32
"""What is longer, an address of the web say, may be broken anywhere."""

_NARROWEST = 16
"""Wide enough for an ID: one broken over two lines couldn't be copied."""

_STYLES = {"fine": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a column; ``keeps_width`` keeps it however narrow the terminal is."""

    title: str
    keeps_width: bool = False


def print_table(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One line a row, under bold titles; returns the titles for which there was no room.

    Columns without anything in them are left out, too. On a terminal too narrow for that, a row
    is a few lines, each with its title.
    """
    console = Console()
    filled = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    texts = {column: [headings[column].title, *(row[column] for row in rows)] for column in filled}
    needs = {
        column: _needed_width(texts[column], keeps_words=headings[column].keeps_width)
        for column in filled
    }
    room = console.width - 1
    visible_columns = _fitting_columns(filled, needs, headings, room)
    widths = _widths(visible_columns, needs, texts, room - _GAP * (len(visible_columns) - 1))
    if any(widths[column] < min(needs[column], _NARROWEST) for column in visible_columns):
        _print_blocks(headings, filled, rows)
        return ()
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, _GAP - 1, 0, 0))
    for column in visible_columns:
        table.add_column(headings[column].title, overflow="fold", width=widths[column])
    for row in rows:
        table.add_row(
            *(Text(row[column], _STYLES.get(row[column], "")) for column in visible_columns)
        )
    console.print(table)
    return tuple(headings[column].title for column in filled if column not in visible_columns)


def _print_blocks(
    headings: Sequence[Heading], columns: Sequence[int], rows: Sequence[Sequence[str]]
) -> None:
    for number, row in enumerate(rows):
        if number:
            Console().print()
        print_fields([(headings[column].title, row[column]) for column in columns])


def print_fields(facts: Sequence[tuple[str, str]]) -> None:
    """One line a fact, its title before it."""
    table = Table.grid(padding=(0, _GAP))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in facts:
        table.add_row(Text(title), Text(text, _STYLES.get(text, "")))
    Console().print(table)


def _needed_width(texts: Sequence[str], *, keeps_words: bool) -> int:
    """How wide a column must be for no word to be broken, or no line where it is ``whole``."""
    if keeps_words:
        return max(map(cell_len, texts))
    return min(max(cell_len(word) for text in texts for word in text.split()), _MAX_WORD)


def _fitting_columns(
    columns: Sequence[int], needs: Mapping[int, int], headings: Sequence[Heading], room: int
) -> list[int]:
    """As many of ``places`` as there is room for: the last go first, vital ones never."""
    fitting = list(columns)
    for column in reversed(columns):
        if sum(needs[column] + _GAP for column in fitting) - _GAP <= room:
            break
        if not headings[column].keeps_width:
            fitting.remove(column)
    return fitting


def _widths(
    columns: Sequence[int], needs: Mapping[int, int], texts: Mapping[int, Sequence[str]], room: int
) -> dict[int, int]:
    """What each column needs, and of the room that is left its share of what it would like."""
    widths = {column: needs[column] for column in columns}
    missing = {column: max(map(cell_len, texts[column])) - needs[column] for column in columns}
    spare = room - sum(widths.values())
    for column in columns:
        if spare > 0 and missing[column]:
            widths[column] += min(
                missing[column], spare * missing[column] // sum(missing.values())
            )
    while sum(widths.values()) > max(room, len(widths)):
        widest = max(widths, key=lambda column: widths[column])
        widths[widest] -= 1
    return widths


Row = TypeVar("Row")
Other = TypeVar("Other")
_SELECTED = f"{__name__}.selected"
_BEYOND_ASCII = re.compile(r"[^\n -~]")

Displayable = str | int | float | bool | datetime | None | Iterable[object] | Mapping[str, object]


class Form(StrEnum):
    """How the result is written; ``PLAIN`` is what a pipe gets: a line each, tabs between."""

    JSON = "json"
    SHORT = "short"
    TABLE = "table"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One fact about each row: its name in JSON, its title, and whether ``--short`` has it.

    What ``--short`` has is in a table however narrow the terminal is, unless ``yields`` says that
    it makes room for others. A text that ``has_lines`` keeps them for a person at a terminal.
    """

    name: str
    title: str
    read: Callable[[Row], Displayable]
    short: bool = False
    yields: bool = False
    has_lines: bool = False

    def of(self, part: Callable[[Other], Row | None]) -> "Column[Other]":
        """Return the column for rows of which ``part`` is such a row, or ``None``."""

        def read(row: Other) -> Displayable:
            found = part(row)
            return None if found is None else self.read(found)

        return Column(self.name, self.title, read, self.short)


@dataclass(frozen=True, slots=True)
class Output:
    """Where the result of the running command goes."""

    form: Form
    selected: tuple[Column[Any], ...] = ()
    """The columns that ``--fields`` selects; without it, each method's ``columns`` are shown."""

    def rows(self, rows: Sequence[Row], columns: Sequence[Column[Row]], *, empty: str) -> None:
        """Print a list; ``empty`` goes to standard error if there are no rows."""
        columns = self.selected or columns
        if self.form is Form.JSON:
            _write_json([_as_json(row, columns) for row in rows])
        elif not rows:
            self.say(empty)
        elif self.form is Form.TABLE:
            headings = [
                Heading(column.title, column.short and not column.yields) for column in columns
            ]
            texts = [[_cell(column.read(row)) for column in columns] for row in rows]
            left_out = print_table(headings, texts)
            if left_out:
                self.say(
                    f"Columns not shown: {', '.join(left_out)}. Use --json to see everything."
                )
        else:
            for row in rows:
                self._line(row, columns)

    def show_item(self, row: Row, columns: Sequence[Column[Row]], message: str = "") -> None:
        """Show a single thing, then say ``message``."""
        self._show_item(row, self.selected or columns)
        if message:
            self.say(message)

    def _show_item(self, row: Row, columns: Sequence[Column[Row]]) -> None:
        if self.form is Form.JSON:
            _write_json(_as_json(row, columns))
        elif self.form is Form.SHORT:
            self._line(row, columns)
        elif self.form is Form.TABLE:
            print_fields([(column.title, _fact(column, row)) for column in columns])
        else:
            for column in columns:
                write(f"{column.title}\t{_text(column.read(row))}")

    def show_next(self, row: Row, columns: Sequence[Column[Row]]) -> None:
        """Print one more row of a stream on one line, as JSON one object per line.

        Ends the command without an error if the pipe is closed.
        """
        columns = self.selected or columns
        is_json = self.form is Form.JSON
        write(
            json_text(_as_json(row, columns)) if is_json else self._as_line(row, columns),
            or_end=True,
        )

    def show_value(self, name: str, value: str | int, message: str = "") -> None:
        """Print a single value, fit for ``$(…)``, then say ``message``."""
        if self.form is Form.JSON:
            _write_json({name: value})
        else:
            write(_text(value) if isinstance(value, bool) else value)
        if message:
            self.say(message)

    def say(self, message: str) -> None:
        """Tell the person at the terminal something that is no part of the result."""
        write(visible_lines(as_called(message)), err=True)

    def _line(self, row: Row, columns: Sequence[Column[Row]]) -> None:
        write(self._as_line(row, columns))

    def _as_line(self, row: Row, columns: Sequence[Column[Row]]) -> str:
        shown = [column for column in columns if column.short or self.form is not Form.SHORT]
        return "\t".join(_text(column.read(row)) for column in shown)


def output() -> Output:
    """Return the output of the running command, in the form its options ask for.

    Characters that the encoding of standard output lacks are escaped.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    context = click.get_current_context()
    return Output(form_of(context), context.meta.get(_SELECTED, ()))


def write(text: object, *, err: bool = False, or_end: bool = False) -> None:
    """Print a line on standard output (or error); ``or_end`` ends the command at a closed pipe.

    A closed pipe (``head``, for one) changes neither what a command does nor its exit code, which
    would otherwise depend on timing.
    """
    try:
        click.echo(text, err=err)
    except BrokenPipeError:
        drop_output(sys.stderr if err else sys.stdout)
        if or_end:
            click.get_current_context().exit()


_COMMAND = re.compile(r"(?:^|(?<=`)|(?<=: ))flask(?= [a-z])")


def as_called(message: str) -> str:
    """Name other commands by the program that was called: `latchkey db upgrade`.

    They are in backticks, or are all that the message or what follows its colon says.
    """
    context = click.get_current_context(silent=True)
    if context is None or context.find_root().info_name != "latchkey":
        return message
    return _COMMAND.sub("latchkey", message)


def drop_output(stream: TextIO) -> None:
    """Redirect the stream to the null device, so that exiting does not fail on it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def form_of(context: click.Context) -> Form:
    """Return the form asked for; by default a table on a terminal and plain lines elsewhere."""
    requested: Form | None = context.meta.get(__name__)
    is_seen = sys.stdout is not None and sys.stdout.isatty()  # nobody sees what was closed
    return requested or (Form.TABLE if is_seen else Form.PLAIN)


def choose_form(context: click.Context, form: Form) -> None:
    """Remember what ``--json`` or ``--short`` asked for; refuses both at once."""
    if context.meta.get(__name__, form) is not form:
        raise click.UsageError("Use either --json or --short, not both.", context)
    context.meta[__name__] = form


def choose_columns(context: click.Context, columns: Sequence[Column[Any]]) -> None:
    """Remember the columns that ``--fields`` asked for."""
    context.meta[_SELECTED] = tuple(columns)


def visible(text: str) -> str:
    """Escape control characters of untrusted ``text``, so that it stays on one line."""
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def visible_lines(message: str) -> str:
    """The same of a text of several lines."""
    return "\n".join(map(visible, message.split("\n")))


def json_text(value: object, indent: int | None = None) -> str:
    """Return ``value`` as JSON without control characters, in standard output's encoding."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent).replace("\x7f", "\\u007f")
    return _BEYOND_ASCII.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    if char.isprintable():
        return char
    return "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]


def write_errors(*errors: Problem) -> None:
    """Print the errors as JSON on standard output: code, message and field of each.

    On one line, because it can be the last of a stream that is read line by line.
    """
    entries = [{"code": one.code, "message": one.message, "field": one.field} for one in errors]
    write(json_text({"errors": entries}))


def _write_json(value: object) -> None:
    write(json_text(value, indent=2))


def _as_json(row: Row, columns: Sequence[Column[Row]]) -> dict[str, object]:
    return {column.name: _json_value(column.read(row)) for column in columns}


def _json_value(value: Displayable) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float):
        return value
    return dict(value) if isinstance(value, Mapping) else list(value)


def _cell(value: Displayable) -> str:
    """As a person at a terminal reads it: seconds are for machines."""
    if isinstance(value, datetime):
        return f"{in_zone(value, UTC):%Y-%m-%d %H:%M} UTC"
    return _text(value)


def _fact(column: Column[Row], row: Row) -> str:
    """Likewise where there is room for several lines."""
    value = column.read(row)
    if column.has_lines and isinstance(value, str):
        return "\n".join(map(visible, value.expandtabs().splitlines()))
    return _cell(value)


def _text(value: Displayable) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, Mapping):
        return visible(json.dumps(value, ensure_ascii=False))
    if isinstance(value, str | int | float):
        return visible(str(value))
    return visible(", ".join(map(str, value)))
