"""Lists as files: CSV and JSON, sent while they are read."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import orjson
from flask import Response, stream_with_context

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Response:
    """Return a CSV file of ``rows`` under a line of ``columns``."""
    lines = _csv(columns, rows)
    return _file(f"{name}.csv", "text/csv; charset=utf-8", lines)


def json_file(name: str, items: Iterable[object]) -> Response:
    """Return a JSON file with a list of ``items``."""
    return _file(f"{name}.json", "application/json", _json(items))


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
    # A spreadsheet would run what begins like a formula (OWASP, CSV injection).
    safe = [f"'{value}" if value.startswith(_FORMULA) else value for value in values]
    csv.writer(line).writerow(safe)
    return line.getvalue()


def _json(items: Iterable[object]) -> Iterator[bytes]:
    before = b"[\n"
    for item in items:
        yield before + orjson.dumps(item, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
