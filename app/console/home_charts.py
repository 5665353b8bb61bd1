"""Charts of the first page."""

from collections.abc import Iterable
from datetime import timedelta

from app.console.stack_charts import Kind, Span, StackChart, make_stack_chart
from app.domain.shop.traffic import TrafficHour, TrafficKind

_KINDS = {
    TrafficKind.CUSTOMER: Kind("ok", "Customers", "{number:,} from customers"),
    TrafficKind.ANONYMOUS: Kind("idle", "Anonymous", "{number:,} anonymous"),
    TrafficKind.APP: Kind("app", "Apps", "{number:,} from apps"),
    TrafficKind.STAFF: Kind("staff", "Staff", "{number:,} from staff"),
    TrafficKind.INVALID: Kind("bad", "Unauthorized", "{number:,} unauthorized"),
}
"""The parts of a column, from below."""


def make_requests_chart(hours: Iterable[TrafficHour]) -> StackChart:
    """Return the API requests by hour and kind of caller."""
    spans = [Span(hour.began, tuple(hour.by_kind[kind] for kind in _KINDS)) for hour in hours]
    return make_stack_chart(
        "API requests by hour",
        "{label}: no requests",
        tuple(_KINDS.values()),
        spans,
        timedelta(hours=1),
    )
