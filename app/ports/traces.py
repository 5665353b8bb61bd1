"""Traces: spans of what a request or a delivery does, for OpenTelemetry."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import Protocol

Attributes = Mapping[str, str | int | float | bool]


class SpanKind(StrEnum):
    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"


class Span(Protocol):
    """A running span."""

    def rename(self, name: str) -> None:
        """Replace its name."""

    def add(self, attributes: Attributes) -> None:
        """Add attributes; no secrets, no personal data."""


class EndSpan(Protocol):
    def __call__(self, *, failed: bool) -> None:
        """End the span."""


class Traces(Protocol):
    """Where spans go."""

    @property
    def is_on(self) -> bool:
        """Whether spans are sent; check it before doing work for a span."""

    def span(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        attributes: Attributes | None = None,
        traceparent: str = "",
    ) -> AbstractContextManager[Span]:
        """Run the block in a span, below the current one or ``traceparent`` (W3C Trace Context).

        What the block raises marks the span as failed.
        """

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> EndSpan:
        """Begin a childless span below the current one; return what ends it."""

    def traceparent(self) -> str:
        """Return the current span for the header ``traceparent``; empty outside of spans."""


def _end_nothing(*, failed: bool) -> None:
    return


class _NoSpan:
    def rename(self, name: str) -> None:
        return

    def add(self, attributes: Attributes) -> None:
        return


class NoTraces:
    """Traces that are switched off."""

    is_on = False
    _span: AbstractContextManager[Span] = nullcontext(_NoSpan())

    def span(
        self,
        name: str,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        attributes: Attributes | None = None,
        traceparent: str = "",
    ) -> AbstractContextManager[Span]:
        return self._span

    def begin(self, name: str, kind: SpanKind, attributes: Attributes) -> EndSpan:
        return _end_nothing

    def traceparent(self) -> str:
        return ""


NO_TRACES = NoTraces()
