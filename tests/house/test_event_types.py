"""The events are listed once, in ``EventType``; everything else reads that list."""

import ast
import re

import pytest

from app.domain.events import EVENTS, SYNC_EVENTS, UNSENT_EVENTS, EventType
from app.graphql.schema import schema
from tests.house.sources import application

pytestmark = pytest.mark.xdist_group("sources")

THE_LIST = "app/domain/events.py"
ERROR_CODES = {EventType.ACCOUNT_CONFIRMED}
"""Events whose names are error codes of Saleor, too."""


def test_no_other_file_of_the_application_spells_an_events_name() -> None:
    names = set(EventType) - {EventType.ANY_EVENTS} - ERROR_CODES
    named = re.compile("|".join(names))  # spares most modules the search in their tree
    spelled = [
        f"{source.path}:{node.lineno}: {node.value}"
        for source in application()
        if source.path != THE_LIST and named.search(source.text)
        for node in source.nodes
        if isinstance(node, ast.Constant) and node.value in names
    ]
    assert spelled == []


def test_api_offers_exactly_the_listed_events() -> None:
    asynchronous = [*EventType, *UNSENT_EVENTS]
    assert offered("WebhookEventTypeAsyncEnum") == asynchronous
    assert offered("WebhookEventTypeSyncEnum") == [*SYNC_EVENTS]
    assert offered("WebhookEventTypeEnum") == [*asynchronous, *SYNC_EVENTS]


def test_no_event_is_both_sent_and_unsent() -> None:
    assert not {*EventType} & {*UNSENT_EVENTS}


def offered(name: str) -> list[str]:
    return list(schema.graphql_schema.type_map[name].to_kwargs()["values"])


def test_each_listed_event_has_its_class() -> None:
    assert set(EVENTS) == set(EventType) - {EventType.ANY_EVENTS}
