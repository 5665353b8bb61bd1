"""Files of people from anywhere: CSV or JSON Lines, their columns and the values in them.

Lines are numbered from 1; a row of a CSV file with line breaks in quotes has the number of its
first line.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain

from app.domain.imports import account_states
from app.domain.imports.runs import Finding, Outcome
from app.domain.imports.text_files import Line, read_csv, read_lines, refusal
from app.domain.values.times import showable

COLUMNS: Mapping[str, str] = {
    "email": "Required.",
    "first_name": "",
    "last_name": "",
    "is_active": "`true` or `false`; without it, `true`, unless a field of another system says "
    "that the person is disabled.",
    "is_confirmed": "Whether the person has proven that the email is theirs; without it, `true`, "
    "unless a field of another system says otherwise.",
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
    "createdtimestamp": "date_joined",
    "lastsignedinat": "last_login",
    "localid": "external_reference",
    "passwordsalt": "salt",
    "publicmetadata": "metadata",
}

_NAMES = {account_states.field_key(name): name for name in COLUMNS} | _ALIASES
_FLAGS = ("is_active", "is_confirmed", "is_staff")
_MOMENTS = ("date_joined", "last_login")
_OBJECTS = ("metadata", "private_metadata")
_DELIMITERS = (",", ";", "\t", "|")
_DELIMITER_LINE = re.compile(r'"?sep=(?P<delimiter>.)"?\s*', re.IGNORECASE)
_MILLISECONDS = re.compile(r"\d{11,14}", re.ASCII)
_UNREADABLE = (ValueError, OverflowError, RecursionError)


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


@dataclass(frozen=True, slots=True)
class _Field:
    """A field of a row: its name in the file, its normalized one, and its column.

    ``column`` is empty for fields that aren't columns here.
    """

    name: str
    key: str
    column: str

    @property
    def is_known(self) -> bool:
        return bool(self.column) or self.key in account_states.FIELDS

    @property
    def shown(self) -> str:
        return self.name.strip()[:80]


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    now: datetime

    def finding(
        self, line: int, code: str, template: str, outcome: Outcome, **values: object
    ) -> Finding:
        return Finding(self.name, line, code, template, outcome, values)

    def left_out(self, line: int, template: str, **values: object) -> FileRow:
        found = self.finding(line, "ROW_MALFORMED", template, Outcome.LEFT_OUT, **values)
        return FileRow(line, None, (found,))


def read_people(name: str, chunks: Iterable[bytes], now: datetime) -> Iterator[FileRow]:
    """Yield the people of a file called ``name``: CSV with a header, or JSON Lines.

    Refuses INVALID for a file of which it can't tell the rows: one that isn't UTF-8 text, has no
    column ``email``, a quote that isn't closed, or was cut off. ``now`` is when a ban that ends
    at some time is looked at.
    """
    file = _File(name, now)
    lines = read_lines(name, chunks)
    first = next((line for line in lines if line.text.strip()), Line(1, ""))
    if first.text.lstrip().startswith("["):
        message = "{file} is one JSON array. Write one object per line, such as with jq -c '.[]'."
        raise refusal(message, file=name)
    if first.text.lstrip().startswith("{"):
        yield from _json_rows(file, chain((first,), lines))
        return
    delimiter = _DELIMITER_LINE.fullmatch(first.text)
    if delimiter is not None:
        first = next((line for line in lines if line.text.strip()), Line(first.number, ""))
        yield from _csv_rows(file, first, lines, delimiter["delimiter"])
    else:
        yield from _csv_rows(file, first, lines, _delimiter_of(first.text))


def count_lines(name: str, chunks: Iterable[bytes], now: datetime) -> int:
    """Return the number of the last row's line; refuses a file as ``read_people`` does."""
    last = 0
    for row in read_people(name, chunks, now):
        last = row.line
    return last


def _delimiter_of(header: str) -> str:
    """Return the delimiter that makes most known columns of a header, or else most columns."""

    def known(delimiter: str) -> tuple[int, int]:
        names = next(csv.reader([header], delimiter=delimiter), [])
        return sum(field.is_known for field in _fields(names)), len(names)

    return max(_DELIMITERS, key=known)


