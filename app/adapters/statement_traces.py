"""Spans of SQL statements; parameters, which can be personal, stay out of them."""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext, ExecutionContext

from app.ports.monitoring import Attributes, EndSpan, SpanKind, Traces

_MAX_TEXT = 1000
_OPEN = "_end_latchkey_span"


def attributes_of(engine: Engine, statement: str) -> Attributes:
    """Return the attributes of a statement, by OpenTelemetry's conventions."""
    return {"db.system.name": engine.dialect.name, "db.query.text": statement[:_MAX_TEXT]}


def trace_statements(engine: Engine, traces: Traces) -> None:
    """Make a span of every statement that ``engine`` runs."""

    def begin(
        _connection: Any, _cursor: Any, statement: str, _values: Any, context: Any, _many: Any
    ) -> None:
        ended = traces.begin("SQL", SpanKind.CLIENT, attributes_of(engine, statement))
        setattr(context, _OPEN, ended)

    def end(
        _connection: Any,
        _cursor: Any,
        _statement: str,
        _values: Any,
        context: ExecutionContext | None,
        _many: Any,
    ) -> None:
        _leave(context, failed=False)

    def fail(failed: ExceptionContext) -> None:
        _leave(failed.execution_context, failed=True)

    event.listen(engine, "before_cursor_execute", begin)
    event.listen(engine, "after_cursor_execute", end)
    event.listen(engine, "handle_error", fail)


def _leave(context: ExecutionContext | None, *, failed: bool) -> None:
    ended: EndSpan | None = getattr(context, _OPEN, None)
    if ended is not None:
        setattr(context, _OPEN, None)
        ended(failed=failed)
