"""The hook that sees every HTTP request, for access logs, metrics and tracing.

A hook is a context manager around each request, whether the GraphQL server, Flask or the server in
front of both responds (which refuses bodies that are too large or too slow). For example::

    @contextmanager
    def trace(request: HttpRequest) -> Iterator[None]:
        with tracer.start_as_current_span(request.path) as span:
            yield
            span.set_attribute("http.response.status_code", request.status)

    add_request_hook(app, trace)

Every response has the request's ID in ``X-Request-ID``, with or without hooks.
"""

import logging
import re
import time
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from http import HTTPMethod, HTTPStatus
from string import printable
from typing import Any, NamedTuple
from urllib.parse import quote

import structlog
from flask import Flask, request
from werkzeug.datastructures import EnvironHeaders
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import RequestRedirect
from werkzeug.wsgi import ClosingIterator, get_path_info

from app.domain.authorization.actor import Actor, describe_actor
from app.domain.values.errors import TokenFault
from app.domain.values.ip_addresses import Network
from app.ports import Ports, monitoring
from app.web.bodies import SentFile
from app.web.caller import client_address, is_trusted_proxy
from app.web.dispatch import Application, StartResponse
from app.web.installation import Installation
from app.web.logs import REQUEST_ID

UNMATCHED = "unmatched"
"""The route of a path that no route matches; paths themselves can hold IDs and secrets."""


class OperationOutcome(StrEnum):
    """The result of a GraphQL operation: ERROR if fields failed, REFUSED if it wasn't executed."""

    OK = "ok"
    ERROR = "error"
    REFUSED = "refused"
    CLOSED = "closed"
    UNAVAILABLE = "unavailable"
    FAULT = "fault"


class OperationRun(NamedTuple):
    """A GraphQL operation of a request; ``root_fields`` are names of the schema."""

    root_fields: tuple[str, ...]
    outcome: OperationOutcome
    seconds: float = 0.0


@dataclass(slots=True)
class HttpRequest:
    """One request as a hook sees it.

    ``id`` is in the log lines of the request, in its response's ``X-Request-ID`` and in the answer
    to an unexpected fault. ``route`` is the pattern that its path matched. ``actor`` is the caller
    once known, anonymous ones included. ``status``, ``bytes_sent`` and ``seconds`` are set once
    the response has been handed to the server.
    """

    id: str
    environ: dict[str, Any] = field(repr=False)
    trusted_proxies: Sequence[Network] = ()
    status: int = 0
    seconds: float = 0.0
    bytes_sent: int = 0
    route: str = UNMATCHED
    actor: Actor | None = None
    operations: list[OperationRun] = field(default_factory=list)

    @property
    def method(self) -> str:
        method: str = self.environ["REQUEST_METHOD"]
        return method

    @property
    def path(self) -> str:
        """The path without query string, which can hold secrets."""
        return f"{self.environ.get('SCRIPT_NAME', '')}{get_path_info(self.environ)}"

    @property
    def headers(self) -> EnvironHeaders:
        return EnvironHeaders(self.environ)

    @property
    def traceparent(self) -> str:
        """The span that a trusted proxy made of this request; empty if there is none."""
        given: str = self.environ.get("HTTP_TRACEPARENT", "")
        peer = self.environ.get("REMOTE_ADDR")
        return given if given and is_trusted_proxy(peer, self.trusted_proxies) else ""

    @property
    def client_ip(self) -> str | None:
        forwarded_for = self.environ.get("HTTP_X_FORWARDED_FOR")
        return client_address(self.environ.get("REMOTE_ADDR"), forwarded_for, self.trusted_proxies)


CURRENT_REQUEST: ContextVar[HttpRequest | None] = ContextVar("http_request", default=None)


def current_request() -> HttpRequest | None:
    """Return the request that is being handled, or ``None`` if no hook wants to know of it."""
    return CURRENT_REQUEST.get()


def record_actor(actor: Actor) -> None:
    """Note who the caller of the current request is."""
    request = CURRENT_REQUEST.get()
    if request is not None:
        request.actor = actor


EXTENSION = "latchkey.request_hooks"
ID_HEADER = "X-Request-ID"
ID_KEY = "latchkey.request_id"
"""Where the WSGI environment has the ID, for a response that no application made."""

_ID_BYTES = 8
_GIVEN_ID = re.compile(r"[A-Za-z0-9._:=+/@-]{1,128}")
"""Forms of IDs that proxies send: UUIDs, hexadecimal, Amazon's ``Root=1-…``."""

RequestHook = Callable[[HttpRequest], AbstractContextManager[object]]
"""Entered before the request is handled, left after its response. What it raises fails it."""

Observer = Callable[[HttpRequest], None]
"""Called with each request after its response, quicker than a hook."""

RouteOf = Callable[[str, str], str]
"""Returns the route of a method and path."""


