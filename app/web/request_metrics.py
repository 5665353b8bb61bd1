"""The request hook that measures every request, while OPERATIONS_PORT is set."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPMethod

from app.ports.metrics import (
    OPERATION_SECONDS,
    OPERATIONS,
    REQUEST_SECONDS,
    REQUESTS,
    TOKENS_REFUSED,
    Metrics,
)
from app.web.access_log import PROBES
from app.web.http_request import HttpRequest, OperationRun
from app.web.request_hooks import RequestHook

_METHODS = frozenset(HTTPMethod)
_OTHER, _SEVERAL = "other", "several"


def make_request_metrics(metrics: Metrics) -> RequestHook:
    """Return the hook that counts requests and operations in ``metrics``."""

    @contextmanager
    def measure(request: HttpRequest) -> Iterator[None]:
        yield
        if request.route not in PROBES:
            _measure(metrics, request)

    return measure


def _measure(metrics: Metrics, request: HttpRequest) -> None:
    method = request.method if request.method in _METHODS else _OTHER
    metrics.count(REQUESTS, method, request.route, str(request.status))
    metrics.observe(REQUEST_SECONDS, request.seconds, request.route)
    for run in request.operations:
        field = _field(run)
        metrics.count(OPERATIONS, field, run.outcome.value)
        if run.root_fields:
            metrics.observe(OPERATION_SECONDS, run.seconds, field)
    if request.actor is not None and request.actor.fault is not None:
        metrics.count(TOKENS_REFUSED, request.actor.fault.value)


def _field(run: OperationRun) -> str:
    if not run.root_fields:
        return _OTHER
    return run.root_fields[0] if len(run.root_fields) == 1 else _SEVERAL
