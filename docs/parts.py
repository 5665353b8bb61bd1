"""Printed parts of pages that are otherwise written by hand, and blocks taken from files."""

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

_END = "<!-- end of the printed part -->"
_PART = re.compile(
    rf"(?P<start><!-- printed: (?P<name>[a-z-]+) -->\n).*?(?P<end>{_END})", re.DOTALL
)

_ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(
    r"^(?P<start>(?P<indent>[ \t]*)<!-- file: (?P<path>[^:\s]+)(?::(?P<section>[\w-]+))? -->\n"
    r"(?P=indent)(?P<fence>```+)[^\n]*\n)(?:.*?\n)??(?P<end>(?P=indent)(?P=fence))$",
    re.DOTALL | re.MULTILINE,
)
_MARK = re.compile(r"^[^\n]*--8<-- \[(?:start|end):[\w-]+\][^\n]*\n", re.MULTILINE)


def with_files(text: str) -> str:
    """Return a page with each block below ``<!-- file: PATH -->`` as that file has it.

    ``PATH:SECTION`` is the part between the file's comments ``--8<-- [start:SECTION]`` and
    ``--8<-- [end:SECTION]``. Raises ``ValueError`` if the file doesn't have it once.
    """

    def block(found: re.Match[str]) -> str:
        code = textwrap.indent(part_of_file(found["path"], found["section"]), found["indent"])
        return f"{found['start']}{code}{found['end']}"

    return _BLOCK.sub(block, text)


def part_of_file(path: str, section: str | None) -> str:
    """Return a file of the project, or a section of it, without the comments around sections."""
    text = (_ROOT / path).read_text()
    if section:
        border = r"^[^\n]*--8<-- \[{}:{}\][^\n]*\n"
        start, end = (border.format(kind, re.escape(section)) for kind in ("start", "end"))
        parts = re.findall(f"{start}(.*?){end}", text, re.DOTALL | re.MULTILINE)
        if len(parts) != 1:
            raise ValueError(f"{path} has the section {section} {len(parts)} times, not once")
        text = textwrap.dedent(parts[0])
    return _MARK.sub("", text).strip("\n") + "\n"


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
