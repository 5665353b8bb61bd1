"""Webhooks by GraphQL: an app manages its own, staff who manage apps those of all."""

import json
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries.sending import endpoint_of
from tests.builders.apps import make_app
from tests.builders.people import make_staff, sign_in
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

QUERY = "subscription { event { ...on AppUpdated { app { id } } } }"
FIELDS = "id name identifier targetUrl isActive subscriptionQuery customHeaders secretKey"
CREATE = f"""
mutation ($input: WebhookCreateInput!) {{
  webhookCreate(input: $input) {{
    webhook {{ {FIELDS} asyncEvents {{ eventType }} app {{ id }} }} errors {{ field code }}
  }}
}}"""
UPDATE = f"""
mutation ($id: ID, $identifier: String, $input: WebhookUpdateInput!) {{
  webhookUpdate(id: $id, identifier: $identifier, input: $input) {{
    webhook {{ {FIELDS} asyncEvents {{ eventType }} }} errors {{ field code }}
  }}
}}"""
DELETE = """
mutation ($id: ID, $identifier: String) {
  webhookDelete(id: $id, identifier: $identifier) { webhook { name } errors { field code } }
}"""
ONE = f"query ($id: ID!) {{ webhook(id: $id) {{ {FIELDS} }} }}"
TARGET = "https://app.example.com/hook"


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def owner(ports: Ports) -> tuple[int, str]:
    """An app without a single permission, and its token."""
    return make_app(ports, "owner")


@pytest.fixture
def webhook(ports: Ports, owner: tuple[int, str]) -> int:
    return make_webhook(ports, owner[0])


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)).access


def problems(payload: Any) -> list[tuple[str | None, str]]:
    assert payload["webhook"] is None
    return [(error["field"], error["code"]) for error in payload["errors"]]


def stored(ports: Ports) -> models.Webhook:
    with ports.database.reading() as session:
        return session.scalars(select(models.Webhook)).one()


def test_app_creates_its_own_webhook_without_a_permission(
    api: ApiClient, owner: tuple[int, str]
) -> None:
    made = api.run(CREATE, owner[1], input={"targetUrl": TARGET, "query": QUERY, "name": "a"})

    assert made["errors"] == []
    assert made["webhook"]["app"] == {"id": to_global_id("App", owner[0])}
    assert made["webhook"]["asyncEvents"] == [{"eventType": "APP_UPDATED"}]
    assert api.run(ONE, owner[1], id=made["webhook"]["id"])["subscriptionQuery"] == QUERY


def test_staff_choose_the_app_of_a_webhook(
    api: ApiClient, manager: str, owner: tuple[int, str]
) -> None:
    input_ = {"targetUrl": TARGET, "asyncEvents": ["ANY_EVENTS"]}
    assert problems(api.run(CREATE, manager, input=input_)) == [("app", "REQUIRED")]
    unknown = input_ | {"app": to_global_id("App", 99999)}
    assert problems(api.run(CREATE, manager, input=unknown)) == [("app", "NOT_FOUND")]
    made = api.run(CREATE, manager, input=input_ | {"app": to_global_id("App", owner[0])})
    assert made["errors"] == []


def test_header_names_are_case_insensitive(api: ApiClient, owner: tuple[int, str]) -> None:
    headers = {"x-key": "1", "AUTHORIZATION-b": "2"}
    input_ = {"targetUrl": TARGET, "query": QUERY, "customHeaders": json.dumps(headers)}
    made = api.run(CREATE, owner[1], input=input_)
    assert json.loads(made["webhook"]["customHeaders"]) == headers


