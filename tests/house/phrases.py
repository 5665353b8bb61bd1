"""Find phrases of ``phrases.txt`` in what people read: pages, mails, messages, help and docs.

Sentences that commands put together are searched in their recorded outputs, and in their help.

``make check`` runs ``python -m tests.house.phrases``. Python's docstrings and comments aren't
searched; the help of commands and the descriptions of the schema are, as they are printed.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.house.sources import ROOT, Source, application, project_files

_LIST = Path(__file__).with_name("phrases.txt")
_DOCS = {".graphql", ".html", ".md", ".txt", ".1"}
_FOLDERS = ("app/templates/", "docs/")
_ALONE = {".env.example", "Makefile"}
_EXEMPT = {
    "CHANGELOG.md"  # what was released is history
}
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase in a file, with what to write instead."""

    path: str
    line: int
    phrase: str
    instead: str

    @property
    def complaint(self) -> str:
        return f'{self.path}:{self.line}: "{self.phrase}", write: {self.instead}'


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a Python file."""

    value: str
    lineno: int


def read_phrases() -> Mapping[str, str]:
    """Return the list: what to write instead, by phrase."""
    lines = (line.partition("|") for line in _LIST.read_text().splitlines())
    return {phrase.strip(): instead.strip() for phrase, _, instead in lines}


def find_phrases(phrases: Mapping[str, str]) -> Iterator[Found]:
    """Yield each phrase in the project's templates, docs and Python texts."""
    for path in project_files():
        name = path.relative_to(ROOT).as_posix()
        if is_read(name) and name not in _EXEMPT:
            for line, phrase in matches(phrases, without_comments(path.read_text())):
                yield Found(name, line, phrase, phrases[phrase])
    for source in application():
        if source.path in _EXEMPT:
            continue
        for text in shown_texts(source):
            for _, phrase in matches(phrases, text.value):
                yield Found(source.path, text.lineno, phrase, phrases[phrase])


def is_read(name: str) -> bool:
    """Whether people read the file of this name, which is neither Python nor a style sheet."""
    if name.startswith("tests/commands/golden/"):
        return True
    is_doc = Path(name).suffix in _DOCS and (name.startswith(_FOLDERS) or "/" not in name)
    return is_doc or name in _ALONE


def matches(phrases: Iterable[str], text: str) -> Iterator[tuple[int, str]]:
    """Yield line and phrase of each match: whole words, whatever their case and line breaks."""
    plain = " ".join(text.lower().split())
    for phrase in phrases:
        if phrase in plain:  # spares most texts the search by words
            for match in _pattern(phrase).finditer(text):
                yield text.count("\n", 0, match.start()) + 1, phrase


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE)


def shown_texts(source: Source) -> Iterator[Text]:
    """Yield the texts of a file but its docstrings."""
    docstrings = {node.value for node in source.nodes if isinstance(node, ast.Expr)}
    for node in source.nodes:
        if not isinstance(node, ast.Constant) or node in docstrings:
            continue
        if isinstance(node.value, str):
            yield Text(node.value, node.lineno)


def without_comments(template: str) -> str:
    """Return a template with its comments blanked, each line where it was."""
    return _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), template)


def complaints() -> list[str]:
    """Return the phrases that were found, a line each."""
    return [phrase.complaint for phrase in find_phrases(read_phrases())]


def main() -> int:
    found = complaints()
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
