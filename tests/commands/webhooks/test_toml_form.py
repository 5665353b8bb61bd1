"""A webhook as a text to edit: whatever it holds is read back as it was."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.commands.webhooks.edit import Unreadable, format_toml, merged_draft, parse_toml
from app.domain.values.inputs import ABSENT
from app.ports.instance import InstanceApp, InstanceWebhook, WebhookDraft
from tests.fixtures.cases import cases

APP = InstanceApp("QXBwOjE=", "Warehouse", is_active=True)
PLAIN = InstanceWebhook(
    id="V2ViaG9vazox",
    app=APP,
    name="hook",
    target_url="https://app.example.com/hook",
    is_active=True,
    events=("ORDER_PAID",),
    query="",
    custom_headers={"X-Key": "7"},
)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
webhooks = st.builds(
    InstanceWebhook,
    id=st.just("V2ViaG9vazox"),
    app=st.just(APP),
    name=texts,
    target_url=texts,
    is_active=st.booleans(),
    events=st.lists(texts, max_size=3).map(tuple),
    query=texts | st.just("subscription {\n\tevent { id }\n}\n") | st.just("'''"),
    custom_headers=st.dictionaries(texts, texts, max_size=3),
)


@given(webhooks)
def test_what_was_not_touched_is_no_change(webhook: InstanceWebhook) -> None:
    assert parse_toml(webhook, format_toml(webhook)) == WebhookDraft()


@cases(
    ("before", "after", "draft"),
    [
        ('"hook"', '"new"', WebhookDraft(name="new")),
        ("active = true", "active = false", WebhookDraft(is_active=False)),
        ('["ORDER_PAID"]', "[]", WebhookDraft(events=())),
        ('{"X-Key" = "7"}', "{}", WebhookDraft(custom_headers={})),
        ('query = ""', 'query = """\nsubscription"""', WebhookDraft(query="subscription")),
        ('name = "hook"\n', "", WebhookDraft()),
    ],
)
def test_what_was_changed_is_said_and_nothing_else(
    before: str, after: str, draft: WebhookDraft
) -> None:
    sheet = format_toml(PLAIN)
    assert before in sheet
    assert parse_toml(PLAIN, sheet.replace(before, after)) == draft


def test_events_are_ignored_when_a_query_is_set() -> None:
    draft = parse_toml(PLAIN, 'events = ["ORDER_CREATED"]\nquery = "subscription"')
    assert draft.events is ABSENT


@cases(
    ("text", "message"),
    [
        ("name = ", "Invalid value"),
        ("name = 7", "name must be a text"),
        ('active = "yes"', "active must be true or false"),
        ("events = [7]", "Put them in quotes"),
        ("headers = {X-Key = 7}", "Put them in quotes"),
        ('secret = "x"', "Unknown field secret"),
    ],
)
def test_what_cannot_be_meant_is_told(text: str, message: str) -> None:
    with pytest.raises(Unreadable, match=message):
        parse_toml(PLAIN, text)


def test_events_are_added_to_and_removed_from_those_of_now() -> None:
    opened = replace(PLAIN, events=("ORDER_PAID", "ORDER_CREATED"))
    current = replace(opened, events=("ORDER_PAID", "ORDER_FULFILLED"), name="Label printer")
    draft = WebhookDraft(events=("ORDER_CREATED", "ORDER_CANCELLED"))
    merged = merged_draft(opened, opened, current, draft)
    assert merged == WebhookDraft(events=("ORDER_FULFILLED", "ORDER_CANCELLED"))


def test_field_that_someone_else_changed_is_refused_once() -> None:
    current = replace(PLAIN, name="Label printer", custom_headers={"X-Key": "8"})
    for draft in (WebhookDraft(name="Berlin"), WebhookDraft(custom_headers={"X-Key": "9"})):
        with pytest.raises(Unreadable, match="after you opened it"):
            merged_draft(PLAIN, PLAIN, current, draft)
        assert merged_draft(PLAIN, current, current, draft) == draft
    same, other = WebhookDraft(name="Label printer"), WebhookDraft(target_url="https://b.example")
    for draft in (same, other):
        assert merged_draft(PLAIN, PLAIN, current, draft) == draft
