"""Each event is one class in ``domain.events``, each type of object one row in each layer."""

from app.console.integrations.event_subjects import SHOWN_SUBJECTS
from app.domain.events import (
    EVENTS,
    SUBJECTS,
    Deletion,
    Event,
    EventType,
    OrderPaid,
    default_query,
)
from app.graphql.events import SUBJECT_TYPES
from app.services.webhooks.event_subjects import SUBJECTS as STORED
from tests.fixtures.cases import cases


def test_event_register_equals_the_catalogue() -> None:
    assert [EventType.ANY_EVENTS, *EVENTS] == list(EventType)


@cases("kind", EVENTS.values())
def test_every_event_has_a_description(kind: type[Event]) -> None:
    assert EVENTS[kind.type] is kind
    assert kind.__name__.lower() == kind.type.replace("_", "").lower()
    assert kind.subject in SUBJECTS
    assert kind.permission
    assert kind.description.endswith(".")
    assert kind.selection


def test_default_query_selects_the_events_fields() -> None:
    query = default_query(OrderPaid)
    assert query.startswith("subscription { event { ... on OrderPaid { order { id number ")
    assert query.count("{") == query.count("}")


def test_each_type_that_events_are_about_has_its_row_in_each_layer() -> None:
    types = {subject.type for subject in SUBJECTS}
    assert set(STORED) == types, "app/services/webhooks/event_subjects.py"
    assert set(SUBJECT_TYPES) == types, "app/graphql/events.py"
    assert set(SHOWN_SUBJECTS) == types, "app/console/integrations/event_subjects.py"


def test_types_with_a_deletion_event_have_snapshots_and_keep_their_names() -> None:
    deletions = {kind.subject.type for kind in EVENTS.values() if issubclass(kind, Deletion)}
    told_of = {type_ for type_, stored in STORED.items() if stored.deletion is not None}
    assert told_of == deletions
