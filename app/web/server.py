"""The WSGI application behind granian: read whole requests first, then take a working thread.

granian speaks HTTP and calls ``Server`` by its RSGI protocol. A body is collected here, within
deadlines and bounds, while no thread waits for it; one of ``THREADS`` threads then runs the
application, and the answer is sent at whatever speed the client reads, within bounds for what
all answers take together (``response_bodies``) and for what one client can hold (``connections``).
So clients that send or read slowly hold a connection and nothing else.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import Any

import structlog

from app.web.connections import ConnectionWatch
from app.web.dispatch import Application
from app.web.installation import NO_CONNECTION_LIMITS, ConnectionLimits
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
from app.web.response_bodies import Held, NoRoom, Outgoing, SentFile
from app.web.rsgi import Exchange, Headers, Scope, environ_of

THREADS = 16
"""Requests that one process handles at once: more than the limit for logins."""

_CHUNK_SECONDS = 60.0
"""After this long a client that doesn't read is dropped where ``ConnectionWatch`` doesn't run."""

_FULL = b"Service temporarily unavailable"

_MARKS_OF_LARGE = ("authorization", "authorization-bearer", "cookie", "graphql-require-preflight")
"""Headers that a client has to send with a large body; a page of another site can't by itself."""

_CLOSE = ("Connection", "close")
_FORWARDED_FOR = "x-forwarded-for"

OnRefusal = Callable[[dict[str, Any], HTTPStatus], Iterable[tuple[str, str]]]
"""Gets the WSGI environment and the status of a request that the application never sees.

Returns headers for its response."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _LongAnswer:
    """An answer that is sent bit by bit."""

    status: int
    headers: list[tuple[str, str]]
    body: Held


class Server:
    """``application`` as granian's RSGI target.

    ``max_size`` limits a body in bytes, ``max_marked_size`` one that has a header of
    ``_MARKS_OF_LARGE``. ``connection_limits`` bound what one client can hold.
    """

    def __init__(
        self,
        application: Application,
        *,
        max_size: int,
        max_marked_size: int,
        on_refusal: OnRefusal,
        deadlines: Deadlines = DEADLINES,
        connection_limits: ConnectionLimits = NO_CONNECTION_LIMITS,
        outgoing: Outgoing | None = None,
    ) -> None:
        self._application = application
        self._max_size = max_size
        self._max_marked_size = max_marked_size
        self._on_refusal = on_refusal
        self._deadlines = deadlines
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._room = Room(LARGE_BODIES)
        self._outgoing = outgoing or Outgoing()
        self._limits = connection_limits
        self._watch = ConnectionWatch(connection_limits)

    def __rsgi_init__(self, _loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work, in a new server process (RSGI)."""
        parent = multiprocessing.parent_process()
        if parent is not None and parent.pid is not None:
            end_with_parent(parent.pid)
        self._watch.start()

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        """Clear up at the end of a server process (RSGI)."""
        self._watch.stop()

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
        long = await loop.run_in_executor(self._pool, self._answer, scope, exchange, body, *extra)
        if long is not None:
            try:
                await _send(exchange, long)
            finally:
                long.body.close()

    def _body_limit(self, headers: Headers) -> int:
        marked = any(name in headers for name in _MARKS_OF_LARGE)
        return self._max_marked_size if marked else self._max_size

    def _answer(
        self,
        scope: Scope,
        exchange: Exchange,
        body: BytesIO | TooLarge,
        *extra: tuple[str, str],
    ) -> _LongAnswer | None:
        """Run the application in this thread, and hand what it answers to granian.

        Returns a long answer, which the event loop then sends.
        """
        status, headers = HTTPStatus.INTERNAL_SERVER_ERROR.value, [*extra]

        def start_response(line: str, fields: list[tuple[str, str]], exc_info: Any = None) -> None:
            nonlocal status, headers
            status, headers = int(line[:3]), [*fields, *extra]

        environ = environ_of(scope, body)
        try:
            result = self._application(environ, start_response)
            try:
                client = self._limits.client_of(environ["REMOTE_ADDR"])
                content = _path_of(result) or self._outgoing.hold(result, client)
            finally:
                if hasattr(result, "close"):
                    result.close()
        except NoRoom:
            _log.warning("server.responses_waiting", path=scope.path)
            retry = [_CLOSE, ("Retry-After", "5")]
            exchange.response_bytes(HTTPStatus.SERVICE_UNAVAILABLE, retry, _FULL)
            return None
        except Exception:  # noqa: BLE001 - whatever it is, this thread goes on
            _log.exception("server.fault", path=scope.path)
            named = [(ID_HEADER, environ[ID_KEY])] if ID_KEY in environ else []
            exchange.response_bytes(HTTPStatus.INTERNAL_SERVER_ERROR, [_CLOSE, *named], b"")
            return None
        if isinstance(content, Held):
            return _LongAnswer(status, _with_length(headers, content.size), content)
        if isinstance(content, bytes):
            exchange.response_bytes(status, headers, content)
        else:
            exchange.response_file(status, headers, content)
        return None


def _with_length(headers: list[tuple[str, str]], size: int) -> list[tuple[str, str]]:
    if any(name.lower() == "content-length" for name, _ in headers):
        return headers
    return [*headers, ("Content-Length", str(size))]


def _path_of(result: Iterable[bytes]) -> str | None:
    """Return where a response's file is, if granian can send it from there."""
    return result.path if isinstance(result, SentFile) else None


async def _send(exchange: Exchange, answer: _LongAnswer) -> None:
    """Hand a long answer over bit by bit, as the client reads it."""
    transport = exchange.response_stream(answer.status, answer.headers)
    # granian raises its own kind of RuntimeError once the client is gone.
    with suppress(TimeoutError, RuntimeError):
        for chunk in answer.body:
            async with asyncio.timeout(_CHUNK_SECONDS):
                await transport.send_bytes(chunk)
