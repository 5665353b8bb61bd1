"""The WSGI application behind granian, which speaks HTTP, in one of two ways.

``Server`` (RSGI) is for any clients. It collects a body within deadlines and bounds while no
thread waits for it. One of ``THREADS`` threads then runs the application, and the response is sent
as fast as the client reads, within bounds for what all responses take together
(``bodies``) and for what one client can hold (``connections``). So clients that send or
read slowly hold a connection and nothing else.

``BufferedServer`` (WSGI) is for a reverse proxy that reads whole requests and buffers responses:
a request takes a thread at once. The hand-over between event loop and threads, which it saves, is
two fifths of the processor time of ``me``.
"""

import asyncio
import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from typing import IO, Any

import structlog
from werkzeug.wsgi import ClosingIterator

from app.web import bodies
from app.web.connections import ConnectionWatch
from app.web.dispatch import Application, StartResponse
from app.web.installation import NO_CONNECTION_LIMITS, ConnectionLimits
from app.web.parent_process import end_with_parent
from app.web.request_hooks import ID_HEADER, ID_KEY

THREADS = 16
"""Requests that one process handles at once: more than the limit for logins."""

_CHUNK_SECONDS = 60.0
"""After this long a client that doesn't read is dropped where ``ConnectionWatch`` doesn't run."""

_FULL = b"Service temporarily unavailable"

_MARKS_OF_LARGE = ("authorization", "authorization-bearer", "cookie", "graphql-require-preflight")
"""Headers that a client has to send with a large body; a page of another site can't by itself."""

_MARKED_KEYS = tuple(f"HTTP_{name.upper().replace('-', '_')}" for name in _MARKS_OF_LARGE)

_CLOSE = ("Connection", "close")
_FORWARDED_FOR = "x-forwarded-for"

STOPPING_KEY = "latchkey.is_stopping"
"""In the WSGI environment of requests that arrive once the server is to stop."""

OnRefusal = Callable[[dict[str, Any], HTTPStatus], Iterable[tuple[str, str]]]
"""Gets the WSGI environment and the status of a request that the application never sees.

Returns headers for its response."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _LongAnswer:
    """An answer that is sent bit by bit."""

    status: int
    headers: list[tuple[str, str]]
    body: bodies.Held


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The largest body in bytes, and the largest one that has a header of ``_MARKS_OF_LARGE``."""

    any_client: int
    marked: int

    def limit_for(self, names: bodies.Headers | dict[str, Any], marks: Iterable[str]) -> int:
        """Return the limit of a request with headers of these ``names``, by its ``marks``."""
        return self.marked if any(mark in names for mark in marks) else self.any_client


