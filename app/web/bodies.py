"""Bodies of requests and responses: within deadlines, and within bounds for all together.

granian hands over requests by RSGI, and the application wants WSGI. Multipart forms have bounds on
the headers of their parts.
"""

import asyncio
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from io import BytesIO
from itertools import chain, islice
from threading import Lock
from typing import IO, Any, Protocol

import orjson
from flask import Request, request
from typing_extensions import override
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.formparser import FormDataParser
from werkzeug.wsgi import FileWrapper

AT_ONCE = 64 * 1024
"""A response of this size is handed over whole; of a larger one, so much at a time."""

MEMORY = 64 * 1024 * 1024
"""What all responses over ``AT_ONCE`` of a process may take of its memory, until they are read."""

DISK = 256 * 1024 * 1024
"""What they may take of the temporary folder, when the memory is taken or they are too long."""

_IN_MEMORY = 1024 * 1024


class NoRoom(Exception):
    """So many responses wait to be read that there is no room for another one."""


class SentFile(FileWrapper):
    """A file as a response (PEP 3333, ``wsgi.file_wrapper``), sent from where it is."""

    @property
    def path(self) -> str | None:
        """Where it is, if it has a name and is sent whole."""
        name = getattr(self.file, "name", None)
        return name if isinstance(name, str) and self.file.tell() == 0 else None


class Quota:
    """A number of bytes that threads take and give back, for one client no more than a quarter.

    ``client`` is empty for those that many share, such as reverse proxies.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._share = size // 4
        self._taken: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def free(self) -> int:
        return self._free

    def take(self, size: int, client: str = "") -> bool:
        with self._lock:
            has_enough = bool(client) and self._taken[client] + size > self._share
            if has_enough or size > self._free:
                return False
            self._free -= size
            self._taken[client] += size
            return True

    def give_back(self, size: int, client: str = "") -> None:
        with self._lock:
            self._free += size
            self._taken[client] -= size
            if not self._taken[client]:
                del self._taken[client]


class Held:
    """A response's body that is kept until it is sent; closing it gives its room back."""

    def __init__(
        self, source: bytes | IO[bytes], quota: Quota, size: int, client: str = ""
    ) -> None:
        self.size = size
        self._source = source
        self._quota = quota
        self._client = client
        self._taken = size

    def __iter__(self) -> Iterator[bytes]:
        if isinstance(self._source, bytes):
            for start in range(0, len(self._source), AT_ONCE):
                yield self._source[start : start + AT_ONCE]
        else:
            self._source.seek(0)
            while chunk := self._source.read(AT_ONCE):
                yield chunk

    def close(self) -> None:
        if not isinstance(self._source, bytes):
            self._source.close()
        self._source = b""
        taken, self._taken = self._taken, 0
        self._quota.give_back(taken, self._client)


class Outgoing:
    """The room for the bodies of a process's responses."""

    def __init__(self, memory: int = MEMORY, disk: int = DISK) -> None:
        self.memory = Quota(memory)
        self.disk = Quota(disk)

    def hold(self, result: Iterable[bytes], client: str = "") -> bytes | Held:
        """Return a short body as it is, or keep a longer one; raises ``NoRoom``.

        ``client`` is who it is for, as in ``Quota``.
        """
        if isinstance(result, list):
            whole = b"".join(result)
            return whole if len(whole) <= AT_ONCE else self._keep(whole, iter(()), client)
        chunks = iter(result)
        begun = b"".join(_leading_chunks(_IN_MEMORY, chunks))
        following = next(chunks, None)
        if following is None and len(begun) <= AT_ONCE:
            return begun
        more = iter(()) if following is None else chain((following,), chunks)
        return self._keep(begun, more, client)

    def _keep(self, begun: bytes, more: Iterator[bytes], client: str) -> Held:
        following = next(more, None)
        if following is None and self.memory.take(len(begun), client):
            return Held(begun, self.memory, len(begun), client)
        rest = () if following is None else (following,)
        return self._write(chain((begun,), rest, more), client)

    def _write(self, chunks: Iterator[bytes], client: str) -> Held:
        # Without a name: it is deleted with its last handle, however the process ends.
        file = tempfile.TemporaryFile(prefix="latchkey-")  # noqa: SIM115 - closed with Held
        taken = 0
        try:
            for chunk in chunks:
                self._take_disk(len(chunk), client)
                taken += len(chunk)
                file.write(chunk)
            file.flush()
        except BaseException:
            file.close()
            self.disk.give_back(taken, client)
            raise
        return Held(file, self.disk, taken, client)

    def _take_disk(self, size: int, client: str) -> None:
        if not self.disk.take(size, client):
            raise NoRoom


