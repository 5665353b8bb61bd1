"""Printed parts of pages that are otherwise written by hand."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
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


def duration(of: timedelta | float) -> str:
    """Return a duration, seconds or a ``timedelta``, in days, hours, minutes and seconds."""
    seconds = int(of.total_seconds() if isinstance(of, timedelta) else of)
    parts = []
    for name, length in (("day", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, length)
        if count:
            unit = f"{name}s" if name == "day" and count > 1 else name
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 s"


def size(of: int) -> str:
    """Return a number of bytes in KiB."""
    return f"{of // 1024} KiB"
