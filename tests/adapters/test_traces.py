"""Traces: from a request over operation and statements to the delivery of its event."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sqlalchemy import select, text

from app import models
from app.adapters.database.sql_database import connect_database
from app.adapters.traces import OpenTelemetryTraces
from app.composition.factory import create_app
from app.composition.settings import Settings
from app.composition.wiring import make_traces
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import ProductUpdated
from app.ports import Ports
from app.ports.http import HttpResponse
from app.ports.monitoring import NO_TRACES, SpanKind
from app.services.deliveries.fanout import read_event
from app.services.outbox.publisher import add_event
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fakes.strict_http import LOOPBACK
from tests.fixtures.ports import fake_ports
from tests.servers.otlp_collector import otlp_collector

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def traces(exporter: InMemorySpanExporter) -> OpenTelemetryTraces:
    return OpenTelemetryTraces(exporter)


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock, traces: OpenTelemetryTraces) -> Iterator[Ports]:
    database = connect_database(sqlite_url)
    database.trace(traces)
    made = replace(fake_ports(sqlite_url, clock), traces=traces, database=database)
    yield made
    made.database.close()


def by_name(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_request_operation_and_statements_are_one_trace(
    ports: Ports, exporter: InMemorySpanExporter
) -> None:
    client = create_app(ports, Settings(trusted_proxies=LOOPBACK)).test_client()
    response = client.post(
        "/graphql/?secret=x", json={"query": "{ shop { name } }"}, headers={"traceparent": PARENT}
    )
    assert response.status_code == 200
    spans = by_name(exporter)
    request, operation = spans["POST /graphql/"], spans["graphql shop"]
    assert {f"{span.context.trace_id:032x}" for span in spans.values() if span.context} == {TRACE}
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["latchkey.request_id"] == response.headers["X-Request-ID"]
    assert operation.parent == request.context
    statement = spans["SQL"]
    assert statement.attributes is not None
    assert statement.attributes["db.system.name"] == "sqlite"
    assert str(statement.attributes["db.query.text"]).startswith("SELECT")
    assert "secret" not in "".join(span.to_json() for span in spans.values())


def test_client_cannot_choose_the_trace_of_its_request(
    ports: Ports, exporter: InMemorySpanExporter
) -> None:
    client = create_app(ports, Settings()).test_client()
    client.get("/.well-known/jwks.json", headers={"traceparent": PARENT})
    [span] = [span for span in exporter.get_finished_spans() if span.name.startswith("GET")]
    assert span.parent is None
    assert span.context is not None
    assert f"{span.context.trace_id:032x}" != TRACE


def test_probes_have_no_span(ports: Ports, exporter: InMemorySpanExporter) -> None:
    create_app(ports, Settings()).test_client().get("/healthz")
    assert exporter.get_finished_spans() == ()


def test_failed_statement_ends_its_span(
    ports: Ports, traces: OpenTelemetryTraces, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(Exception, match="nothing"), ports.database.reading() as session:
        session.execute(text("SELECT * FROM nothing"))
    [span] = exporter.get_finished_spans()
    assert not span.status.is_ok
    assert traces.traceparent() == ""


def test_trace_context_is_read_and_sent_on(traces: OpenTelemetryTraces) -> None:
    with traces.span("outer", SpanKind.SERVER, traceparent=PARENT):
        sent = traces.traceparent()
    assert sent.startswith(f"00-{TRACE}-")
    assert sent != PARENT
    with traces.span("other", traceparent="nonsense"):
        assert TRACE not in traces.traceparent()
    assert traces.traceparent() == ""


def test_delivery_continues_the_trace_of_its_event(
    ports: Ports, traces: OpenTelemetryTraces, exporter: InMemorySpanExporter
) -> None:
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200, {}, b""))
    ports = replace(ports, http=http)
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    key = make_delivery(ports, make_webhook(ports, app))
    with traces.span("request", traceparent=PARENT), ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(1))
    with ports.database.transaction() as session:
        note = session.scalars(select(models.OutboxEvent)).one()
        assert read_event(ports, note) == ProductUpdated(1)
        note_id, note.closed_at = note.id, ports.clock.now()
    change_delivery(ports, key, note_id=note_id)
    assert work_off(ports) == 1
    [sent] = http.requests
    assert sent.headers["traceparent"].split("-")[1] == TRACE
    [span] = [span for span in exporter.get_finished_spans() if span.name.startswith("webhook ")]
    assert span.context is not None
    assert f"{span.context.span_id:016x}" == sent.headers["traceparent"].split("-")[2]


def test_traces_are_off_without_the_standard_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    assert make_traces() is NO_TRACES
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "none")
    assert make_traces() is NO_TRACES
    with NO_TRACES.span("nothing") as span:
        span.rename("still nothing")
        span.add({"a": 1})
    assert NO_TRACES.traceparent() == ""


def test_spans_are_sent_by_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    with otlp_collector() as (url, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        monkeypatch.setenv("OTEL_SERVICE_NAME", "front-door")
        traces = make_traces()
        with traces.span("a span"):
            pass
        [resource] = received.get(timeout=180).resource_spans
    names = {item.key: item.value.string_value for item in resource.resource.attributes}
    assert names["service.name"] == "front-door"
    assert resource.scope_spans[0].spans[0].name == "a span"
