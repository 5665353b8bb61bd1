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

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from http import HTTPStatus
from string import printable
from typing import Any
from urllib.parse import quote

from flask import Flask, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import RequestRedirect
from werkzeug.wsgi import ClosingIterator

from app.ports import Ports
from app.web.client_ip import is_trusted_proxy
from app.web.dispatch import Application, StartResponse
from app.web.http_request import CURRENT_REQUEST, UNMATCHED, HttpRequest, current_request
from app.web.installation import Installation
from app.web.logs import REQUEST_ID
from app.web.response_bodies import SentFile

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
        closes = [getattr(result, "close", _nothing), finish]
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
    """Put the hooks around ``app``; whatever is mounted on it later has to be inside."""
    hooks = RequestHooks(app.wsgi_app, installation, lambda *asked: _match(app, *asked))
    app.extensions[EXTENSION] = hooks
    app.wsgi_app = hooks  # type: ignore[method-assign]
    app.before_request(_note_route)


def request_hooks(app: Flask) -> RequestHooks:
    """Return the hooks of ``app``."""
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


def _note_route() -> None:
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


def _nothing() -> None:
    pass


def _new_id(ports: Ports) -> str:
    return ports.randomness.secret(_ID_BYTES).hex()
