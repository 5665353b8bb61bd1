"""The WSGI application behind granian: read whole requests first, then take a working thread.

granian speaks HTTP and calls ``Server`` by its RSGI protocol. A body is collected here, within
deadlines and bounds, while no thread waits for it; one of ``THREADS`` threads then runs the
application, and granian sends the answer at whatever speed the client reads. So clients that
send or read slowly hold a connection and nothing else.
"""

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import structlog

from app.web.dispatch import Application
from app.web.parent_process import end_with_parent
from app.web.request_bodies import (
    DEADLINES,
    LARGE_BODIES,
    Deadlines,
    Incoming,
    Refused,
    Room,
    TooLarge,
)
from app.web.request_hooks import ID_HEADER, ID_KEY
from app.web.rsgi import Exchange, Headers, Scope, environ_of

THREADS = 16
"""Requests that one process handles at once: more than the limit for logins."""

_TICK_SECONDS = 10.0
_ANSWER_IN_MEMORY = 1024 * 1024
_FILE_SECONDS = 30.0
"""After this long granian has opened the file of an answer, which then needs no name any more."""

_MARKS_OF_LARGE = ("authorization", "authorization-bearer", "cookie", "graphql-require-preflight")
"""Headers that a client has to send with a large body; a page of another site can't by itself."""

_CLOSE = ("Connection", "close")
_FORWARDED_FOR = "x-forwarded-for"

OnRefusal = Callable[[dict[str, Any], HTTPStatus], Iterable[tuple[str, str]]]
"""Gets the WSGI environment and the status of a request that the application never sees.

Returns headers for its response."""

_log = structlog.get_logger(__name__)


class Server:
    """``application`` as granian's RSGI target.

    ``max_size`` limits a body in bytes, ``max_marked_size`` one that has a header of
    ``_MARKS_OF_LARGE``.
    """

    def __init__(
        self,
        application: Application,
        *,
        max_size: int,
        max_marked_size: int,
        on_refusal: OnRefusal,
        deadlines: Deadlines = DEADLINES,
    ) -> None:
        self._application = application
        self._max_size = max_size
        self._max_marked_size = max_marked_size
        self._on_refusal = on_refusal
        self._deadlines = deadlines
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._room = Room(LARGE_BODIES)
        self._files: list[tuple[float, Path]] = []

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work, in a new server process (RSGI)."""
        parent = multiprocessing.parent_process()
        if parent is not None and parent.pid is not None:
            end_with_parent(parent.pid)
        self._tick(loop)

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        """Clear up at the end of a server process (RSGI)."""
        self._remove_files(until=time.monotonic())

    async def __rsgi__(self, scope: Scope, exchange: Exchange) -> None:
        """Answer one request (RSGI)."""
        headers = scope.headers
        if _FORWARDED_FOR in headers and headers.get(_FORWARDED_FOR) is None:
            # granian leaves out values that aren't ASCII. Without this header, whose start the
            # client controls, the client would have the address of the last proxy.
            self._refuse(scope, exchange, Refused(HTTPStatus.BAD_REQUEST))
            return
        announced = headers.get("content-length")
        if announced is None and "transfer-encoding" not in headers:
            await self._run(scope, exchange, BytesIO())
            return
        length = None if announced is None else int(announced)
        incoming = Incoming(exchange, length, self._deadlines)
        try:
            body = await incoming.read(self._body_limit(headers), self._room)
            if isinstance(body, BytesIO):
                await self._run(scope, exchange, body)
            else:
                await self._run(scope, exchange, body, _CLOSE)
                await incoming.discard()
        except Refused as refusal:
            self._refuse(scope, exchange, refusal)
            if refusal.status is not HTTPStatus.REQUEST_TIMEOUT:
                await incoming.discard()
        finally:
            self._room.give_back(incoming.taken)

    def _refuse(self, scope: Scope, exchange: Exchange, refusal: Refused) -> None:
        more = self._on_refusal(environ_of(scope, BytesIO()), refusal.status)
        exchange.response_bytes(refusal.status, [_CLOSE, *refusal.headers, *more], refusal.body)

    async def _run(
        self,
        scope: Scope,
        exchange: Exchange,
        body: BytesIO | TooLarge,
        *extra: tuple[str, str],
    ) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._pool, self._answer, scope, exchange, body, *extra)

    def _body_limit(self, headers: Headers) -> int:
        marked = any(name in headers for name in _MARKS_OF_LARGE)
        return self._max_marked_size if marked else self._max_size

    def _answer(
        self,
        scope: Scope,
        exchange: Exchange,
        body: BytesIO | TooLarge,
        *extra: tuple[str, str],
    ) -> None:
        """Run the application in this thread, and hand what it answers to granian."""
        status, headers = HTTPStatus.INTERNAL_SERVER_ERROR.value, [*extra]

        def start_response(line: str, fields: list[tuple[str, str]], exc_info: Any = None) -> None:
            nonlocal status, headers
            status, headers = int(line[:3]), [*fields, *extra]

        environ = environ_of(scope, body)
        try:
            result = self._application(environ, start_response)
            try:
                content = self._content(result)
            finally:
                if hasattr(result, "close"):
                    result.close()
        except Exception:  # noqa: BLE001 - whatever it is, this thread goes on
            _log.exception("server.fault", path=scope.path)
            named = [(ID_HEADER, environ[ID_KEY])] if ID_KEY in environ else []
            exchange.response_bytes(HTTPStatus.INTERNAL_SERVER_ERROR, [_CLOSE, *named], b"")
            return
        if isinstance(content, bytes):
            exchange.response_bytes(status, headers, content)
        else:
            exchange.response_file(status, headers, str(content))

    def _content(self, result: Iterable[bytes]) -> bytes | Path:
        """Send a response's body, or the file that a long one was written to.

        So a slow reader holds no memory, and this thread is free for other requests.
        """
        if isinstance(result, list):
            return b"".join(result)
        chunks = iter(result)
        first = b"".join(_leading_chunks(_ANSWER_IN_MEMORY, chunks))
        following = next(chunks, None)
        if following is None:
            return first
        with tempfile.NamedTemporaryFile(prefix="latchkey-", delete=False) as file:
            path = Path(file.name)
            try:
                file.writelines(chain((first, following), chunks))
            finally:
                self._files.append((time.monotonic(), path))
        return path

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        self._remove_files(until=now - _FILE_SECONDS)
        loop.call_later(_TICK_SECONDS, self._tick, loop)

    def _remove_files(self, *, until: float) -> None:
        while self._files and self._files[0][0] < until:
            self._files.pop(0)[1].unlink(missing_ok=True)


def _leading_chunks(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Chunks until there are ``size`` bytes of them."""
    for chunk in chunks:
        yield chunk
        size -= len(chunk)
        if size <= 0:
            return
