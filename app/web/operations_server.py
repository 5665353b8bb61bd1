"""The listener on OPERATIONS_PORT: health with reasons, and metrics; and readiness for probes.

One process of a host has it, for all servers and workers of the installation there. When that one
ends, the next takes the port.

Readiness is checked once a second at most, however often probes ask.
"""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus
from socketserver import ThreadingMixIn
from threading import BoundedSemaphore, Event, Lock, Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

import orjson
import structlog
from typing_extensions import override
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.wrappers import Request, Response

from app.domain.authorization.actor import OPERATOR
from app.domain.values.ids import to_global_id
from app.domain.values.installation import (
    VERSION,
    CheckResult,
    CheckState,
    PortUnavailable,
    Unreachable,
)
from app.domain.values.times import seconds_since
from app.ports import Ports, monitoring
from app.services.deliveries.backlog import EndpointBacklog
from app.services.operations.background_work import read_backlog
from app.services.operations.environment_checks import REPLICA, UPGRADE, check_readiness

_FRESH_SECONDS = 1.0
_VALID_SECONDS = 10.0
_BUSY = (CheckResult("readiness", CheckState.FAILED, "The check isn't done yet."),)


class Readiness:
    """The latest check of ``ports``.

    A check that hangs, as one of an unreachable database does, holds up one thread; other probes
    get the result before it, or a failure if that is older than 10 seconds.
    """

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._lock = Lock()
        self._findings: tuple[CheckResult, ...] = _BUSY
        self._checked = 0.0

    def findings(self) -> tuple[CheckResult, ...]:
        """Return what the latest check found, checking again if it is older than a second."""
        if self._is_younger(_FRESH_SECONDS):
            return self._findings
        if not self._lock.acquire(blocking=False):
            return self._findings if self._is_younger(_VALID_SECONDS) else _BUSY
        try:
            if not self._is_younger(_FRESH_SECONDS):
                self._findings = check_readiness(self._ports, OPERATOR)
                self._checked = time.monotonic()
        finally:
            self._lock.release()
        return self._findings

    def _is_younger(self, seconds: float) -> bool:
        return bool(self._checked) and time.monotonic() - self._checked < seconds


def is_ready(findings: tuple[CheckResult, ...]) -> bool:
    """Return whether nothing failed that every request needs."""
    return all(finding.state is not CheckState.FAILED for finding in findings)


def is_degraded(findings: tuple[CheckResult, ...]) -> bool:
    """Return whether requests can be served, but not all of them or not as they should be."""
    return is_ready(findings) and any(one.state is CheckState.WARNING for one in findings)


def readiness_status(findings: tuple[CheckResult, ...]) -> str:
    """Return ``ready``, ``degraded`` or ``not ready``, as ``/readyz`` says it."""
    if not is_ready(findings):
        return "not ready"
    return "degraded" if is_degraded(findings) else "ready"


_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_JSON = "application/json"
_MAX_THREADS = 32
_TURN_SECONDS = 1.0

_log = structlog.get_logger(__name__)


