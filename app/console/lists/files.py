"""Lists as files: CSV and JSON, sent while they are read."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import TypeVar

import orjson
from flask import Response, stream_with_context

from app.domain.values.pages import Page, PageRequest, every_item
from app.domain.values.text_rules import safe_cell
from app.web.translation import text

Item = TypeVar("Item")
Columns = Mapping[str, Callable[[Item], object]]
"""The values of an item by the name of their column; secrets are in none."""

MAX_ROWS = 100_000
"""Rows of a CSV file of a list; the last line says if there are more."""

_ROWS_AT_ONCE = 500


def export_list(
    name: str, columns: Columns[Item], read: Callable[[PageRequest], Page[Item]]
) -> Response:
    """Return a CSV file of a list that is read by pages; what the first one raises is raised."""
    return export_items(name, columns, every_item(read, _ROWS_AT_ONCE))


def export_items(
    name: str, columns: Columns[Item], items: Iterable[Item], *, is_limited: bool = True
) -> Response:
    """Return a CSV file of ``items`` with ``columns``, of the first ``MAX_ROWS`` if limited."""
    rows = _rows(columns, started(items), MAX_ROWS if is_limited else None)
    return _file(f"{name}.csv", "text/csv; charset=utf-8", _csv(tuple(columns), rows))


def json_file(name: str, items: Iterable[object]) -> Response:
    return _file(f"{name}.json", "application/json", _json(items))


def json_document(name: str, value: Mapping[str, object]) -> Response:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _file(f"{name}.json", "application/json", iter([text.encode()]))


def started(items: Iterable[Item]) -> Iterator[Item]:
    """Return ``items`` after reading the first, so that an error of reading is raised here."""
    rest = iter(items)
    first = tuple(islice(rest, 1))
    return chain(first, rest)


def _rows(
    columns: Columns[Item], items: Iterable[Item], limit: int | None
) -> Iterator[Sequence[str]]:
    for number, item in enumerate(items):
        if number == limit:
            yield (_more(),)
            return
        yield [_cell(value(item)) for value in columns.values()]


def _more() -> str:
    return text(
        "Only the first {count:,} rows are exported. Add a filter to export the others.",
        count=MAX_ROWS,
    )


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _file(name: str, kind: str, content: Iterator[str] | Iterator[bytes]) -> Response:
    return Response(
        stream_with_context(content),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield _csv_line(columns)
    for row in rows:
        yield _csv_line(row)


def _csv_line(values: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(map(safe_cell, values))
    return line.getvalue()


def _json(items: Iterable[object]) -> Iterator[bytes]:
    before = b"[\n"
    for item in items:
        yield before + orjson.dumps(item, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