def _leading_chunks(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks until there are ``size`` bytes of them."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size <= 0:
            return


class Headers(Protocol):
    """The headers of a request; names in lower case, values that are not ASCII left out."""

    def __contains__(self, name: str, /) -> bool: ...
    def get(self, name: str, /) -> str | None: ...
    def items(self) -> list[tuple[str, str]]: ...


class Scope(Protocol):
    """A request without its body (RSGI)."""

    http_version: str
    client: str
    server: str
    scheme: str
    method: str
    path: str
    query_string: str
    headers: Headers


class Transport(Protocol):
    """Where an answer goes bit by bit (RSGI); waits while the client doesn't read."""

    def send_bytes(self, data: bytes) -> Awaitable[None]: ...


class Exchange(Protocol):
    """A request's body, chunk by chunk, and where its answer goes (RSGI); safe in any thread."""

    def __aiter__(self) -> "Exchange": ...
    def __anext__(self) -> Any: ...
    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None: ...
    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Transport": ...
    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None: ...


def environ_of(scope: Scope, body: object) -> dict[str, Any]:
    """The request as PEP 3333 wants it."""
    environ = _COMMON.copy()
    for name, value in scope.headers.items():
        key = _environ_name(name)
        if key in environ:
            joint = ";" if key == "HTTP_COOKIE" else ","
            environ[key] = f"{environ[key]}{joint}{value}"
        elif key:
            environ[key] = value
    if environ.pop("HTTP_TRANSFER_ENCODING", None) and isinstance(body, BytesIO):
        environ["CONTENT_LENGTH"] = str(body.getbuffer().nbytes)
    server, _, environ["SERVER_PORT"] = scope.server.rpartition(":")
    environ["SERVER_NAME"] = server.strip("[]")
    environ["REMOTE_ADDR"] = scope.client.rpartition(":")[0].strip("[]")
    environ["SERVER_PROTOCOL"] = f"HTTP/{scope.http_version}"
    environ["REQUEST_METHOD"] = scope.method
    environ["PATH_INFO"] = _as_latin1(scope.path)
    environ["QUERY_STRING"] = _as_latin1(scope.query_string)
    environ["wsgi.url_scheme"] = scope.scheme
    environ["wsgi.input"] = body
    return environ


_COMMON: dict[str, Any] = {
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.file_wrapper": SentFile,
    "wsgi.input_terminated": True,  # werkzeug's word for an input that ends where the body does
}


def _as_latin1(text: str) -> str:
    """Return the bytes of ``text`` in the form that PEP 3333 gives them."""
    return text if text.isascii() else text.encode().decode("latin1")


@lru_cache(maxsize=512)
def _environ_name(name: str) -> str:
    """Return the WSGI key of a header; empty for a name with an underscore, which is ambiguous."""
    if "_" in name:
        return ""
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


SMALL_BODY = 64 * 1024
LARGE_BODIES = 256 * 1024 * 1024
"""What all bodies over ``SMALL_BODY`` may take of a process's memory together."""

MAX_DISCARDED = 16 * 1024 * 1024
"""How much of a refused body is read and thrown away, so that its sender sees the answer."""


_ACCEPTED_ENCODING = ("Accept-Encoding", "identity")
"""The header that a 415 because of the encoding has (RFC 9110, 12.5.3)."""

_ENCODING = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}")
_SMALL_PIECE = 4 * 1024
_MAX_SMALL_PIECES = 2_000
"""Smaller chunks that a body can have: each takes as long as 100 KiB in one piece."""

_SMALL_PIECES_AT_ONCE = 32
_PIECE_SECONDS = 0.02
"""The pause after each further small piece of a body of known length, in which more arrives."""

_TOO_SMALL = "The request body has too many small chunks. Send chunks of 4 KiB or more."

_MESSAGES = {
    HTTPStatus.BAD_REQUEST: "The request ended before its announced length, or can't be read.",
    HTTPStatus.REQUEST_TIMEOUT: "The request body did not arrive in time.",
    HTTPStatus.SERVICE_UNAVAILABLE: "Service temporarily unavailable",
}


def encoding_problem(environ: Mapping[str, Any]) -> str | None:
    """Return why the body's ``Content-Encoding`` can't be read, naming it; ``None`` for none."""
    for name in environ.get("HTTP_CONTENT_ENCODING", "").split(","):
        encoding = name.strip()
        if encoding and encoding.lower() != "identity":
            shown = f" {encoding}" if _ENCODING.fullmatch(encoding) else ""
            return f"The Content-Encoding{shown} isn't supported. Send the body unencoded."
    return None


