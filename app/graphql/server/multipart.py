"""Uploads: the GraphQL multipart request specification, version 2, for one operation."""

from http import HTTPStatus
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from werkzeug.datastructures import FileStorage
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.formparser import MultiPartParser

from app.domain.values.inputs import Upload
from app.graphql.server.bodies import BadRequest, read_json, too_large
from app.web.bodies import PART_HEADERS, check_part_headers

MAX_PARTS = 32
MAX_FILE_PATHS = 100
_MAX_INDEX_DIGITS = 6


def read_multipart(
    body: bytes, boundary: str, *, text_max: int, files_max: int, values_max: int
) -> Any:
    """The ``operations`` of a form, with its files where ``map`` says that they belong.

    ``text_max`` and ``files_max`` are in bytes: for each text part, and for all files together.
    ``values_max`` is the number of values in the JSON of each.
    Raises ``BadRequest`` with what is wrong.
    """
    form, files = _parts(body, boundary, text_max)
    if sum(len(upload.data) for upload in files.values()) > files_max:
        raise too_large("The files together are", files_max)
    operations = _json_part(form, "operations", values_max)
    if not isinstance(operations, dict):
        raise BadRequest("An upload carries one operation: `operations` must be an object.")
    file_paths = _json_part(form, "map", values_max)
    if not isinstance(file_paths, dict):
        raise BadRequest("`map` must be an object of file names, each with a list of paths.")
    for name, path in _pairs(file_paths):
        upload = files.get(name)
        if upload is None:
            raise BadRequest(f"`map` names file {name!r}, which isn't in the form.")
        _put(operations, path, upload)
    return operations


def _parts(body: bytes, boundary: str, text_max: int) -> tuple[dict[str, str], dict[str, Upload]]:
    if not boundary.isascii() or not boundary:
        raise BadRequest("The form has no boundary.")
    try:
        check_part_headers(body, boundary.encode(), MAX_PARTS)
    except RequestEntityTooLarge:
        message = (
            f"A form can have at most {MAX_PARTS} parts, with headers of at most {PART_HEADERS} "
            "bytes each."
        )
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    parser = MultiPartParser(
        stream_factory=_in_memory, max_form_memory_size=text_max, max_form_parts=MAX_PARTS
    )
    try:
        form, files = parser.parse(BytesIO(body), boundary.encode(), len(body))
    except RequestEntityTooLarge:
        message = (
            f"A form can have at most {MAX_PARTS} parts, with at most {text_max} bytes of text "
            "each."
        )
        raise BadRequest(message, HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from None
    except ValueError:
        raise BadRequest("The form isn't valid multipart/form-data.") from None
    uploads = {name: _upload(stored) for name, stored in files.items()}
    return dict(form.items()), uploads


def _in_memory(
    total_content_length: int | None,
    content_type: str | None,
    filename: str | None,
    content_length: int | None = None,
) -> BytesIO:
    # The whole body has been read already, and its size is limited.
    return BytesIO()


def _upload(stored: FileStorage) -> Upload:
    name = PurePosixPath((stored.filename or "").replace("\\", "/")).name
    return Upload(name, stored.content_type or "", stored.stream.read())


def _json_part(form: dict[str, str], name: str, values_max: int) -> Any:
    if name not in form:
        raise BadRequest(f"The form has no part `{name}`.")
    return read_json(form[name], f"`{name}`", values_max)


def _pairs(file_paths: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = []
    for name, paths in file_paths.items():
        if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
            raise BadRequest("`map` must be an object of file names, each with a list of paths.")
        pairs += [(name, path) for path in paths]
    if len(pairs) > MAX_FILE_PATHS:
        raise BadRequest(f"`map` may name {MAX_FILE_PATHS} places.")
    return pairs


def _put(operations: Any, path: str, upload: Upload) -> None:
    """Put ``upload`` at a place such as ``variables.input.files.0``, where a null waits for it."""
    *way, last = path.split(".")
    holder: Any = operations if way[:1] == ["variables"] else None
    for step in way:
        key = _key(holder, step)
        holder = None if key is None else holder[key]
    key = _key(holder, last)
    if key is None or holder[key] is not None:
        raise BadRequest(f"`map` names {path!r}, where `operations` holds no null.")
    holder[key] = upload


def _key(holder: Any, step: str) -> str | int | None:
    if isinstance(holder, dict) and step in holder:
        return step
    if isinstance(holder, list) and len(step) <= _MAX_INDEX_DIGITS and step.isdecimal():
        return int(step) if int(step) < len(holder) else None
    return None