def _csv_rows(
    file: _File, first: Line, lines: Iterator[Line], delimiter: str
) -> Iterator[FileRow]:
    header = next(read_csv(file.name, chain((first,), lines), delimiter), None)
    fields = _fields(header.cells if header is not None else ())
    columns = [field.column for field in fields]
    if "email" not in columns:
        message = "{file} has no column named email. The first line must name the columns."
        raise refusal(message, file=file.name)
    twice = _repeated(fields)
    if twice is not None:
        message = (
            "Line {line} of {file} names the column {column} twice. Remove the one that isn't "
            "right."
        )
        raise refusal(message, line=first.number, file=file.name, column=twice.shown)
    yield from _unknown(file, first.number, fields)
    for row in read_csv(file.name, lines, delimiter, len(columns), columns.index("email")):
        if row.problem:
            template = "The row can't be read: {reason}."
            yield file.left_out(row.line, template, reason=row.problem)
        elif any(map(str.strip, row.cells)):
            yield from _csv_row(file, row.line, fields, row.cells)


def _csv_row(
    file: _File, line: int, fields: Sequence[_Field], cells: Sequence[str]
) -> Iterator[FileRow]:
    given, wanted = len(cells), len(fields)
    if any(map(str.strip, cells[wanted:])):
        template = "The row has {given} values, and the header {wanted}."
        yield file.left_out(line, template, given=given, wanted=wanted)
        return
    found = dict(zip(fields, cells, strict=False))
    for field, cell in found.items():
        if not field.name.strip() and cell.strip():
            template = "The row has a value in a column without a name."
            yield file.left_out(line, template)
            return
    missing = fields[given:]
    if any(
        field.key in account_states.FIELDS or field.column in (*_FLAGS, "groups")
        for field in missing
    ):
        template = "The row has {given} values, and the header {wanted}."
        yield file.left_out(line, template, given=given, wanted=wanted)
        return
    row = _row(file, line, found)
    if missing:
        template = "The row has {given} values, and the header {wanted}: the others are empty."
        short = file.finding(
            line, "ROW_SHORT", template, Outcome.IMPORTED, given=given, wanted=wanted
        )
        row = FileRow(line, row.values, (*row.findings, short))
    yield row


def _json_rows(file: _File, lines: Iterable[Line]) -> Iterator[FileRow]:
    told: set[str] = set()
    is_first = True
    for line in lines:
        if not line.text.strip():
            continue
        try:
            found = json.loads(line.text, object_pairs_hook=_Members)
        except (ValueError, RecursionError):
            found = None
            _require_json_lines(file, line, is_first=is_first)
        is_first = False
        if not isinstance(found, _Members):
            yield file.left_out(line.number, "The row isn't a JSON object.")
            continue
        fields = _fields(found)
        twice = _repeated(fields) or found.repeated
        if twice is not None:
            shown = twice.shown if isinstance(twice, _Field) else twice[:80]
            template = "The row names {column} twice."
            yield file.left_out(line.number, template, column=shown)
            continue
        if not told and "email" not in {field.column for field in fields}:
            _require_people(file, found)
        new = [field for field in fields if field.name not in told]
        told.update(field.name for field in new)
        yield from _unknown(file, line.number, new)
        yield _row(file, line.number, dict(zip(fields, found.values(), strict=True)))


class _Members(dict[str, object]):
    """An object in JSON; ``repeated`` is a name that it has twice, of which JSON keeps one."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.repeated: str | None = None
        if len(self) < len(pairs):
            counts = Counter(name for name, _ in pairs)
            self.repeated = counts.most_common(1)[0][0]


def _require_json_lines(file: _File, line: Line, *, is_first: bool) -> None:
    """Refuse a file that isn't JSON Lines at all, or whose last line was cut off."""
    if is_first:
        message = (
            "Line {line} of {file} isn't a complete JSON object. Write one object per line, "
            "for example with jq -c."
        )
        raise refusal(message, line=line.number, file=file.name)
    if not line.text.endswith(("\n", "\r")):
        message = "{file} is cut off in line {line}. Export it again."
        raise refusal(message, line=line.number, file=file.name)


def _require_people(file: _File, found: Mapping[str, object]) -> None:
    """Refuse the export of a system that has all people in one object."""
    for name, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            message = (
                "{file} has its people in {name}. Write one object per line, for example with "
                "jq -c '.{name}[]'."
            )
            raise refusal(message, file=file.name, name=name[:80])


