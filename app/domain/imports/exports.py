"""The file that ``flask export`` writes, and reading it again.

It is JSON Lines: one object per line, each with a ``type``. The first line has the type ``export``
and describes the file; the last has the type ``end`` and the number of lines between them, so that
a truncated file is noticed.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from app.domain.values.errors import Problem, Refused

FORMAT = 1
HEADER = "export"
END = "end"
WITHHELD = "withheld"
"""The field that names the secrets of a row that an export without secrets leaves out."""

_SECRET_WORDS = re.compile(
    r"auth|token|secret|key|password|credential|signature|cookie", re.IGNORECASE
)


class Section(StrEnum):
    """What can be exported by itself; the order is that of the file."""

    SETTINGS = "settings"
    SSO = "sso"
    PEOPLE = "people"
    STAFF = "staff"
    APPS = "apps"
    WEBHOOKS = "webhooks"


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first line: which version wrote the file, when, and what is in it."""

    version: str
    created_at: datetime
    sections: tuple[Section, ...]
    with_secrets: bool

    def as_line(self) -> str:
        """Return the line."""
        return line_of(
            HEADER,
            {
                "format": FORMAT,
                "version": self.version,
                "created_at": self.created_at,
                "sections": list(self.sections),
                "secrets": self.with_secrets,
            },
        )


def line_of(type_: str, fields: Mapping[str, object]) -> str:
    """Return a line of the file; the keys of nested objects are sorted, so that rows compare."""
    values = {name: plain(value) for name, value in fields.items()}
    return json.dumps({"type": type_, **values}, ensure_ascii=False, separators=(",", ":"))


def is_secret_header(name: str) -> bool:
    """Whether the value of a custom header of a webhook is probably a credential."""
    return _SECRET_WORDS.search(name) is not None


def without_secret_headers(
    headers: Mapping[str, object],
) -> tuple[dict[str, object], tuple[str, ...]]:
    """Return ``headers`` without those that look like credentials, and the names of those."""
    withheld = tuple(sorted(name for name in headers if is_secret_header(name)))
    return {name: headers[name] for name in headers if name not in withheld}, withheld


def plain(value: object) -> object:
    """Return ``value`` as JSON has it: times in UTC, bytes in Base64, keys sorted."""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(value[name]) for name in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


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
