"""Files of people from anywhere: CSV or JSON Lines, their columns and the values in them.

Lines are numbered from 1; a row of a CSV file with line breaks in quotes has the number of its
first line.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from app.domain.imports.findings import Finding, Outcome
from app.domain.values.errors import Problem, Refused

COLUMNS: Mapping[str, str] = {
    "email": "Required.",
    "first_name": "",
    "last_name": "",
    "is_active": "`true` or `false`; without it, `true`.",
    "is_confirmed": "Whether the person has proven that the email is theirs; without it, `true`.",
    "is_staff": "Needs `--staff`.",
    "groups": "Names of groups here, separated by `|`, or a list in JSON. Needs `--staff`.",
    "language_code": "Such as `de` or `pt-br`.",
    "date_joined": "ISO 8601, or milliseconds since 1970; without it, the time of the import.",
    "last_login": "Likewise.",
    "note": "For staff.",
    "external_reference": "The ID that another system has for the person, unique.",
    "metadata": "An object of texts, in CSV as JSON.",
    "private_metadata": "Likewise.",
    "password_hash": "In one of the formats below.",
    "salt": "Firebase's salt of the password.",
}
"""What a file can have, and what the docs say of it."""

_ALIASES = {
    "createdat": "date_joined",
    "emailverified": "is_confirmed",
    "lastsignedinat": "last_login",
    "localid": "external_reference",
    "passwordsalt": "salt",
    "publicmetadata": "metadata",
}
DISABLED = "disabled"
"""Firebase's opposite of ``is_active``."""

_NAMES = {name.replace("_", ""): name for name in (*COLUMNS, DISABLED)} | _ALIASES
_FLAGS = ("is_active", "is_confirmed", "is_staff", DISABLED)
_MOMENTS = ("date_joined", "last_login")
_OBJECTS = ("metadata", "private_metadata")
_SWITCHES = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_DELIMITERS = (",", ";", "\t")
_MILLISECONDS = re.compile(r"\d{11,14}", re.ASCII)
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A person in a file: the number of the line, and the values by column.

    Absent values aren't among them. ``findings`` are about values that can't be used; without
    ``values``, the row is left out. ``is_row`` is false for a finding about the file.
    """

    line: int
    values: Mapping[str, object] | None
    findings: tuple[Finding, ...] = ()
    is_row: bool = True


def read_people(name: str, lines: Iterable[bytes]) -> Iterator[FileRow]:
    """Yield the people of a file called ``name``: CSV with a header, or JSON Lines.

    Refuses INVALID for a file that isn't UTF-8 text or has no column ``email``, before the first.
    """
    texts = _decoded(name, lines)
    first = next(texts, "")
    if first.lstrip().startswith("["):
        message = "{file} is one JSON array. Write one object per line, such as with jq -c '.[]'."
        raise Refused(Problem("INVALID", message, values={"file": name}))
    whole = _chain(first, texts)
    if first.lstrip().startswith("{"):
        yield from _json_rows(name, whole)
    else:
        yield from _csv_rows(name, first, whole)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _decoded(name: str, lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith(_UTF_16):
            message = "{file} is in UTF-16. Save it as UTF-8."
            raise Refused(Problem("INVALID", message, values={"file": name}))
        try:
            yield (line.removeprefix(_BOM) if number == 1 else line).decode()
        except UnicodeDecodeError:
            message = "Line {line} of {file} isn't UTF-8 text. Save the file as UTF-8."
            raise Refused(
                Problem("INVALID", message, values={"line": number, "file": name})
            ) from None


def _csv_rows(name: str, first: str, lines: Iterator[str]) -> Iterator[FileRow]:
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(lines, delimiter=delimiter)
    header = next(reader, [])
    columns = _columns(header)
    if "email" not in columns:
        message = "{file} has no column named email. The first line must name the columns."
        raise Refused(Problem("INVALID", message, values={"file": name}))
    yield from _unknown_columns(name, 1, header, columns)
    before = reader.line_num
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            yield _malformed(name, before + 1)
            before = reader.line_num
            continue
        if cells is None:
            return
        line, before = before + 1, reader.line_num
        if not any(cells):
            continue
        if len(cells) > len(columns):
            yield _malformed(name, line)
            continue
        values = {column: cell for column, cell in zip(columns, cells, strict=False) if column}
        yield _row(name, line, values)


def _json_rows(name: str, lines: Iterator[str]) -> Iterator[FileRow]:
    told: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            yield _malformed(name, number)
            continue
        columns = _columns(found)
        new = [key for key in found if key not in told]
        told.update(new)
        yield from _unknown_columns(name, number, new, _columns(new))
        values = {column: found[key] for column, key in zip(columns, found, strict=True) if column}
        yield _row(name, number, values)


def _columns(names: Iterable[str]) -> list[str]:
    """Return the columns of these names; empty for an unknown one, and for a second of a name."""
    columns: list[str] = []
    for name in names:
        column = _NAMES.get(re.sub(r"[\s_-]", "", name).lower(), "")
        columns.append("" if column in columns else column)
    return columns


def _unknown_columns(
    name: str, line: int, names: Iterable[str], columns: Iterable[str]
) -> Iterator[FileRow]:
    for given, column in zip(names, columns, strict=True):
        if given.strip() and not column:
            template = "The column {column} isn't imported."
            finding = Finding(
                name, line, "COLUMN_UNKNOWN", template, Outcome.LEFT_OUT, {"column": given[:80]}
            )
            yield FileRow(line, None, (finding,), is_row=False)


def _row(name: str, line: int, given: Mapping[str, object]) -> FileRow:
    values: dict[str, object] = {}
    findings = []
    is_usable = True
    for column, value in given.items():
        if value is None or value == "":
            continue
        try:
            values[column] = _value(column, value)
        except (ValueError, OverflowError, RecursionError):
            # What can't be read must not widen what the person can do.
            is_usable = is_usable and column not in (*_FLAGS, "groups")
            template = "{column} can't be read."
            finding = Finding(
                name, line, "VALUE_INVALID", template, Outcome.LEFT_OUT, {"column": column}
            )
            findings.append(finding)
    if values.pop(DISABLED, False):
        values["is_active"] = False
    return FileRow(line, values if is_usable else None, tuple(findings))


def _value(column: str, value: object) -> object:
    """Return the value of a column; raises ``ValueError``."""
    if column in _FLAGS:
        return _switch(value)
    if column in _MOMENTS:
        return _moment(str(value).strip())
    if column in _OBJECTS:
        found = json.loads(value) if isinstance(value, str) else value
        if not isinstance(found, dict):
            raise ValueError(column)
        return found
    if column == "groups":
        names = value.split("|") if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(each, str) for each in names):
            raise ValueError(column)
        return [each.strip() for each in names if each.strip()]
    if isinstance(value, bool | dict | list):
        raise ValueError(column)  # noqa: TRY004 - the caller's one kind of error
    return str(value)


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    switch = _SWITCHES.get(str(value).strip().lower())
    if switch is None:
        raise ValueError(value)
    return switch


def _moment(text: str) -> datetime:
    if _MILLISECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text) / 1000, UTC)
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _malformed(name: str, line: int) -> FileRow:
    template = "The row can't be read: it isn't JSON, or has more values than the header."
    return FileRow(line, None, (Finding(name, line, "ROW_MALFORMED", template, Outcome.LEFT_OUT),))
