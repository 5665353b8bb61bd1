"""Tables for people at a terminal; colours only where the terminal and its owner want them."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


def print_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """One line a row, under bold titles."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def print_fields(facts: Sequence[tuple[str, str]]) -> None:
    """One line a fact, its title before it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for title, text in facts:
        table.add_row(Text(title), Text(text))
    Console().print(table)