def _fields(names: Iterable[str]) -> list[_Field]:
    keys = [(name, account_states.field_key(name)) for name in names]
    every = {key for _, key in keys}
    return [
        _Field(
            name,
            f"{key} of an address" if account_states.is_place(key, every) else key,
            _NAMES.get(key, ""),
        )
        for name, key in keys
    ]


def _repeated(fields: Iterable[_Field]) -> _Field | None:
    """Return the second of two known fields that say the same, of which one would be lost."""
    seen: set[str] = set()
    for field in fields:
        if field.is_known:
            if (field.column or field.key) in seen:
                return field
            seen.add(field.column or field.key)
    return None


_UNKNOWN_COLUMN = ("COLUMN_UNKNOWN", "The column {column} isn't imported.")
_UNKNOWN_STATE = (
    "STATE_COLUMN_UNKNOWN",
    "The column {column} isn't known but seems to disable people. Rows it disables are left out.",
)


def _unknown(file: _File, line: int, fields: Iterable[_Field]) -> Iterator[FileRow]:
    for field in fields:
        if field.is_known or not field.shown:
            continue
        code, template = (
            _UNKNOWN_STATE if account_states.looks_like_state(field.key) else _UNKNOWN_COLUMN
        )
        found = file.finding(line, code, template, Outcome.LEFT_OUT, column=field.shown)
        yield FileRow(line, None, (found,), is_row=False)


def _row(file: _File, line: int, given: Mapping[_Field, object]) -> FileRow:
    values: dict[str, object] = {}
    findings: list[Finding] = []
    is_usable = True
    for field, value in given.items():
        if not field.column or value is None or value == "":
            continue
        try:
            values[field.column] = _value(field.column, value)
        except _UNREADABLE:
            # What can't be read must not widen what the person can do.
            is_usable = is_usable and field.column not in (*_FLAGS, "groups")
            findings.append(_unreadable(file, line, field.column))
    email = str(values.get("email", "")).strip().lower()
    states = {field: value for field, value in given.items() if not field.column}
    effects = set()
    for field, value in states.items():
        effect, found = _effect(file, line, field, value, email)
        findings += found
        is_usable = is_usable and effect is not None
        effects.add(effect)
    if account_states.Effect.INACTIVE in effects:
        values["is_active"] = False
    if account_states.Effect.UNCONFIRMED in effects:
        values["is_confirmed"] = False
    if (
        account_states.Effect.MUST_RESET in effects
        and values.pop("password_hash", None) is not None
    ):
        template = "The other system asks the person for a new password; they must set one here."
        findings.append(file.finding(line, "PASSWORD_EXPIRED", template, Outcome.MUST_RESET))
    return FileRow(line, values if is_usable else None, tuple(findings))


def _effect(
    file: _File, line: int, field: _Field, value: object, email: str
) -> tuple[account_states.Effect | None, list[Finding]]:
    """Return what a field says of whether a person can sign in; ``None`` leaves the row out."""
    if field.key in account_states.FIELDS:
        try:
            return account_states.read_state(field.key, value, email, file.now), []
        except _UNREADABLE:
            return None, [_unreadable(file, line, field.shown)]
    if not account_states.looks_like_state(field.key):
        return account_states.Effect.NONE, []
    effect = account_states.unknown_effect(field.key, value)
    if effect is not account_states.Effect.INACTIVE:
        return effect, []
    template = "{column} isn't known but seems to say that the person can't sign in."
    found = file.finding(line, "STATE_UNKNOWN", template, Outcome.LEFT_OUT, column=field.shown)
    return None, [found]


def _unreadable(file: _File, line: int, column: str) -> Finding:
    template = "{column} can't be read."
    return file.finding(line, "VALUE_INVALID", template, Outcome.LEFT_OUT, column=column)


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
    switch = account_states.SWITCHES.get(str(value).strip().lower())
    if switch is None:
        raise ValueError(value)
    return switch


def _moment(text: str) -> datetime:
    if _MILLISECONDS.fullmatch(text):
        return showable(datetime.fromtimestamp(int(text) / 1000, UTC))
    return showable(datetime.fromisoformat(text))
