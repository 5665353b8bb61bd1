"""Charts of the first page."""

from collections.abc import Iterable
from datetime import timedelta

from app.console.stack_charts import Kind, Span, StackChart, make_stack_chart
from app.domain.shop.traffic import TrafficHour, TrafficKind
from app.domain.values.text import translatable
from app.web.translation import text

_KINDS = {
    TrafficKind.CUSTOMER: Kind(
        "ok", translatable("Customers"), translatable("{number:,} from customers")
    ),
    TrafficKind.ANONYMOUS: Kind(
        "idle", translatable("Anonymous"), translatable("{number:,} anonymous")
    ),
    TrafficKind.APP: Kind("app", translatable("Apps"), translatable("{number:,} from apps")),
    TrafficKind.STAFF: Kind("staff", translatable("Staff"), translatable("{number:,} from staff")),
    TrafficKind.INVALID: Kind(
        "bad", translatable("Unauthorized"), translatable("{number:,} unauthorized")
    ),
}
"""The parts of a column, from below."""


def make_requests_chart(hours: Iterable[TrafficHour]) -> StackChart:
    """Return the API requests by hour and kind of caller."""
    spans = [Span(hour.began, tuple(hour.by_kind[kind] for kind in _KINDS)) for hour in hours]
    return make_stack_chart(
        text("API requests by hour"),
        translatable("{label}: no requests"),
        tuple(_KINDS.values()),
        spans,
        timedelta(hours=1),
    )
