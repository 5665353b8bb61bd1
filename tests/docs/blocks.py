"""The pages of the documentation, and the fenced blocks in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

from tests.house.sources import ROOT, project_files

SHELL = "sh"
_PROGRAMS = {"js", "jsx", "python", "ts", "tsx"}
_COMMENT = re.compile(r"<!--\s*(not run|prints|file|run by):\s*(.+?)\s*-->")
_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*\S", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block with what the comments above it say."""

    page: str
    line: int
    language: str
    text: str
    not_run: str = ""
    prints: tuple[str, ...] = ()
    file: str = ""
    run_by: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def first_line(self) -> str:
        return self.text.strip().partition("\n")[0]


@cache
def pages() -> tuple[str, ...]:
    """Return every page: Markdown at the top level and below ``docs``."""
    names = (path.relative_to(ROOT).as_posix() for path in project_files() if path.suffix == ".md")
    return tuple(name for name in names if "/" not in name or name.startswith("docs/"))


@cache
def blocks_of(page: str) -> tuple[Block, ...]:
    return tuple(read_blocks(page, (ROOT / page).read_text()))


def all_blocks() -> Iterator[Block]:
    for page in pages():
        yield from blocks_of(page)


def programs() -> dict[str, list[Block]]:
    """Return the blocks of each program that guides show, in the order of the page."""
    found: dict[str, list[Block]] = {}
    for block in all_blocks():
        if block.file and block.language in _PROGRAMS and block.page.startswith("docs/guides/"):
            found.setdefault(block.file.partition(":")[0], []).append(block)
    return found


def pasted(path: str) -> str:
    """Return the file ``path`` as a reader has it who pastes all of its blocks."""
    return "\n".join(block.text for block in all_blocks() if block.file.partition(":")[0] == path)


def read_blocks(page: str, text: str) -> Iterator[Block]:
    """Yield the blocks of a page; a comment counts for the block that follows it directly."""
    notes: list[tuple[str, str]] = []
    end_of_notes = -1
    for token in MarkdownIt().parse(text):
        first, end = token.map or (0, 0)
        if token.type == "html_block":
            notes = [*(notes if end_of_notes == first else ()), *_COMMENT.findall(token.content)]
            end_of_notes = end
        elif token.type == "fence":
            said = notes if end_of_notes == first else []
            yield Block(
                page,
                first + 1,
                token.info.strip(),
                token.content,
                " ".join(what for kind, what in said if kind == "not run"),
                tuple(what for kind, what in said if kind == "prints"),
                "".join(what for kind, what in said if kind == "file"),
                "".join(what for kind, what in said if kind == "run by"),
            )


def count_fences(path: Path) -> int:
    """Count lines that look like the start of a block, wherever they are."""
    return len(_FENCE.findall(path.read_text()))
