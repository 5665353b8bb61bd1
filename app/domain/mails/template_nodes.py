"""An own template as a tree: texts, values, conditions and loops, in order."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.mails.template_tags import VALUE


@dataclass(frozen=True, slots=True)
class Literal:
    """A text of the template, as it is sent."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Value:
    """The place of a value; ``is_link`` if it is a link with its token."""

    name: str
    line: int
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition: one of ``branches``. ``needs`` is the link whose presence alone decides."""

    branches: tuple[tuple["Node", ...], ...]
    line: int
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    body: tuple["Node", ...]
    line: int


Node: TypeAlias = Literal | Value | Choice | Loop


class Run:
    """Texts and values in a row, joined: each value is one ``VALUE`` character."""

    def __init__(self, pieces: Sequence[Literal | Value]) -> None:
        texts = [piece.text if isinstance(piece, Literal) else VALUE for piece in pieces]
        self.text = "".join(texts)
        self._pieces = pieces
        self._starts = [0]
        for text in texts[:-1]:
            self._starts.append(self._starts[-1] + len(text))

    def line(self, place: int) -> int:
        number = bisect_right(self._starts, place) - 1
        line = self._pieces[number].line
        return line + self.text.count("\n", self._starts[number], place)

    def literals(self) -> Iterator[tuple[int, str]]:
        """Yield the texts with their places."""
        for start, piece in zip(self._starts, self._pieces, strict=True):
            if isinstance(piece, Literal):
                yield start, piece.text

    def value(self, place: int) -> Value:
        """Return the value at ``place``, which holds ``VALUE``."""
        piece = self._pieces[bisect_right(self._starts, place) - 1]
        assert isinstance(piece, Value)  # noqa: S101 - no text holds VALUE: see ``_check_characters``
        return piece


def joined(nodes: Sequence[Node]) -> Iterator[list[Literal | Value] | Choice | Loop]:
    """Yield the nodes, texts and values in a row as one list."""
    pieces: list[Literal | Value] = []
    for node in nodes:
        if isinstance(node, Literal | Value):
            pieces.append(node)
            continue
        if pieces:
            yield pieces
            pieces = []
        yield node
    if pieces:
        yield pieces