class RequestHooks:
    """The hooks of one application, around its outermost WSGI application."""

    def __init__(
        self, application: Application, installation: Installation, route_of: RouteOf | None = None
    ) -> None:
        self._application = application
        self._installation = installation
        self._route_of = route_of or (lambda _method, _path: UNMATCHED)
        self.hooks: list[RequestHook] = []
        self.observers: list[Observer] = []

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        _escape_query(environ)
        request_id = environ[ID_KEY] = self._id_of(environ)
        outer = REQUEST_ID.set(request_id)
        try:
            if self.hooks or self.observers:
                return self._run(environ, start_response, request_id)

            def start(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
                return start_response(line, [*headers, (ID_HEADER, request_id)], *exc_info)

            return self._application(environ, start)
        finally:
            REQUEST_ID.reset(outer)

    def refused(self, environ: dict[str, Any], status: HTTPStatus) -> list[tuple[str, str]]:
        """Show the hooks a request that was refused before it reached the application.

        Returns the headers that its response gets.
        """
        request_id = self._id_of(environ)
        if self.hooks or self.observers:
            started = time.perf_counter()
            request = self._request(environ, request_id)
            request.route = self._route_of(request.method, request.path)
            with self._hooked(request):
                request.status = status
                self._finish(request, started)
        return [(ID_HEADER, request_id)]

    def _run(
        self, environ: dict[str, Any], start_response: StartResponse, request_id: str
    ) -> Iterable[bytes]:
        started = time.perf_counter()
        request = self._request(environ, request_id)
        stack = self._hooked(request) if self.hooks else None
        sent_length: str | None = None

        def start(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal sent_length
            request.status = int(line[:3])
            sent_length = dict(headers).get("Content-Length")
            return start_response(line, [*headers, (ID_HEADER, request_id)], *exc_info)

        def finish() -> None:
            self._finish(request, started)
            if stack is not None:
                stack.close()

        outer = CURRENT_REQUEST.set(request)
        try:
            result = self._application(environ, start)
        except BaseException:
            request.status = HTTPStatus.INTERNAL_SERVER_ERROR
            finish()
            raise
        finally:
            CURRENT_REQUEST.reset(outer)
        if isinstance(result, list):
            request.bytes_sent = sum(map(len, result))
            finish()
            return result
        if isinstance(result, SentFile):
            # Sent by the server in front, which finds the file by this type.
            request.bytes_sent = int(sent_length or 0)
            finish()
            return result
        closes = [getattr(result, "close", lambda: None), finish]
        return ClosingIterator(_counted(result, request), closes)

    def _request(self, environ: dict[str, Any], request_id: str) -> HttpRequest:
        return HttpRequest(request_id, environ, self._installation.trusted_proxies)

    def _hooked(self, request: HttpRequest) -> ExitStack:
        """Enter the hooks; they are left, in reverse order, when the stack is closed."""
        with ExitStack() as stack:
            for hook in self.hooks:
                stack.enter_context(hook(request))
            return stack.pop_all()

    def _finish(self, request: HttpRequest, started: float) -> None:
        request.seconds = time.perf_counter() - started
        for observe in self.observers:
            observe(request)

    def _id_of(self, environ: dict[str, Any]) -> str:
        """Return the ID that a trusted proxy gave the request, or a new one."""
        given: str | None = environ.get("HTTP_X_REQUEST_ID")
        if given is not None and _GIVEN_ID.fullmatch(given):
            peer = environ.get("REMOTE_ADDR")
            if is_trusted_proxy(peer, self._installation.trusted_proxies):
                return given
        return _new_id(self._installation.ports)


def install_request_hooks(app: Flask, installation: Installation) -> None:
    """Put the hooks around ``app``; what is mounted on it later must be inside them."""
    hooks = RequestHooks(app.wsgi_app, installation, lambda *asked: _match(app, *asked))
    app.extensions[EXTENSION] = hooks
    app.wsgi_app = hooks  # type: ignore[method-assign]
    app.before_request(_remember_route)


def request_hooks(app: Flask) -> RequestHooks:
    found: RequestHooks = app.extensions[EXTENSION]
    return found


def add_request_hook(app: Flask, hook: RequestHook) -> None:
    """Call ``hook`` for every request to ``app`` from now on, inside the hooks added earlier."""
    request_hooks(app).hooks.append(hook)


def add_observer(app: Flask, observer: Observer) -> None:
    """Call ``observer`` after every request to ``app`` from now on."""
    request_hooks(app).observers.append(observer)


def current_request_id(ports: Ports) -> str:
    """Return the current request's ID, or a new one outside of requests."""
    return REQUEST_ID.get() or _new_id(ports)


def _escape_query(environ: dict[str, Any]) -> None:
    """Escape all but ASCII in the query string, as URLs do: Werkzeug raises for other bytes."""
    query: str = environ.get("QUERY_STRING") or ""
    if not query.isascii():
        environ["QUERY_STRING"] = quote(query.encode("latin1"), safe=printable)


def _remember_route() -> None:
    noted = current_request()
    if noted is not None and request.url_rule is not None:
        noted.route = request.url_rule.rule


def _match(app: Flask, method: str, path: str) -> str:
    routes = app.url_map.bind("")
    try:
        return routes.match(path, method, return_rule=True)[0].rule
    except MethodNotAllowed as refused:
        other = next(iter(refused.valid_methods or ()), None)
        return UNMATCHED if other is None else _match(app, other, path)
    except (HTTPException, RequestRedirect):
        return UNMATCHED


def _counted(chunks: Iterable[bytes], request: HttpRequest) -> Iterator[bytes]:
    for chunk in chunks:
        request.bytes_sent += len(chunk)
        yield chunk


def _new_id(ports: Ports) -> str:
    return ports.randomness.secret(_ID_BYTES).hex()


PROBES = ("/healthz", "/readyz")
"""Routes whose successful requests aren't logged or measured: they come every few seconds."""

_MAX_ROOT_FIELDS = 10
_HASHES = 2**32
_log = structlog.get_logger("latchkey.access")


def make_access_log(sample: float) -> Observer:
    """Return what logs the share ``sample`` of requests, and all with 400 and above."""

    def log_request(request: HttpRequest) -> None:
        if _is_logged(request, sample):
            _write(request)

    return log_request


def _is_logged(request: HttpRequest, sample: float) -> bool:
    if request.status >= HTTPStatus.BAD_REQUEST:
        return True
    if request.route in PROBES:
        return False
    # By the ID, so that all systems that sample by it keep the same requests.
    return zlib.crc32(request.id.encode()) < sample * _HASHES


def _write(request: HttpRequest) -> None:
    names = dict.fromkeys(name for run in request.operations for name in run.root_fields)
    failed = request.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    _log.log(
        logging.ERROR if failed else logging.INFO,
        "request",
        request_id=request.id,
        method=request.method,
        route=request.route,
        status=request.status,
        milliseconds=round(request.seconds * 1000, 1),
        bytes=request.bytes_sent,
        client_ip=request.client_ip,
        **({"root_fields": list(names)[:_MAX_ROOT_FIELDS]} if names else {}),
        **describe_actor(request.actor),
    )


_METHODS = frozenset(HTTPMethod)
_OTHER, _SEVERAL = "other", "several"

_Seen = tuple[str, str, int, float, list[OperationRun], TokenFault | None]


def make_request_metrics(metrics: monitoring.Metrics) -> Observer:
    """Return what notes each request, to be counted in ``metrics`` every second."""
    seen: deque[_Seen] = deque()
    note = seen.append

    def measure(request: HttpRequest) -> None:
        actor = request.actor
        note(
            (
                request.method,
                request.route,
                request.status,
                request.seconds,
                request.operations,
                None if actor is None else actor.fault,
            )
        )

    metrics.fold_with(lambda: _fold(metrics, seen))
    return measure


def _fold(metrics: monitoring.Metrics, seen: deque[_Seen]) -> None:
    requests: defaultdict[tuple[str, str, int], list[float]] = defaultdict(list)
    operations: defaultdict[tuple[tuple[str, ...], OperationOutcome], list[float]] = defaultdict(
        list
    )
    faults: Counter[TokenFault] = Counter()
    while seen:
        method, route, status, seconds, runs, fault = seen.popleft()
        requests[method, route, status].append(seconds)
        for run in runs:
            operations[run[:2]].append(run[2])
        if fault is not None:
            faults[fault] += 1
    for (method, route, status), durations in requests.items():
        if route not in PROBES:
            known = method if method in _METHODS else _OTHER
            metrics.count(monitoring.REQUESTS, known, route, str(status), amount=len(durations))
            metrics.observe_all(monitoring.REQUEST_SECONDS, durations, route)
    for (root_fields, outcome), durations in operations.items():
        field = _field(root_fields)
        metrics.count(monitoring.OPERATIONS, field, outcome.value, amount=len(durations))
        if root_fields:
            metrics.observe_all(monitoring.OPERATION_SECONDS, durations, field)
    for fault, number in faults.items():
        metrics.count(monitoring.TOKENS_REFUSED, fault.value, amount=number)


def _field(root_fields: tuple[str, ...]) -> str:
    if not root_fields:
        return _OTHER
    return root_fields[0] if len(root_fields) == 1 else _SEVERAL


def make_request_traces(traces: monitoring.Traces) -> RequestHook:
    """Return the hook; a request continues the trace of a trusted proxy."""

    @contextmanager
    def trace(request: HttpRequest) -> Iterator[None]:
        if request.path in PROBES:
            yield
            return
        with traces.span(
            request.method, monitoring.SpanKind.SERVER, traceparent=request.traceparent
        ) as span:
            yield
            span.rename(f"{request.method} {request.route}")
            span.add(
                {
                    "http.request.method": request.method,
                    "http.route": request.route,
                    "http.response.status_code": request.status,
                    "latchkey.request_id": request.id,
                }
            )

    return trace
