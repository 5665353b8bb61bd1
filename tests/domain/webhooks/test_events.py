"""The register of events: every name of the catalogue, and all that there is to know about it."""

import pytest

from app.domain.events import EVENTS, Event, EventType, OrderPaid, default_query


def test_event_register_equals_the_catalogue() -> None:
    assert [EventType.ANY_EVENTS, *EVENTS] == list(EventType)


@pytest.mark.parametrize("kind", EVENTS.values(), ids=lambda kind: kind.__name__)
def test_every_event_has_a_description(kind: type[Event]) -> None:
    assert EVENTS[kind.type] is kind
    assert kind.__name__.lower() == kind.type.replace("_", "").lower()
    assert kind.subject
    assert kind.permission
    assert kind.description.endswith(".")
    assert kind.selection


def test_default_query_selects_the_events_fields() -> None:
    query = default_query(OrderPaid)
    assert query.startswith("subscription { event { ... on OrderPaid { order { id number ")
    assert query.count("{") == query.count("}")
