"""Multipart bodies, with bounds on their parts' headers.

Parsing one byte of a part's header takes as long as a thousand bytes of a file.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from typing import IO

from flask import Request
from typing_extensions import override
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import FormDataParser

MULTIPART = "multipart/form-data"
PART_HEADERS = 2048
"""Bytes of a part's headers: names of a field and a file, and a content type."""

_HEADERS_TOGETHER = 64 * 1024
_BLANK_LINE = re.compile(rb"\r\n\r\n|\r\r|\n\n")
"""What ends the headers of a part, in each spelling that werkzeug reads."""

_FORM_PARTS = 1000


def check_part_headers(body: bytes, boundary: bytes, max_parts: int) -> None:
    """Raise ``RequestEntityTooLarge`` for more parts than that, or for parts with long headers."""
    together = 0
    parts = list(islice(_parts(body, b"--" + boundary), max_parts + 2))
    if len(parts) > max_parts + 1:  # the last one is the end
        raise RequestEntityTooLarge
    for start in parts:
        blank = _BLANK_LINE.search(body, start, start + PART_HEADERS + 4)
        if blank is None and len(body) - start > PART_HEADERS:
            if not body.startswith(b"--", start):
                raise RequestEntityTooLarge
            continue
        together += (blank.start() if blank else len(body)) - start
    if together > _HEADERS_TOGETHER:
        raise RequestEntityTooLarge


def _parts(body: bytes, delimiter: bytes) -> Iterator[int]:
    """Yield where each line ends that begins with the delimiter."""
    if body.startswith(delimiter):
        yield len(delimiter)
    for line_end in (b"\n", b"\r"):
        sought = line_end + delimiter
        found = body.find(sought)
        while found >= 0:
            yield found + len(sought)
            found = body.find(sought, found + len(sought))


class BoundedForms(FormDataParser):
    """The form parser of pages."""

    @override
    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]:
        if mimetype == MULTIPART:
            body = stream.read()
            boundary = (options or {}).get("boundary", "").encode("ascii", "replace")
            check_part_headers(body, boundary, self.max_form_parts or _FORM_PARTS)
            stream = BytesIO(body)
        return super().parse(stream, mimetype, content_length, options)


class FormRequest(Request):
    """A request of the pages."""

    form_data_parser_class = BoundedForms
