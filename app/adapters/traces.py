"""Traces by the OpenTelemetry SDK, which reads the standard OTEL_* variables."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor, SpanExporter
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.domain.values.installation import VERSION
from app.ports.monitoring import Attributes, EndSpan, Span, SpanKind

_KINDS = {
    SpanKind.INTERNAL: trace.SpanKind.INTERNAL,
    SpanKind.SERVER: trace.SpanKind.SERVER,
    SpanKind.CLIENT: trace.SpanKind.CLIENT,
}
_HEADER = "traceparent"


class _Span:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def add(self, attributes: Attributes) -> None:
        self._span.set_attributes(attributes)


class OpenTelemetryTraces:
    """Sends spans by OTLP over HTTP in a thread, or to ``exporter`` at once."""

    is_on = True

    def __init__(self, exporter: SpanExporter | None = None) -> None:
        ours = Resource({"service.name": "latchkey", "service.version": VERSION})
        provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()))
        provider.add_span_processor(
            BatchSpanProcessor(OTLPSpanExporter())
            if exporter is None
            else SimpleSpanProcessor(exporter)
        )
        self._tracer = provider.get_tracer("latchkey", VERSION)
        self._context = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        attributes: Attributes | None = None,
        traceparent: str = "",
    ) -> Iterator[Span]:
        parent = self._context.extract({_HEADER: traceparent}) if traceparent else None
        with self._tracer.start_as_current_span(
            name,
            parent,
            _KINDS[kind],
            attributes,
            record_exception=False,  # a message can hold personal data; the log has it
        ) as span:
            yield _Span(span)

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> EndSpan:
        span = self._tracer.start_span(name, kind=_KINDS[kind], attributes=attributes)

        def end(*, failed: bool) -> None:
            if failed:
                span.set_status(trace.StatusCode.ERROR)
            span.end()

        return end

    def traceparent(self) -> str:
        carrier: dict[str, str] = {}
        self._context.inject(carrier)
        return carrier.get(_HEADER, "")