@cases(
    ("input_", "problem"),
    [
        ({"targetUrl": None}, ("targetUrl", "REQUIRED")),
        ({"targetUrl": "http://127.1/"}, ("targetUrl", "INVALID")),
        ({"query": "{"}, ("query", "SYNTAX")),
        ({"query": "{ shop { name } }"}, ("query", "MISSING_SUBSCRIPTION")),
        ({"query": "subscription { event { issuedAt } }"}, ("query", "MISSING_EVENT")),
        ({"query": "subscription { event { nope } }"}, ("query", "GRAPHQL_ERROR")),
        ({"syncEvents": ["ORDER_CALCULATE_TAXES"]}, ("syncEvents", "INVALID")),
        ({"customHeaders": '{"Cookie": "1"}'}, ("customHeaders", "INVALID_CUSTOM_HEADERS")),
        ({"customHeaders": "[1]"}, ("customHeaders", "INVALID_CUSTOM_HEADERS")),
        ({"customHeaders": '"no JSON within"'}, ("customHeaders", "INVALID_CUSTOM_HEADERS")),
        ({"name": "a\nb"}, ("name", "INVALID")),
        ({"secretKey": "a\nb"}, ("secretKey", "INVALID")),
    ],
)
def test_invalid_input_is_refused_and_changes_nothing(
    api: ApiClient,
    ports: Ports,
    owner: tuple[int, str],
    webhook: int,
    input_: dict[str, object],
    problem: tuple[str, str],
) -> None:
    assert problems(api.run(CREATE, owner[1], input={"targetUrl": TARGET} | input_)) == [problem]
    before = stored(ports).target_url
    if input_ != {"targetUrl": None}:
        update = api.run(UPDATE, owner[1], id=to_global_id("Webhook", webhook), input=input_)
        assert problems(update) == [problem]
    assert stored(ports).target_url == before


def test_empty_texts_count_as_none(api: ApiClient, owner: tuple[int, str]) -> None:
    input_ = {"targetUrl": TARGET, "name": "", "query": "", "secretKey": "", "identifier": ""}
    webhook = api.run(CREATE, owner[1], input=input_)["webhook"]

    assert [webhook[name] for name in ("name", "subscriptionQuery", "secretKey")] == [None] * 3


@cases(
    ("events", "field"),
    [
        ({"asyncEvents": ["CATEGORY_CREATED"]}, "asyncEvents"),
        ({"asyncEvents": ["PRODUCT_CREATED", "NOTIFY_USER"]}, "asyncEvents"),
        ({"events": ["OBSERVABILITY"]}, "events"),
        ({"events": ["TRANSACTION_INITIALIZE_SESSION"]}, "events"),
        ({"syncEvents": ["PAYMENT_AUTHORIZE"]}, "syncEvents"),
        ({"query": QUERY, "asyncEvents": ["SALE_TOGGLE"]}, "asyncEvents"),
    ],
)
def test_events_that_are_never_sent_are_invalid(
    api: ApiClient, ports: Ports, owner: tuple[int, str], events: dict[str, object], field: str
) -> None:
    key = to_global_id("Webhook", make_webhook(ports, owner[0]))
    created = api.run(CREATE, owner[1], input={"targetUrl": TARGET, **events})
    assert problems(created) == [(field, "INVALID")]
    assert problems(api.run(UPDATE, owner[1], id=key, input=events)) == [(field, "INVALID")]
    assert api.code(CREATE, None, input={"targetUrl": TARGET, **events}) == "PermissionDenied"


def test_sent_events_are_read_back(api: ApiClient, owner: tuple[int, str]) -> None:
    given = {"targetUrl": TARGET, "asyncEvents": ["PRODUCT_CREATED", "PRODUCT_DELETED"]}
    webhook = api.run(CREATE, owner[1], input=given)["webhook"]
    assert webhook["asyncEvents"] == [
        {"eventType": "PRODUCT_CREATED"},
        {"eventType": "PRODUCT_DELETED"},
    ]
    assert webhook["customHeaders"] == "{}"


