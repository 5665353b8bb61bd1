"""Lines of text files, and rows of CSV, of which none is lost without a word.

What makes the extent of rows uncertain refuses the whole file: a quote that isn't closed, bytes
that are no text, a line that is too long.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NoReturn

from app.domain.accounts.emails import email_problem
from app.domain.values.errors import Problem, Refused

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line: more than an export has in one."""

_BOM = "\N{BYTE ORDER MARK}"
_LINE_END = re.compile(r"\r\n|\r|\n")
_OTHER_FILES = (
    (b"\xff\xfe", "is in UTF-16. Save it as UTF-8."),
    (b"\xfe\xff", "is in UTF-16. Save it as UTF-8."),
    (b"\0\0\xfe\xff", "is in UTF-32. Save it as UTF-8."),
    (b"PK\x03\x04", "is a ZIP archive or a workbook. Save it as CSV in UTF-8."),
    (b"\xd0\xcf\x11\xe0", "is a workbook. Save it as CSV in UTF-8."),
    (b"\x1f\x8b", "is compressed. Decompress it first."),
    (b"PGDMP", "is a dump of PostgreSQL. Export the people as CSV."),
)
"""How files begin that aren't UTF-8 text, and what to say of them."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file, without a byte order mark, with its end."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class CsvRow:
    """A row, and the line that it begins in; ``problem`` says why its cells can't be told."""

    line: int
    cells: Sequence[str]
    problem: str = ""


def refusal(template: str, **values: object) -> Refused:
    """Return the refusal of a file."""
    return Refused(Problem("INVALID", template, values=values))


def split_lines(file: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines in ``chunks``, which end with LF, CRLF or CR, or all of them.

    Refuses INVALID for a line of more than ``MAX_LINE`` bytes.
    """
    number = 0
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).splitlines(keepends=True)
        # The last one can go on in the next chunk, and its CR can be half of CRLF.
        rest = b"" if not lines or lines[-1].endswith(b"\n") else lines.pop()
        number += len(lines)
        yield from lines
        if len(rest) > MAX_LINE:
            values = {"line": number + 1, "file": file, "most": MAX_LINE // (1024 * 1024)}
            raise refusal("Line {line} of {file} is longer than {most} MiB.", **values)
    if rest:
        yield rest


def read_lines(file: str, chunks: Iterable[bytes]) -> Iterator[Line]:
    """Yield the lines of a text; refuses INVALID for one that isn't UTF-8, or has a NUL byte."""
    for number, line in enumerate(split_lines(file, chunks), start=1):
        if number == 1:
            _require_text(file, line)
        try:
            text = line.decode()
        except UnicodeDecodeError:
            message = "Line {line} of {file} isn't UTF-8 text. Save the file as UTF-8."
            raise refusal(message, line=number, file=file) from None
        if "\0" in text:
            message = (
                "Line {line} of {file} has a NUL byte: the file is damaged, or isn't UTF-8 text. "
                "Save it again as UTF-8."
            )
            raise refusal(message, line=number, file=file)
        yield Line(number, text.lstrip(_BOM) if number == 1 else text)


def _require_text(file: str, first: bytes) -> None:
    for beginning, what in _OTHER_FILES:
        if first.startswith(beginning):
            raise refusal(f"{{file}} {what}", file=file)


def read_csv(
    file: str, lines: Iterable[Line], delimiter: str, columns: int = 0, email_column: int = 0
) -> Iterator[CsvRow]:
    """Yield the rows of CSV with all their cells, also empty ones.

    Refuses INVALID, naming the quote and its line, where a quoted cell reaches into other rows:
    it isn't closed, or it swallowed lines that have as many cells as there are ``columns``, and
    an email in ``email_column``.
    """
    taken: list[Line] = []

    def texts() -> Iterator[str]:
        for line in lines:
            taken.append(line)
            yield line.text

    reader = csv.reader(texts(), delimiter=delimiter, skipinitialspace=True, strict=True)
    while True:
        taken.clear()
        try:
            cells = next(reader, None)
        except csv.Error as error:
            quote = _last_quote(taken, delimiter)
            if quote is not None and (quote.is_open or len(taken) > 1):
                _refuse_quote(file, quote)
            yield CsvRow(taken[0].number, (), _reason(error, delimiter))
            continue
        if cells is None:
            return
        if len(taken) > 1 and _swallows_rows(cells, delimiter, columns, email_column):
            quote = _last_quote(taken[:1], delimiter)
            if quote is not None:
                _refuse_quote(file, quote)
        yield CsvRow(taken[0].number, cells)


@dataclass(frozen=True, slots=True)
class _Quote:
    line: int
    column: int
    is_open: bool


class _Place(Enum):
    """Where a character is: at the start of a cell, in one, or after a quote in a quoted one."""

    START = auto()
    PLAIN = auto()
    QUOTED = auto()
    CLOSED = auto()


def _refuse_quote(file: str, quote: _Quote) -> NoReturn:
    message = (
        "The quote at character {column} of line {line} of {file} isn't closed where its value "
        "ends. Close it, or double it if it belongs to the value."
    )
    raise refusal(message, column=quote.column, line=quote.line, file=file)


def _reason(error: csv.Error, delimiter: str) -> str:
    if "field limit" in str(error):
        return f"a value has more than {csv.field_size_limit():,} characters"
    shown = {"\t": "a tab"}.get(delimiter, delimiter)
    return f"a closing quote isn't followed by {shown} or the end of the line"


def _last_quote(lines: Iterable[Line], delimiter: str) -> _Quote | None:
    """Return the last quote that opens a cell, as the reader of CSV sees it, up to its error."""
    found: _Quote | None = None
    place = _Place.START
    for line in lines:
        for column, character in enumerate(line.text, start=1):
            if place is _Place.START and character == '"':
                found = _Quote(line.number, column, is_open=True)
            if place is _Place.CLOSED and character not in ('"', delimiter, "\r", "\n"):
                return found and replace(found, is_open=False)
            place = _after(place, character, delimiter)
    return found and replace(found, is_open=place is _Place.QUOTED)


def _after(place: _Place, character: str, delimiter: str) -> _Place:
    if place is _Place.QUOTED:
        return _Place.CLOSED if character == '"' else _Place.QUOTED
    if character == '"':
        return _Place.PLAIN if place is _Place.PLAIN else _Place.QUOTED
    if character in (delimiter, "\r", "\n"):
        return _Place.START
    return place if place is _Place.START and character == " " else _Place.PLAIN


def _swallows_rows(cells: Sequence[str], delimiter: str, columns: int, email_column: int) -> bool:
    """Whether a line within a cell looks like a row of its own."""
    for place, cell in enumerate(cells):
        _, *inner = _LINE_END.split(cell)
        for number, line in enumerate(inner, start=1):
            parts = line.split(delimiter)
            # The last line goes on with the other cells of the row.
            width = len(parts) + (len(cells) - place - 1 if number == len(inner) else 0)
            if width == columns and _is_email(parts, email_column):
                return True
    return False


def _is_email(parts: Sequence[str], column: int) -> bool:
    if column >= len(parts):
        return False
    return email_problem(parts[column].strip(' "').lower()) is None