def refuse_encoded_body() -> None:
    """Refuse the body of a request to Flask that is compressed, before a view misreads it."""
    problem = encoding_problem(request.environ)
    if problem and request.method not in ("GET", "HEAD", "OPTIONS"):
        raise _EncodingRefused(problem)


class _EncodingRefused(UnsupportedMediaType):
    @override
    def get_headers(self, *given: Any) -> list[tuple[str, str]]:
        return [*super().get_headers(*given), _ACCEPTED_ENCODING]


class Refused(Exception):
    """A body that is not read on; ``status``, ``headers`` and ``body`` are the answer."""

    def __init__(self, status: HTTPStatus, *headers: tuple[str, str], message: str = "") -> None:
        super().__init__(status.phrase)
        self.status = status
        self._message = message or _MESSAGES[status]
        self.headers = (*headers, ("Content-Type", "application/json"))

    @property
    def body(self) -> bytes:
        """The answer in the form of the API's other errors."""
        code = {"code": self.status.phrase.replace(" ", "")}
        error = {"message": self._message, "extensions": {"exception": code}}
        return orjson.dumps({"errors": [error]})


class TooLarge:
    """Stands for a body over the limit: the application gets 413 as soon as it reads."""

    def read(self, size: int = -1) -> bytes:
        raise RequestEntityTooLarge

    readline = readlines = read


def no_room() -> Refused:
    """Return the refusal of a large body for which the process has no memory left."""
    return Refused(HTTPStatus.SERVICE_UNAVAILABLE, ("Retry-After", "5"))


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that a whole body may take to arrive, and that may pass without any of it."""

    whole: float = 30.0
    silence: float = 5.0


DEADLINES = Deadlines()


class Incoming:
    """A body being received; ``announced`` is ``None`` for a chunked one."""

    def __init__(self, exchange: Exchange, announced: int | None, deadlines: Deadlines) -> None:
        self._exchange = aiter(exchange)
        self._announced = announced
        self._deadlines = deadlines
        self.size = 0
        self.taken = 0
        self._small_pieces = 0

    async def chunk(self) -> bytes:
        """Return the bytes received since the last call; empty at the end.

        Raises ``Refused`` when nothing arrives within the silence deadline, and for too many small
        chunks.
        """
        if self._announced is not None and self.size >= self._announced:
            return b""
        try:
            async with asyncio.timeout(self._deadlines.silence):
                chunk: bytes = await self._exchange.__anext__()
        except StopAsyncIteration:
            return b""
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
        self.size += len(chunk)
        if 0 < len(chunk) < _SMALL_PIECE:
            await self._count_small_piece()
        return chunk

    async def _count_small_piece(self) -> None:
        self._small_pieces += 1
        if self._announced is None:
            # Each chunk is a piece, however many have arrived.
            if self._small_pieces > _MAX_SMALL_PIECES:
                raise Refused(HTTPStatus.BAD_REQUEST, message=_TOO_SMALL)
        elif self._small_pieces > _SMALL_PIECES_AT_ONCE:
            await asyncio.sleep(_PIECE_SECONDS)

    async def read(self, max_size: int, room: Quota) -> BytesIO | TooLarge:
        """Return the whole body, or ``TooLarge`` when it has more than ``max_size`` bytes.

        Raises ``Refused`` when a deadline passes, ``room`` has no memory left, or the connection
        ends before the announced length: half a form is a form with other values.
        """
        if (self._announced or 0) > max_size:
            return TooLarge()
        chunks = []
        try:
            async with asyncio.timeout(self._deadlines.whole):
                while chunk := await self.chunk():
                    if self.size > max_size:
                        return TooLarge()
                    if self.size > SMALL_BODY:
                        if not room.take(len(chunk)):
                            raise no_room()
                        self.taken += len(chunk)
                    chunks.append(chunk)
        except TimeoutError:
            raise Refused(HTTPStatus.REQUEST_TIMEOUT) from None
        if self.size < (self._announced or 0):
            raise Refused(HTTPStatus.BAD_REQUEST)
        return BytesIO(b"".join(chunks))

    async def discard(self) -> None:
        """Read on for a while: a connection closed at once is reset, and the answer lost."""
        max_size = self.size + MAX_DISCARDED
        with suppress(Refused, TimeoutError):
            async with asyncio.timeout(self._deadlines.whole):
                while self.size < max_size and await self.chunk():
                    pass


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
    form_data_parser_class = BoundedForms