def test_absent_fields_keep_their_values(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    input_ = {"targetUrl": TARGET, "query": QUERY, "name": "a", "secretKey": "sesame"}
    made = api.run(CREATE, owner[1], input=input_)["webhook"]
    target = "https://other.example.com/hook"
    update = {"targetUrl": target, "query": ""}
    changed = api.run(UPDATE, owner[1], id=made["id"], input=update)["webhook"]

    present = {name: value for name, value in made.items() if name != "app"}
    assert changed == present | {"targetUrl": target}


def test_another_apps_webhook_is_not_found(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    other = make_app(ports, "other", Permission.MANAGE_PRODUCTS)[1]
    key = to_global_id("Webhook", make_webhook(ports, owner[0]))

    changed = api.run(UPDATE, other, id=key, input={"name": "mine"})
    assert problems(changed) == [("id", "NOT_FOUND")]
    assert problems(api.run(DELETE, other, id=key)) == [("id", "NOT_FOUND")]
    assert api.run(ONE, other, id=key) is None
    assert stored(ports).name == "hook"


def test_app_finds_its_webhook_by_identifier(api: ApiClient, owner: tuple[int, str]) -> None:
    input_ = {"targetUrl": TARGET, "identifier": "orders"}
    api.run(CREATE, owner[1], input=input_)

    assert problems(api.run(CREATE, owner[1], input=input_)) == [("identifier", "UNIQUE")]
    changed = api.run(UPDATE, owner[1], identifier="orders", input={"name": "b"})
    assert changed["webhook"]["name"] == "b"


def test_error_names_the_argument_that_named_the_webhook(
    api: ApiClient, owner: tuple[int, str]
) -> None:
    made = api.run(CREATE, owner[1], input={"targetUrl": TARGET, "identifier": "orders"})
    both = {"id": made["webhook"]["id"], "identifier": "orders"}

    for document, rest in ((UPDATE, {"input": {"name": "b"}}), (DELETE, {})):
        missing = api.run(document, owner[1], identifier="nope", **rest)
        assert problems(missing) == [("identifier", "NOT_FOUND")]
        assert problems(api.run(document, owner[1], **both, **rest)) == [("id", "GRAPHQL_ERROR")]
        assert problems(api.run(document, owner[1], **rest)) == [("id", "GRAPHQL_ERROR")]
    assert api.run(ONE, owner[1], id=both["id"])["name"] != "b"
    assert api.run(DELETE, owner[1], identifier="orders")["errors"] == []
    assert api.run(ONE, owner[1], id=both["id"]) is None


def test_replaced_secret_signs_for_one_more_day(
    api: ApiClient, ports: Ports, owner: tuple[int, str], clock: FakeClock
) -> None:
    key = to_global_id("Webhook", make_webhook(ports, owner[0], secret="old"))
    changed = api.run(UPDATE, owner[1], id=key, input={"secretKey": "new"})
    assert changed["webhook"]["secretKey"] == "new"

    assert endpoint_of(ports, stored(ports)).secrets == ("new", "old")
    clock.pass_(hours=25)
    assert endpoint_of(ports, stored(ports)).secrets == ("new",)


def test_removed_secret_no_longer_signs(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    key = to_global_id("Webhook", make_webhook(ports, owner[0], secret="old"))
    api.run(UPDATE, owner[1], id=key, input={"secretKey": ""})

    assert endpoint_of(ports, stored(ports)).secrets == ()


def test_enabling_a_webhook_clears_the_disable_reason(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    key = make_webhook(ports, owner[0])
    with ports.database.transaction() as session:
        webhook = session.get_one(models.Webhook, key)
        webhook.is_active, webhook.disabled_reason = False, "It failed."
        webhook.failing_since = ports.clock.now()
    api.run(UPDATE, owner[1], id=to_global_id("Webhook", key), input={"isActive": True})

    now = stored(ports)
    assert (now.is_active, now.disabled_reason, now.failing_since) == (True, "", None)


def test_every_change_is_audited_without_the_secret(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    input_ = {"targetUrl": TARGET, "secretKey": "sesame", "customHeaders": '{"X-Key": "sesame"}'}
    made = api.run(CREATE, owner[1], input=input_)["webhook"]
    api.run(UPDATE, owner[1], id=made["id"], input={"name": "b"})
    api.run(DELETE, owner[1], id=made["id"])

    with ports.database.reading() as session:
        rows = session.scalars(select(models.AuditEntry).order_by(models.AuditEntry.id)).all()
    assert [row.action for row in rows] == ["webhook.create", "webhook.update", "webhook.delete"]
    assert rows[1].after == {"name": "b"}
    assert "sesame" not in str([(row.before, row.after) for row in rows])


def test_unreadable_secret_is_reported_and_other_fields_are_returned(
    ports: Ports, api: ApiClient, owner: tuple[int, str]
) -> None:
    app_id, token = owner
    key = make_webhook(ports, app_id, secret="whsec_of_yesterday")
    after = ApiClient(
        replace(ports, encryption=AesEncryption("another secret of this installation"))
    )
    response = after.ask(ONE, token, id=to_global_id("Webhook", key))
    assert response["data"]["webhook"]["name"] == "hook"
    (error,) = response["errors"]
    assert error["path"] == ["webhook", "secretKey"]
    assert "SECRET_KEY" in error["message"]
