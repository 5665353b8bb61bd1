"""Webhooks of the platform, as they are stored here."""

from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.imports.runs import Outcome
from app.domain.imports.webhooks import WebhookSurroundings, convert_webhook
from app.domain.values.errors import Problem
from tests.fixtures.cases import cases

SECRET = "sesame-7f3a"
WEBHOOK: Mapping[str, object] = {
    "id": 9,
    "app_id": 7,
    "name": "Hooks",
    "target_url": "https://post.example.com/hook",
    "is_active": True,
    "secret_key": SECRET,
    "subscription_query": "subscription { event { __typename } }",
    "custom_headers": {"X-Shop": "1"},
    "filterable_channel_slugs": [],
    "identifier": None,
}
AROUND = WebhookSurroundings(
    ("customer_created",), frozenset({Permission.MANAGE_USERS}), lambda _query: None
)


def refuse(_query: str) -> Problem | None:
    return Problem("GRAPHQL_ERROR", "There is no field {name}.", values={"name": "fly"})


def test_webhook_without_awkward_values_has_no_findings() -> None:
    converted = convert_webhook(WEBHOOK, AROUND)
    webhook = converted.value
    assert webhook is not None
    assert converted.findings == ()
    assert (webhook.id, webhook.app_id, webhook.identifier) == (9, 7, "")
    assert (webhook.is_active, webhook.secret) == (True, SECRET)
    assert webhook.events == (EventType.CUSTOMER_CREATED,)
    assert webhook.custom_headers == {"X-Shop": "1"}
    assert SECRET not in repr(webhook)


def test_inactive_webhook_stays_inactive() -> None:
    webhook = convert_webhook({**WEBHOOK, "is_active": False}, AROUND).value
    assert webhook is not None
    assert not webhook.is_active


def test_any_events_stays_any_events() -> None:
    converted = convert_webhook(WEBHOOK, replace(AROUND, event_names=("any_events",)))
    assert converted.value is not None
    assert converted.value.events == (EventType.ANY_EVENTS,)
    assert converted.findings == ()


@cases(
    ("values", "code"),
    [
        ({"target_url": "awssqs://key:sesame@sqs.example.com/queue"}, "TARGET_SCHEME_UNSUPPORTED"),
        ({"target_url": "gcpubsub://cloud.example.com/t"}, "TARGET_SCHEME_UNSUPPORTED"),
        ({"target_url": "https://u:sesame@x.example.com"}, "TARGET_URL_INVALID"),
        ({"target_url": f"https://x.example.com/{'x' * 2048}"}, "TARGET_URL_INVALID"),
        ({"target_url": ""}, "TARGET_URL_INVALID"),
    ],
)
def test_webhook_without_an_http_endpoint_is_left_out(
    values: Mapping[str, object], code: str
) -> None:
    converted = convert_webhook({**WEBHOOK, **values}, AROUND)
    assert converted.value is None
    (finding,) = converted.findings
    assert (finding.code, finding.outcome) == (code, Outcome.LEFT_OUT)
    assert "sesame" not in finding.reason


@cases(
    ("values", "around", "code"),
    [
        ({"target_url": "http://10.0.0.1/hook"}, AROUND, "TARGET_PRIVATE"),
        ({"filterable_channel_slugs": ["uk", "us"]}, AROUND, "FILTERED_BY_CHANNEL"),
        ({}, replace(AROUND, check_query=refuse), "QUERY_REFUSED"),
        ({"subscription_query": "# \u202e"}, AROUND, "QUERY_REFUSED"),
    ],
)
def test_webhook_that_would_send_something_else_is_disabled(
    values: Mapping[str, object], around: WebhookSurroundings, code: str
) -> None:
    row = {**WEBHOOK, **values}
    converted = convert_webhook(row, around)
    assert converted.value is not None
    assert not converted.value.is_active
    assert converted.value.query == row["subscription_query"]
    (finding,) = converted.findings
    assert (finding.code, finding.outcome) == (code, Outcome.DISABLED)
    assert finding.reason


def test_allowed_private_network_is_no_finding() -> None:
    around = replace(AROUND, allowed_networks=[ip_network("10.0.0.0/8")])
    converted = convert_webhook({**WEBHOOK, "target_url": "http://10.0.0.1/hook"}, around)
    assert converted.findings == ()


def test_unsupported_events_are_dropped() -> None:
    names = ("customer_created", "invoice_requested", "order_calculate_taxes")
    converted = convert_webhook(WEBHOOK, replace(AROUND, event_names=names))
    assert converted.value is not None
    assert converted.value.is_active
    assert converted.value.events == (EventType.CUSTOMER_CREATED,)
    (finding,) = converted.findings
    assert finding.code == "EVENT_NOT_SUPPORTED"
    assert "INVOICE_REQUESTED, ORDER_CALCULATE_TAXES" in finding.reason


def test_webhook_whose_events_are_all_unsupported_is_disabled() -> None:
    converted = convert_webhook(WEBHOOK, replace(AROUND, event_names=("invoice_requested",)))
    assert converted.value is not None
    assert not converted.value.is_active
    assert [each.code for each in converted.findings] == ["EVENT_NOT_SUPPORTED", "NO_EVENT_LEFT"]


def test_event_without_its_permission_is_reported() -> None:
    around = replace(AROUND, event_names=("customer_created", "product_created"))
    converted = convert_webhook(WEBHOOK, around)
    assert converted.value is not None
    assert converted.value.events == (EventType.CUSTOMER_CREATED, EventType.PRODUCT_CREATED)
    (finding,) = converted.findings
    assert (finding.code, finding.outcome) == ("EVENT_NOT_PERMITTED", Outcome.NO_EFFECT)
    assert "MANAGE_PRODUCTS, so it won't receive PRODUCT_CREATED" in finding.reason


def test_app_without_permissions_of_events_is_one_finding() -> None:
    around = replace(AROUND, event_names=("any_events",), app_permissions=frozenset())
    (finding,) = convert_webhook(WEBHOOK, around).findings
    assert finding.code == "EVENT_NOT_PERMITTED"
    assert finding.reason == "The app has no permission that events need, so it won't receive any."


def test_refused_headers_are_dropped_and_named_without_values() -> None:
    headers = {"X-A": "1", "Cookie": "sesame", "X-B": "bad\nsesame", "x-a": "2", "X-C": 5}
    converted = convert_webhook({**WEBHOOK, "custom_headers": headers}, AROUND)
    assert converted.value is not None
    assert converted.value.custom_headers == {"X-A": "1"}
    (finding,) = converted.findings
    assert finding.code == "HEADER_REFUSED"
    assert "'Cookie', 'X-B', 'x-a', 'X-C'" in finding.reason
    assert "sesame" not in finding.reason


def test_second_identifier_of_an_app_is_dropped() -> None:
    row = {**WEBHOOK, "identifier": "hooks"}
    converted = convert_webhook(row, replace(AROUND, taken_identifiers={"hooks"}))
    assert converted.value is not None
    assert converted.value.identifier == ""
    assert [each.code for each in converted.findings] == ["IDENTIFIER_TAKEN"]
