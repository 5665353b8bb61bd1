"""Tables for people at a terminal; colours only where the terminal and its owner want them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

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
        column: _need(texts[column], keeps_words=headings[column].keeps_width) for column in filled
    }
    room = console.width - 1
    visible_columns = _fitting(filled, needs, headings, room)
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


def _need(texts: Sequence[str], *, keeps_words: bool) -> int:
    """How wide a column must be for no word to be broken, or no line where it is ``whole``."""
    if keeps_words:
        return max(map(cell_len, texts))
    return min(max(cell_len(word) for text in texts for word in text.split()), _MAX_WORD)


def _fitting(
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
