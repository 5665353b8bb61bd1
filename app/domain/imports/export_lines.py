"""Read the lines that ``flask export`` wrote."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.domain.imports.exports import END, FORMAT, HEADER, WITHHELD
from app.domain.values.errors import Problem, Refused


@dataclass(frozen=True, slots=True)
class ExportLine:
    """A row in an export: the number of its line, its type, its fields, and what it lacks."""

    number: int
    name: str
    fields: Mapping[str, object]
    withheld: tuple[str, ...] = ()


def read_export(file: str, lines: Iterable[bytes]) -> Iterator[ExportLine]:
    """Yield the header, as a line of that type, and then every row of the export ``file``.

    Refuses INVALID for a file that is no export, of a newer format, damaged or incomplete, at the
    line where that shows.
    """
    numbered = enumerate(lines, start=1)
    header = _read(file, *next(numbered, (1, b"")))
    if header.name != HEADER:
        raise _refusal("{file} isn't an export of Latchkey.", file=file)
    if header.fields.get("format") != FORMAT:
        raise _refusal("{file} was written by a newer version. Install that version.", file=file)
    yield header
    for number, text in numbered:
        line = _read(file, number, text)
        if line.name == END:
            # Without the first line and this one.
            if line.fields.get("lines") == number - 2:
                return
            break
        yield line
    raise _refusal("{file} is incomplete. Export it again.", file=file)


def _read(file: str, number: int, text: bytes) -> ExportLine:
    try:
        fields = json.loads(text)
        name, withheld = fields.pop("type"), fields.pop(WITHHELD, [])
        if isinstance(name, str) and isinstance(withheld, list):
            return ExportLine(number, name, fields, tuple(map(str, withheld)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    if number == 1:
        raise _refusal("{file} isn't an export of Latchkey.", file=file)
    raise _refusal("Line {line} of {file} is damaged. Export it again.", line=number, file=file)


def _refusal(message: str, **values: object) -> Refused:
    return Refused(Problem("INVALID", message, values=values))
