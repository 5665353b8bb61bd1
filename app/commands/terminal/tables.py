"""Tables for people at a terminal; colours only where the terminal and its owner want them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

_GAP = 2
_LONGEST_WORD = 32
"""What is longer, an address of the web say, may be broken anywhere."""

_NARROWEST = 16
"""How wide an id is: broken over two lines, nobody could copy it."""

_STYLES = {"fine": "green", "warning": "yellow", "failed": "red"}


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a column; one that is ``vital`` is there however narrow the terminal is."""

    title: str
    vital: bool = False


def print_table(headings: Sequence[Heading], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """One line a row, under bold titles; returns the titles for which there was no room.

    Columns without anything in them are left out, too. On a terminal too narrow for that, a row
    is a few lines, each with its title.
    """
    console = Console()
    filled = [place for place in range(len(headings)) if any(row[place] for row in rows)]
    texts = {place: [headings[place].title, *(row[place] for row in rows)] for place in filled}
    needs = {place: _need(texts[place], whole=headings[place].vital) for place in filled}
    room = console.width - 1
    shown = _fitting(filled, needs, headings, room)
    widths = _widths(shown, needs, texts, room - _GAP * (len(shown) - 1))
    if any(widths[place] < min(needs[place], _NARROWEST) for place in shown):
        _print_blocks(headings, filled, rows)
        return ()
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, _GAP - 1, 0, 0))
    for place in shown:
        table.add_column(headings[place].title, overflow="fold", width=widths[place])
    for row in rows:
        table.add_row(*(Text(row[place], _STYLES.get(row[place], "")) for place in shown))
    console.print(table)
    return tuple(headings[place].title for place in filled if place not in shown)


def _print_blocks(
    headings: Sequence[Heading], places: Sequence[int], rows: Sequence[Sequence[str]]
) -> None:
    for number, row in enumerate(rows):
        if number:
            Console().print()
        print_fields([(headings[place].title, row[place]) for place in places])


def print_fields(facts: Sequence[tuple[str, str]]) -> None:
    """One line a fact, its title before it."""
    table = Table.grid(padding=(0, _GAP))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in facts:
        table.add_row(Text(title), Text(text, _STYLES.get(text, "")))
    Console().print(table)


def _need(texts: Sequence[str], *, whole: bool) -> int:
    """How wide a column must be for no word to be broken, or no line where it is ``whole``."""
    if whole:
        return max(map(cell_len, texts))
    return min(max(cell_len(word) for text in texts for word in text.split()), _LONGEST_WORD)


def _fitting(
    places: Sequence[int], needs: Mapping[int, int], headings: Sequence[Heading], room: int
) -> list[int]:
    """As many of ``places`` as there is room for: the last go first, vital ones never."""
    shown = list(places)
    for place in reversed(places):
        if sum(needs[one] + _GAP for one in shown) - _GAP <= room:
            break
        if not headings[place].vital:
            shown.remove(place)
    return shown


def _widths(
    places: Sequence[int], needs: Mapping[int, int], texts: Mapping[int, Sequence[str]], room: int
) -> dict[int, int]:
    """What each column needs, and of the room that is left its share of what it would like."""
    widths = {place: needs[place] for place in places}
    wishes = {place: max(map(cell_len, texts[place])) - needs[place] for place in places}
    spare = room - sum(widths.values())
    for place in places:
        if spare > 0 and wishes[place]:
            widths[place] += min(wishes[place], spare * wishes[place] // sum(wishes.values()))
    while sum(widths.values()) > max(room, len(widths)):
        widest = max(widths, key=lambda place: widths[place])
        widths[widest] -= 1
    return widths
