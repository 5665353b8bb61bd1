"""Bodies on their way in: within deadlines, and within a bound for all of them together."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Any

import orjson
from flask import request
from typing_extensions import override
from werkzeug.exceptions import RequestEntityTooLarge, UnsupportedMediaType

from app.web.response_bodies import Quota
from app.web.rsgi import Exchange

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
            await self._note_small_piece()
        return chunk

    async def _note_small_piece(self) -> None:
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
