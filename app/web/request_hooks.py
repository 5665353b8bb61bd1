"""The hook that sees every HTTP request, for access logs, metrics and tracing.

A hook is a context manager around each request, whether the GraphQL server, Flask or the server in
front of both responds (which refuses bodies that are too large or too slow). For example::

    @contextmanager
    def trace(request: HttpRequest) -> Iterator[None]:
        with tracer.start_as_current_span(request.path) as span:
            yield
            span.set_attribute("http.response.status_code", request.status)

    add_request_hook(app, trace)
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import structlog
from flask import Flask
from werkzeug.datastructures import EnvironHeaders
from werkzeug.wsgi import ClosingIterator, get_path_info

from app.ports import Ports
from app.web.client_ip import client_address
from app.web.dispatch import Application, StartResponse
from app.web.installation import Installation
from app.web.logs import REQUEST_ID

EXTENSION = "latchkey.request_hooks"

_ID_BYTES = 8
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class HttpRequest:
    """One request as a hook sees it.

    ``id`` is in the log lines of the request and in the answer to an unexpected fault. ``path``
    has no query string, which can hold secrets. ``status`` and ``seconds`` are set once the
    response has been handed to the server.
    """

    id: str
    method: str
    path: str
    client_ip: str | None
    headers: EnvironHeaders
    status: int = 0
    seconds: float = 0.0


RequestHook = Callable[[HttpRequest], AbstractContextManager[object]]
"""Entered before the request is handled, left after its response. What it raises fails it."""


class RequestHooks:
    """The hooks of one application, around its outermost WSGI application."""

    def __init__(self, application: Application, installation: Installation) -> None:
        self._application = application
        self._installation = installation
        self.hooks: list[RequestHook] = []

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        request_id = _new_id(self._installation.ports)
        outer = REQUEST_ID.set(request_id)
        try:
            if not self.hooks:
                return self._application(environ, start_response)
            return self._run(environ, start_response, request_id)
        finally:
            REQUEST_ID.reset(outer)

    def refused(self, environ: dict[str, Any], status: HTTPStatus) -> None:
        """Show the hooks a request that was refused before it reached the application."""
        if self.hooks:
            request, stack = self._enter(environ, _new_id(self._installation.ports))
            request.status = status
            stack.close()

    def _run(
        self, environ: dict[str, Any], start_response: StartResponse, request_id: str
    ) -> Iterable[bytes]:
        request, stack = self._enter(environ, request_id)

        def start(line: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            request.status = int(line[:3])
            return start_response(line, headers, *exc_info)

        try:
            result = self._application(environ, start)
        except BaseException:
            request.status = HTTPStatus.INTERNAL_SERVER_ERROR
            stack.close()
            raise
        if isinstance(result, list):
            stack.close()
            return result
        return ClosingIterator(result, stack.close)

    def _enter(self, environ: dict[str, Any], request_id: str) -> tuple[HttpRequest, ExitStack]:
        """Enter the hooks; they are left, in reverse order, when the stack is closed."""
        request = HttpRequest(
            id=request_id,
            method=environ["REQUEST_METHOD"],
            path=f"{environ.get('SCRIPT_NAME', '')}{get_path_info(environ)}",
            client_ip=client_address(
                environ.get("REMOTE_ADDR"),
                environ.get("HTTP_X_FORWARDED_FOR"),
                self._installation.trusted_proxies,
            ),
            headers=EnvironHeaders(environ),
        )
        with ExitStack() as stack:
            for hook in self.hooks:
                stack.enter_context(hook(request))
            stack.callback(_stop_clock, request, time.perf_counter())
            return request, stack.pop_all()


def install_request_hooks(app: Flask, installation: Installation) -> None:
    """Put the hooks around ``app``; whatever is mounted on it later has to be inside."""
    hooks = RequestHooks(app.wsgi_app, installation)
    app.extensions[EXTENSION] = hooks
    app.wsgi_app = hooks  # type: ignore[method-assign]


def request_hooks(app: Flask) -> RequestHooks:
    """Return the hooks of ``app``."""
    found: RequestHooks = app.extensions[EXTENSION]
    return found


def add_request_hook(app: Flask, hook: RequestHook) -> None:
    """Call ``hook`` for every request to ``app`` from now on, inside the hooks added earlier."""
    request_hooks(app).hooks.append(hook)


def current_request_id(ports: Ports) -> str:
    """Return the current request's ID, or a new one outside of requests."""
    return REQUEST_ID.get() or _new_id(ports)


@contextmanager
def log_request(request: HttpRequest) -> Iterator[None]:
    """Write a line for the request: the hook behind ``ACCESS_LOG``."""
    yield
    _log.info(
        "request",
        method=request.method,
        path=request.path,
        status=request.status,
        milliseconds=round(request.seconds * 1000, 1),
        client_ip=request.client_ip,
        request_id=request.id,
    )


def _stop_clock(request: HttpRequest, started: float) -> None:
    request.seconds = time.perf_counter() - started


def _new_id(ports: Ports) -> str:
    return ports.randomness.secret(_ID_BYTES).hex()