class Server:
    """``application`` as granian's RSGI target.

    ``connection_limits`` bound what one client can hold.
    """

    def __init__(
        self,
        application: Application,
        body_limits: BodyLimits,
        *,
        on_refusal: OnRefusal,
        deadlines: bodies.Deadlines = bodies.DEADLINES,
        connection_limits: ConnectionLimits = NO_CONNECTION_LIMITS,
        outgoing: bodies.Outgoing | None = None,
    ) -> None:
        self._application = application
        self._body_limits = body_limits
        self._on_refusal = on_refusal
        self._deadlines = deadlines
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._room = bodies.Quota(bodies.LARGE_BODIES)
        self._outgoing = outgoing or bodies.Outgoing()
        self._limits = connection_limits
        self._watch = ConnectionWatch(connection_limits)

    def __rsgi_init__(self, _loop: asyncio.AbstractEventLoop) -> None:
        """Begin to work, in a new server process (RSGI)."""
        _begin_process(self._watch)

    def __rsgi_del__(self, _loop: asyncio.AbstractEventLoop) -> None:
        """Clear up at the end of a server process (RSGI)."""
        self._watch.stop()

    async def __rsgi__(self, scope: bodies.Scope, exchange: bodies.Exchange) -> None:
        """Answer one request (RSGI)."""
        headers = scope.headers
        if _FORWARDED_FOR in headers and headers.get(_FORWARDED_FOR) is None:
            # granian leaves out values that aren't ASCII. Without this header, whose start the
            # client controls, the client would have the address of the last proxy.
            self._refuse(scope, exchange, bodies.Refused(HTTPStatus.BAD_REQUEST))
            return
        announced = headers.get("content-length")
        if announced is None and "transfer-encoding" not in headers:
            await self._run(scope, exchange, BytesIO())
            return
        length = None if announced is None else int(announced)
        incoming = bodies.Incoming(exchange, length, self._deadlines)
        try:
            limit = self._body_limits.limit_for(headers, _MARKS_OF_LARGE)
            body = await incoming.read(limit, self._room)
            if isinstance(body, BytesIO):
                await self._run(scope, exchange, body)
            else:
                await self._run(scope, exchange, body, _CLOSE)
                await incoming.discard()
        except bodies.Refused as refusal:
            self._refuse(scope, exchange, refusal)
            if refusal.status is not HTTPStatus.REQUEST_TIMEOUT:
                await incoming.discard()
        finally:
            self._room.give_back(incoming.taken)

    def _refuse(
        self, scope: bodies.Scope, exchange: bodies.Exchange, refusal: bodies.Refused
    ) -> None:
        more = self._on_refusal(bodies.environ_of(scope, BytesIO()), refusal.status)
        exchange.response_bytes(refusal.status, [_CLOSE, *refusal.headers, *more], refusal.body)

    async def _run(
        self,
        scope: bodies.Scope,
        exchange: bodies.Exchange,
        body: BytesIO | bodies.TooLarge,
        *extra: tuple[str, str],
    ) -> None:
        loop = asyncio.get_running_loop()
        long = await loop.run_in_executor(self._pool, self._answer, scope, exchange, body, *extra)
        if long is not None:
            try:
                await _send(exchange, long)
            finally:
                long.body.close()

    def _answer(
        self,
        scope: bodies.Scope,
        exchange: bodies.Exchange,
        body: BytesIO | bodies.TooLarge,
        *extra: tuple[str, str],
    ) -> _LongAnswer | None:
        """Run the application in this thread, and hand what it answers to granian.

        Returns a long answer, which the event loop then sends.
        """
        status, headers = HTTPStatus.INTERNAL_SERVER_ERROR.value, [*extra]

        def start_response(line: str, fields: list[tuple[str, str]], exc_info: Any = None) -> None:
            nonlocal status, headers
            status, headers = int(line[:3]), [*fields, *extra]

        environ = bodies.environ_of(scope, body)
        try:
            result = self._application(environ, start_response)
            try:
                client = self._limits.client_of(environ["REMOTE_ADDR"])
                content = _path_of(result) or self._outgoing.hold(result, client)
            finally:
                if hasattr(result, "close"):
                    result.close()
        except bodies.NoRoom:
            _log.warning("server.responses_waiting", path=scope.path)
            retry = [_CLOSE, ("Retry-After", "5")]
            exchange.response_bytes(HTTPStatus.SERVICE_UNAVAILABLE, retry, _FULL)
            return None
        except Exception:  # noqa: BLE001 - whatever it is, this thread goes on
            _log.exception("server.fault", path=scope.path)
            exchange.response_bytes(
                HTTPStatus.INTERNAL_SERVER_ERROR, _headers_of_fault(environ), b""
            )
            return None
        if isinstance(content, bodies.Held):
            return _LongAnswer(status, _with_length(headers, content.size), content)
        if isinstance(content, bytes):
            exchange.response_bytes(status, headers, content)
        else:
            exchange.response_file(status, headers, content)
        return None