class OperationsApp:
    """The WSGI application of the listener."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._readiness = Readiness(ports)
        self._pages = {
            "/healthz": self._healthy,
            "/readyz": self._ready,
            "/metrics": self._metrics,
        }

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = Request(environ)
        page = self._pages.get(request.path)
        answer: Any = NotFound() if page is None else page()
        if request.method not in ("GET", "HEAD"):
            answer = MethodNotAllowed(["GET", "HEAD"])
        return answer(environ, start_response)

    def _healthy(self) -> Response:
        return Response('{"status":"ok"}', content_type=_JSON)

    def _ready(self) -> Response:
        findings = self._readiness.findings()
        ready = is_ready(findings)
        body = {
            "status": readiness_status(findings),
            "checks": [_described(finding) for finding in findings],
        }
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return Response(orjson.dumps(body), status, content_type=_JSON)

    def _metrics(self) -> Response:
        body = self._ports.metrics.render(self.measured())
        return Response(body, content_type=_PROMETHEUS)

    def measured(self) -> Iterator[monitoring.Measurement]:
        """Yield the gauges that are read now, not counted by processes."""
        yield monitoring.BUILD, 1.0, (VERSION,)
        findings = self._readiness.findings()
        ready = is_ready(findings)
        yield monitoring.READY, float(ready), ()
        yield monitoring.DEGRADED, float(is_degraded(findings)), ()
        for finding in findings:
            if finding.subject == REPLICA:
                yield monitoring.REPLICA_READY, float(finding.state is CheckState.FINE), ()
        pending = any(finding.remedy == UPGRADE for finding in findings)
        yield monitoring.MIGRATION_PENDING, float(pending), ()
        if not ready:
            return
        try:
            backlog = read_backlog(self._ports, OPERATOR)
        except Unreachable:
            return  # gone since it was checked; the next scrape says so
        yield monitoring.DELIVERIES_DUE, backlog.deliveries.number, ()
        yield monitoring.OLDEST_DELIVERY, backlog.deliveries.seconds, ()
        yield monitoring.DELIVERIES_HELD_UP, backlog.seconds_without_worker, ()
        yield monitoring.DELIVERIES_RETRYING, backlog.retrying, ()
        for endpoint in backlog.endpoints:
            yield from _endpoint_measurements(endpoint, self._ports.shared_clock.now())
        yield monitoring.EVENTS_OPEN, backlog.events.number, ()
        yield monitoring.OLDEST_EVENT, backlog.events.seconds, ()
        yield monitoring.MAILS_DUE, backlog.mails.number, ()
        yield monitoring.OLDEST_MAIL, backlog.mails.seconds, ()
        yield monitoring.LOGOUTS_WAITING, backlog.logouts.number, ()
        yield monitoring.OLDEST_LOGOUT, backlog.logouts.seconds, ()
        if backlog.heartbeat_age is not None:
            yield monitoring.HEARTBEAT, backlog.heartbeat_age, ()
        if backlog.backup_age is not None:
            yield monitoring.BACKUP_AGE, backlog.backup_age, ()


def _endpoint_measurements(
    endpoint: EndpointBacklog, now: datetime
) -> Iterator[monitoring.Measurement]:
    key = to_global_id("Webhook", endpoint.webhook_id)
    labels = (key, endpoint.webhook_name, endpoint.app_name)
    states: tuple[tuple[str, int, float], ...] = (
        ("due", endpoint.due, endpoint.oldest_due),
        ("retrying", endpoint.retrying, endpoint.oldest_retrying),
    )
    if endpoint.paused_since is not None:
        number = endpoint.due + endpoint.retrying
        states = (("paused", number, max(endpoint.oldest_due, endpoint.oldest_retrying)),)
        yield monitoring.WEBHOOK_PAUSED, seconds_since(endpoint.paused_since, now), labels
    for state, number, seconds in states:
        yield monitoring.WEBHOOK_DELIVERIES, number, (*labels, state)
        yield monitoring.WEBHOOK_OLDEST, seconds, (*labels, state)
    if endpoint.failing_since is not None and endpoint.paused_since is None:
        yield monitoring.WEBHOOK_FAILING, seconds_since(endpoint.failing_since, now), labels


class _Handler(WSGIRequestHandler):
    """Writes no log line for each probe and scrape; silent clients are disconnected."""

    timeout = 10

    @override
    def log_message(self, format: str, *args: object) -> None:
        return


class _Server(ThreadingMixIn, WSGIServer):
    """As Prometheus's own client serves metrics, but with at most ``_MAX_THREADS`` threads.

    Further connections are closed at once: silent clients give theirs back after ten seconds.
    """

    daemon_threads = True
    request_queue_size = _MAX_THREADS

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._free_threads = BoundedSemaphore(_MAX_THREADS)

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free_threads.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except RuntimeError:  # no further thread can be started
                self._free_threads.release()
                raise
        else:
            self.shutdown_request(request)

    @override
    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_threads.release()


def serve_operations(
    ports: Ports,
    host: str,
    port: int,
    stop: Event,
    *,
    port_is_required: bool = False,
    each_tick: Callable[[], None] = lambda: None,
) -> None:
    """Serve until ``stop`` is set, while no other process of the installation does here.

    Each of them asks once a second for its turn. A port that another program has is logged, and
    asked for again; if it is required, raises ``PortUnavailable``.
    """
    problem = ""
    while not stop.is_set():
        if ports.metrics.claim():
            try:
                with _serving(ports, host, port):
                    each_tick()
                    while not stop.wait(_TURN_SECONDS):
                        each_tick()
            except PortUnavailable as error:
                if port_is_required:
                    raise
                if str(error) != problem:
                    problem = str(error)
                    _log.error("operations.port_unavailable", problem=problem)
        each_tick()
        stop.wait(_TURN_SECONDS)


@contextmanager
def offering_operations(ports: Ports, host: str, port: int) -> Iterator[None]:
    """Run ``serve_operations`` in a thread until the block ends."""
    stop = Event()
    thread = Thread(target=serve_operations, name="operations", args=(ports, host, port, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@contextmanager
def _serving(ports: Ports, host: str, port: int) -> Iterator[None]:
    server = _listen(host, port)
    server.set_app(OperationsApp(ports))
    thread = Thread(target=server.serve_forever, name="operations server")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listen(host: str, port: int) -> WSGIServer:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        server_type = type("_Server", (_Server,), {"address_family": family})
        server: WSGIServer = server_type((host, port), _Handler)
    except OSError as error:
        raise PortUnavailable(host, port, error.strerror or str(error)) from error
    return server


def _described(finding: CheckResult) -> dict[str, str]:
    described = {
        "subject": finding.subject,
        "state": finding.state.value,
        "message": finding.message,
    }
    return {**described, "remedy": finding.remedy} if finding.remedy else described
