"""Bounds on the headers of a multipart body's parts."""

import pytest
from werkzeug.exceptions import RequestEntityTooLarge

from app.web.bodies import PART_HEADERS, check_part_headers
from tests.fixtures.cases import cases

HEADER = b'Content-Disposition: form-data; name="a"; filename="%s"'


def part(filename: bytes, data: bytes = b"x", line_end: bytes = b"\r\n") -> bytes:
    return b"--b" + line_end + HEADER % filename + line_end * 2 + data + line_end


@cases("line_end", [b"\r\n", b"\n", b"\r"])
def test_long_headers_of_any_part_are_refused(line_end: bytes) -> None:
    parts = [part(b"a" * length, line_end=line_end) for length in (10, PART_HEADERS)]
    for body in (parts[0] + parts[1], parts[1] + parts[0], b"preamble" + line_end + parts[1]):
        with pytest.raises(RequestEntityTooLarge):
            check_part_headers(body + b"--b--", b"b", 9)


@cases("line_end", [b"\r\n", b"\n", b"\r"])
def test_headers_without_an_end_are_refused(line_end: bytes) -> None:
    with pytest.raises(RequestEntityTooLarge):
        check_part_headers(b"--b" + line_end + b"a" * 5_000, b"b", 9)


def test_more_parts_are_refused() -> None:
    with pytest.raises(RequestEntityTooLarge):
        check_part_headers(part(b"a") * 10 + b"--b--", b"b", 9)


def test_headers_that_are_long_together_are_refused() -> None:
    with pytest.raises(RequestEntityTooLarge):
        check_part_headers(part(b"a" * 1_500) * 60 + b"--b--", b"b", 99)


def test_ordinary_parts_are_accepted() -> None:
    data = b"\r\n--a--b\r\n" * 9_000
    body = part(b"a" * 255, data) * 9 + b"--b--\r\n" + b"epilogue" * 1_000
    check_part_headers(body, b"b", 9)
