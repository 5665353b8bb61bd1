"""Measures every request, while OPERATIONS_PORT is set."""

from collections import Counter, defaultdict, deque
from http import HTTPMethod

from app.domain.values.errors import TokenFault
from app.ports.monitoring import (
    OPERATION_SECONDS,
    OPERATIONS,
    REQUEST_SECONDS,
    REQUESTS,
    TOKENS_REFUSED,
    Metrics,
)
from app.web.access_log import PROBES
from app.web.http_request import HttpRequest, OperationOutcome, OperationRun
from app.web.request_hooks import Observer

_METHODS = frozenset(HTTPMethod)
_OTHER, _SEVERAL = "other", "several"

_Seen = tuple[str, str, int, float, list[OperationRun], TokenFault | None]


def make_request_metrics(metrics: Metrics) -> Observer:
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


def _fold(metrics: Metrics, seen: deque[_Seen]) -> None:
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
            metrics.count(REQUESTS, known, route, str(status), amount=len(durations))
            metrics.observe_all(REQUEST_SECONDS, durations, route)
    for (root_fields, outcome), durations in operations.items():
        field = _field(root_fields)
        metrics.count(OPERATIONS, field, outcome.value, amount=len(durations))
        if root_fields:
            metrics.observe_all(OPERATION_SECONDS, durations, field)
    for fault, number in faults.items():
        metrics.count(TOKENS_REFUSED, fault.value, amount=number)


def _field(root_fields: tuple[str, ...]) -> str:
    if not root_fields:
        return _OTHER
    return root_fields[0] if len(root_fields) == 1 else _SEVERAL
