"""The request hook that makes a span of every request, while traces are on."""

from collections.abc import Iterator
from contextlib import contextmanager

from app.ports.traces import SpanKind, Traces
from app.web.access_log import PROBES
from app.web.http_request import HttpRequest
from app.web.request_hooks import RequestHook


def make_request_traces(traces: Traces) -> RequestHook:
    """Return the hook; a request with ``traceparent`` continues the trace of its client."""

    @contextmanager
    def trace(request: HttpRequest) -> Iterator[None]:
        if request.path in PROBES:
            yield
            return
        parent = request.environ.get("HTTP_TRACEPARENT", "")
        with traces.span(request.method, SpanKind.SERVER, traceparent=parent) as span:
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
