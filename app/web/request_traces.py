"""The request hook that makes a span of every request, while traces are on."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.ports.monitoring import SpanKind, Traces
from app.web.access_log import PROBES
from app.web.http_request import HttpRequest
from app.web.request_hooks import RequestHook


def make_request_traces(traces: Traces) -> RequestHook:
    """Return the hook; a request continues the trace of a trusted proxy."""

    @contextmanager
    def trace(request: HttpRequest) -> Iterator[None]:
        if request.path in PROBES:
            yield
            return
        with traces.span(request.method, SpanKind.SERVER, traceparent=request.traceparent) as span:
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
