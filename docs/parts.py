"""Printed parts of pages that are otherwise written by hand."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_END = "<!-- end of the printed part -->"
_PART = re.compile(
    rf"(?P<start><!-- printed: (?P<name>[a-z-]+) -->\n).*?(?P<end>{_END})", re.DOTALL
)


def with_printed_parts(page: Path, parts: Mapping[str, str]) -> str:
    """Return the text of ``page`` with each of ``parts`` between its two comments.

    Raises ``ValueError`` unless the page has each of them once.
    """
    text = page.read_text()
    names = [found["name"] for found in _PART.finditer(text)]
    if sorted(names) != sorted(parts):
        raise ValueError(f"{page.name} has the printed parts {names}, not {sorted(parts)}")
    return _PART.sub(
        lambda found: f"{found['start']}\n{parts[found['name']]}\n{found['end']}", text
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