class BufferedServer:
    """``application`` as granian's WSGI target, behind a proxy that reads whole requests first.

    ``__call__`` reads each body in one go: a client that reached it directly and sent slowly would
    hold a thread. ``environment_names`` are the variables of this process, which granian adds to
    each request, although secrets can be among them.
    """

    def __init__(
        self,
        application: Application,
        body_limits: BodyLimits,
        *,
        on_refusal: OnRefusal,
        environment_names: Iterable[str],
        connection_limits: ConnectionLimits = NO_CONNECTION_LIMITS,
    ) -> None:
        self._application = application
        self._body_limits = body_limits
        self._on_refusal = on_refusal
        self._room = bodies.Quota(bodies.LARGE_BODIES)
        self._environment_names = tuple(environment_names)
        self._watch = ConnectionWatch(connection_limits)
        _begin_process(self._watch)

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request (PEP 3333)."""
        for name in self._environment_names:
            environ.pop(name, None)
        taken = 0
        try:
            limit = self._body_limits.limit_for(environ, _MARKED_KEYS)
            size = _announced_size(environ, limit)
            if size is None:
                environ["wsgi.input"] = BytesIO()
            else:
                taken = self._take_room(min(size, limit))
                environ["wsgi.input"] = _read(environ, size, limit)
            result = self._application(environ, start_response)
            return result if isinstance(result, list) else ClosingIterator(result)
        except bodies.Refused as refusal:
            more = self._on_refusal(environ, refusal.status)
            line = f"{refusal.status.value} {refusal.status.phrase}"
            start_response(line, [_CLOSE, *refusal.headers, *more])
            return [refusal.body]
        except Exception:  # noqa: BLE001 - whatever it is, this thread goes on
            _log.exception("server.fault", path=environ["PATH_INFO"])
            start_response("500 Internal Server Error", _headers_of_fault(environ))
            return [b""]
        finally:
            self._room.give_back(taken)

    def _take_room(self, size: int) -> int:
        if size <= bodies.SMALL_BODY:
            return 0
        if not self._room.take(size):
            raise bodies.no_room()
        return size


def close_connections_when(
    is_stopping: Callable[[], bool], application: Application
) -> Application:
    """Return ``application``, whose responses end their connections once the server is to stop.

    Proxies that keep connections then go to another server before this one refuses them.
    """

    def run(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if not is_stopping():
            return application(environ, start_response)
        environ[STOPPING_KEY] = True

        def start(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(line, [*headers, _CLOSE], *exc_info)

        return application(environ, start)

    return run


def _announced_size(environ: dict[str, Any], limit: int) -> int | None:
    """Return how large a body can be by its headers; ``None`` if there is none.

    Raises ``Refused`` if the client's address can't be told.
    """
    if environ.get("HTTP_X_FORWARDED_FOR") == "":
        # granian empties what isn't ASCII; the address would be the last proxy's.
        raise bodies.Refused(HTTPStatus.BAD_REQUEST)
    announced = environ.get("CONTENT_LENGTH")
    if announced is not None:
        return int(announced)
    return limit + 1 if "HTTP_TRANSFER_ENCODING" in environ else None


def _read(environ: dict[str, Any], size: int, limit: int) -> BytesIO | bodies.TooLarge:
    """Return the body of at most ``size`` bytes, or ``TooLarge`` beyond ``limit``.

    Raises ``Refused`` when it ends before its announced length.
    """
    source = environ["wsgi.input"]
    chunked = environ.pop("HTTP_TRANSFER_ENCODING", None) is not None
    body = source.read(min(size, limit + 1))
    if size > limit and (not chunked or len(body) > limit):
        _discard(source)
        return bodies.TooLarge()
    if chunked:
        environ["CONTENT_LENGTH"] = str(len(body))
    elif len(body) < size:
        raise bodies.Refused(HTTPStatus.BAD_REQUEST)
    return BytesIO(body)


def _discard(source: IO[bytes]) -> None:
    """Read on for a while: a connection closed at once is reset, and the response lost."""
    for _ in range(bodies.MAX_DISCARDED // bodies.SMALL_BODY):
        if not source.read(bodies.SMALL_BODY):
            return


def _begin_process(watch: ConnectionWatch) -> None:
    """Set up a new server process: it ends with its parent, and its connections are watched."""
    parent = multiprocessing.parent_process()
    if parent is not None and parent.pid is not None:
        end_with_parent(parent.pid)
    watch.start()


def _headers_of_fault(environ: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the headers of a response to a request at which the application failed."""
    return [_CLOSE, *([(ID_HEADER, environ[ID_KEY])] if ID_KEY in environ else [])]


def _with_length(headers: list[tuple[str, str]], size: int) -> list[tuple[str, str]]:
    if any(name.lower() == "content-length" for name, _ in headers):
        return headers
    return [*headers, ("Content-Length", str(size))]


def _path_of(result: Iterable[bytes]) -> str | None:
    """Return where a response's file is, if granian can send it from there."""
    return result.path if isinstance(result, bodies.SentFile) else None


async def _send(exchange: bodies.Exchange, answer: _LongAnswer) -> None:
    """Hand a long answer over bit by bit, as the client reads it."""
    transport = exchange.response_stream(answer.status, answer.headers)
    # granian raises its own kind of RuntimeError once the client is gone.
    with suppress(TimeoutError, RuntimeError):
        for chunk in answer.body:
            async with asyncio.timeout(_CHUNK_SECONDS):
                await transport.send_bytes(chunk)
