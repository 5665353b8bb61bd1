"""The events are listed once, in ``EventType``; everything else reads that list."""

import ast

from app.domain.events import EVENTS
from app.domain.events.event import EventType
from app.graphql.schema import schema
from tests.house.sources import application

THE_LIST = "app/domain/events/event.py"


def test_no_other_file_of_the_application_spells_an_events_name() -> None:
    names = set(EventType) - {EventType.ANY_EVENTS}
    spelled = [
        f"{source.path}:{node.lineno}: {node.value}"
        for source in application()
        if source.path != THE_LIST
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert spelled == []


def test_api_offers_exactly_the_listed_events() -> None:
    types = schema.graphql_schema.type_map
    for name in ("WebhookEventTypeAsyncEnum", "WebhookEventTypeEnum"):
        assert list(types[name].to_kwargs()["values"]) == [event.value for event in EventType]


def test_each_listed_event_has_its_class() -> None:
    assert set(EVENTS) == set(EventType) - {EventType.ANY_EVENTS}
