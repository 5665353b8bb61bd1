"""What the cells of a list's columns say, as its page shows them."""

import html
import re
from collections.abc import Sequence
from typing import TypeVar

from markupsafe import escape

from app.console.lists.list_page import Column

Item = TypeVar("Item")


def cell_text(columns: Sequence[Column[Item]], label: str, item: Item) -> str:
    """Return the text of an item's cell in the column ``label``."""
    (column,) = (one for one in columns if one.label == label)
    return plain(column.cell(item))


def active_filters(page: str) -> list[str]:
    """Return the filters that a list's page can remove, as its chips say: ``Status: Failed``."""
    return [html.unescape(one) for one in re.findall(r'aria-label="Remove filter ([^"]*)"', page)]


def plain(cell: str) -> str:
    """Return the text of a cell."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", escape(cell))).split())
