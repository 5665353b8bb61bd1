"""What was sent to webhooks, and sending it again, by GraphQL."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import AppUpdated, EventType
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.domain.webhooks import saver_of
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.lists import (
    DeliveryFilter,
    attempts_of_deliveries,
    deliveries_of_webhooks,
    show_delivery,
)
from app.services.deliveries.replays import replay_deliveries
from app.services.deliveries.sending import send_deliveries
from app.services.outbox.publisher import add_event
from app.services.webhooks.stored_webhooks import set_saver
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt
from tests.builders.people import make_staff, sign_in
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

QUERY = "subscription { event { ...on AppUpdated { app { id name } } } }"
LIST = """
query ($id: ID!, $filter: EventDeliveryFilterInput) {
  webhook(id: $id) {
    eventDeliveries(first: 10, filter: $filter) {
      edges {
        node {
          id status eventType payload
          attempts(first: 10) { edges { node { status responseStatusCode response } } }
        }
      }
    }
  }
}"""
RETRY = """
mutation ($id: ID!) { eventDeliveryRetry(id: $id) { delivery { status } errors { field code } } }
"""
DRY_RUN = """
mutation ($told: String, $id: ID, $app: ID) {
  webhookDryRun(query: $told, objectId: $id, app: $app) { payload errors { field code } }
}"""
TRIGGER = """
mutation ($webhook: ID!, $id: ID!) {
  webhookTrigger(webhookId: $webhook, objectId: $id) {
    delivery { status eventType payload } errors { field code }
  }
}"""


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(500, {}, b"no"))


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def owner(ports: Ports) -> tuple[int, str]:
    return make_app(ports, "owner", Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)


@pytest.fixture
def manager(ports: Ports) -> str:
    staff = make_staff(
        ports, "staff@example.com", Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS
    )
    return sign_in(ports, staff).access


def problems(payload: Any) -> list[tuple[str | None, str]]:
    return [(error["field"], error["code"]) for error in payload["errors"]]


def work(ports: Ports) -> None:
    fan_out_events(ports, WORKER)
    for batch in lease_due_deliveries(ports, WORKER):
        send_deliveries(ports, WORKER, batch)


def delivered(ports: Ports) -> Sequence[models.Delivery]:
    with ports.database.reading() as session:
        return session.scalars(select(models.Delivery).order_by(models.Delivery.id)).all()


def rows(ports: Ports) -> list[int | None]:
    with ports.database.reading() as session:
        return [
            session.scalar(select(func.count()).select_from(table))
            for table in (models.Delivery, models.OutboxEvent, models.AuditEntry)
        ]


def test_app_reads_its_deliveries_and_every_attempt(
    api: ApiClient, ports: Ports, owner: tuple[int, str], http: FakeHttp
) -> None:
    key = make_webhook(ports, owner[0])
    make_delivery(ports, key)
    work(replace(ports, http=http))

    shown = api.run(LIST, owner[1], id=to_global_id("Webhook", key))["eventDeliveries"]
    (edge,) = shown["edges"]
    assert (edge["node"]["status"], edge["node"]["eventType"]) == ("PENDING", "PRODUCT_UPDATED")
    attempts = [attempt["node"] for attempt in edge["node"]["attempts"]["edges"]]
    assert attempts == [{"status": "FAILED", "responseStatusCode": 500, "response": "no"}]
    good = api.run(LIST, owner[1], id=to_global_id("Webhook", key), filter={"status": "SUCCESS"})
    assert good["eventDeliveries"]["edges"] == []


@pytest.mark.parametrize("length", [1, 10])
def test_page_of_deliveries_reads_the_webhook_once(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str, length: int
) -> None:
    key = make_webhook(ports, owner[0], EventType.PRODUCT_UPDATED, EventType.PRODUCT_CREATED)
    for _ in range(length):
        make_delivery(ports, key)
    query = """query ($id: ID!) { webhook(id: $id) {
      name asyncEvents { eventType } eventDeliveries(first: 10) { edges { node { id status } } }
    } }"""
    for credential in (owner[1], manager):
        variables = {"id": to_global_id("Webhook", key)}
        api.run(query, credential, **variables)
        with recorded_statements() as statements:
            shown = api.run(query, credential, **variables)
        assert len(shown["eventDeliveries"]["edges"]) == length
        assert len(shown["asyncEvents"]) == 2
        # The caller, the webhook with its events, its deliveries.
        assert len(selects(statements)) == 3


def test_deliveries_are_visible_to_their_app_and_to_staff_with_manage_apps(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str
) -> None:
    other, _ = make_app(ports, "other", Permission.MANAGE_APPS)
    own, foreign = (make_delivery(ports, make_webhook(ports, app)) for app in (owner[0], other))
    itself = Actor(ActorKind.APP, app_id=owner[0], permissions=ALL_PERMISSIONS)
    hooks = {one.id: one.webhook_id for one in delivered(ports)}
    for key, actor, is_seen in ((own, itself, True), (foreign, itself, False)):
        page = PageRequest(10)
        hook = hooks[key]
        listed = deliveries_of_webhooks(ports, actor, [hook], page, DeliveryFilter())[hook]
        assert (len(listed.items), listed.count()) == ((1, 1) if is_seen else (0, 0))
        assert (show_delivery(ports, actor, key) is not None) is is_seen
        assert show_delivery(ports, OPERATOR, key) is not None
    clerk = Actor(ActorKind.USER, user_id=1, is_staff=True)
    for key in (own, 4711):
        with pytest.raises(PermissionDenied):
            show_delivery(ports, clerk, key)
        hook = hooks.get(key, key)
        with pytest.raises(PermissionDenied):
            deliveries_of_webhooks(ports, clerk, [hook], PageRequest(1), DeliveryFilter())


def test_limited_token_sees_no_deliveries_of_webhooks_saved_with_more(
    ports: Ports, owner: tuple[int, str]
) -> None:
    limit = frozenset({Permission.MANAGE_PRODUCTS})
    narrow, wide = make_webhook(ports, owner[0]), make_webhook(ports, owner[0])
    keys = {hook: make_delivery(ports, hook) for hook in (narrow, wide)}
    limited = Actor(ActorKind.APP, app_id=owner[0], permissions=limit, token_limit=limit)
    with ports.database.transaction() as session:
        set_saver(session.get_one(models.Webhook, narrow), saver_of(limited))
    made = {key: store_attempt(ports, key) for key in keys.values()}
    ten = PageRequest(10)
    deliveries = deliveries_of_webhooks(ports, limited, keys, ten, DeliveryFilter())
    attempts = attempts_of_deliveries(ports, limited, made, ten)
    for hook, key in keys.items():
        page = deliveries[hook]
        shown = [one.id for one in attempts[key].items]
        assert shown == ([made[key]] if hook == narrow else [])
        seen = [one.id for one in page.items], page.count(), show_delivery(ports, limited, key)
        assert bool(seen[2]) is (hook == narrow)
        assert seen[:2] == (([key], 1) if hook == narrow else ([], 0))


def test_delivery_is_retried_immediately_with_the_same_id(
    api: ApiClient, ports: Ports, owner: tuple[int, str], http: FakeHttp
) -> None:
    key = make_delivery(ports, make_webhook(ports, owner[0]))
    trying = replace(ports, http=http)
    work(trying)
    retried = api.run(RETRY, owner[1], id=to_global_id("EventDelivery", key))
    assert retried == {"delivery": {"status": "PENDING"}, "errors": []}
    work(trying)

    assert len({request.headers["webhook-id"] for request in http.requests}) == 1
    assert len(http.requests) == 2


def test_another_apps_delivery_is_not_found(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    key = to_global_id("EventDelivery", make_delivery(ports, make_webhook(ports, owner[0])))
    other = make_app(ports, "other")[1]

    for id_ in (key, to_global_id("EventDelivery", 99999), to_global_id("App", 1), "garbage"):
        assert problems(api.run(RETRY, other, id=id_)) == [("id", "NOT_FOUND")]


def test_dry_run_equals_the_later_delivery_and_writes_nothing(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str, http: FakeHttp
) -> None:
    make_webhook(ports, owner[0], EventType.APP_UPDATED, query=QUERY)
    before = rows(ports)
    ids = {"id": to_global_id("App", owner[0]), "app": to_global_id("App", owner[0])}
    ran = api.run(DRY_RUN, manager, told=QUERY, **ids)
    assert ran["errors"] == []
    assert rows(ports) == before

    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, AppUpdated(owner[0]))
    work(replace(ports, http=http))
    (request,) = http.requests
    assert ran["payload"].encode() == request.body


def test_dry_run_takes_a_query_or_an_id(
    api: ApiClient, owner: tuple[int, str], manager: str
) -> None:
    assert '"name": "owner"' in api.run(DRY_RUN, manager, told=QUERY)["payload"]
    by_id = api.run(DRY_RUN, manager, id=to_global_id("App", owner[0]))
    assert '"name": "owner"' in by_id["payload"]
    assert problems(api.run(DRY_RUN, manager)) == [("query", "GRAPHQL_ERROR")]


@cases(
    ("input_", "problem"),
    [
        ({"told": ""}, ("query", "SYNTAX")),
        ({"told": "{ shop { name } }"}, ("query", "MISSING_SUBSCRIPTION")),
        ({"told": "subscription { event { nope } }"}, ("query", "GRAPHQL_ERROR")),
        ({"told": QUERY, "id": "garbage"}, ("objectId", "INVALID_ID")),
        ({"told": QUERY, "id": to_global_id("User", 1)}, ("objectId", "INVALID_ID")),
        ({"told": QUERY, "id": to_global_id("App", 9999)}, ("objectId", "NOT_FOUND")),
        ({"told": QUERY, "id": to_global_id("App", "x")}, ("objectId", "INVALID_ID")),
        ({"id": to_global_id("Shop", 1)}, ("objectId", "INVALID_ID")),
        ({"told": QUERY, "app": to_global_id("App", 9999)}, ("app", "NOT_FOUND")),
    ],
)
def test_invalid_dry_run_is_reported(
    api: ApiClient, owner: tuple[int, str], manager: str, input_: dict[str, str], problem: object
) -> None:
    ran = api.run(DRY_RUN, manager, **input_)
    assert (ran["payload"], problems(ran)) == (None, [problem])


def test_dry_run_and_trigger_need_the_events_permission(
    api: ApiClient, ports: Ports, owner: tuple[int, str]
) -> None:
    staff = sign_in(ports, make_staff(ports, "other@example.com")).access
    key = to_global_id("App", owner[0])
    webhook = to_global_id("Webhook", make_webhook(ports, owner[0], query=QUERY))

    assert problems(api.run(DRY_RUN, staff, told=QUERY, id=key)) == [(None, "MISSING_PERMISSION")]
    denied = api.post({"query": TRIGGER, "variables": {"webhook": webhook, "id": key}}, staff).json
    (error,) = denied["errors"]
    assert error["extensions"]["exception"]["code"] == "PermissionDenied"


def test_payload_can_be_triggered_manually(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str, http: FakeHttp
) -> None:
    webhook = to_global_id("Webhook", make_webhook(ports, owner[0], query=QUERY))
    key = to_global_id("App", owner[0])
    sent = api.run(TRIGGER, manager, webhook=webhook, id=key)
    assert sent["errors"] == []
    assert sent["delivery"]["eventType"] == "APP_UPDATED"
    work(replace(ports, http=http))

    assert [request.body for request in http.requests] == [sent["delivery"]["payload"].encode()]
    unknown = to_global_id("Webhook", 9999)
    nowhere = api.run(TRIGGER, manager, webhook=unknown, id=key)
    assert problems(nowhere) == [("webhookId", "NOT_FOUND")]


def test_replay_sends_only_failed_and_missing_deliveries(
    ports: Ports, owner: tuple[int, str], http: FakeHttp, clock: FakeClock
) -> None:
    trying = replace(ports, http=http)

    def happen() -> None:
        with ports.database.transaction() as session:
            add_event(ports, OPERATOR, session, AppUpdated(owner[0]))

    happen()
    work(trying)  # nobody hears of it yet
    key = make_webhook(ports, owner[0], EventType.APP_UPDATED)
    http.answer = lambda _request: HttpResponse(200)
    happen()
    work(trying)
    happen()
    work(trying)
    with ports.database.transaction() as session:
        session.get_one(models.Delivery, delivered(ports)[1].id).status = "FAILED"

    replayed = replay_deliveries(ports, OPERATOR, key, clock.now())
    assert (replayed.failed, replayed.missing) == (1, 1)
    assert [delivery.status for delivery in delivered(ports)] == ["SUCCESS", "PENDING", "PENDING"]
    work(trying)
    assert {delivery.status for delivery in delivered(ports)} == {"SUCCESS"}
    second = replay_deliveries(ports, OPERATOR, key, clock.now())
    assert (second.failed, second.missing) == (0, 0)


REPLAY = """
mutation ($id: ID!, $since: DateTime!, $missing: Boolean) {
  webhookReplay(id: $id, since: $since, missing: $missing) {
    failed missing hasMore errors { field code }
  }
}
"""


def test_staff_can_replay_only_failed_or_missing_deliveries(
    api: ApiClient, ports: Ports, owner: tuple[int, str], manager: str, clock: FakeClock
) -> None:
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, AppUpdated(owner[0]))
    work(ports)  # nobody hears of it yet
    key = to_global_id("Webhook", make_webhook(ports, owner[0], EventType.APP_UPDATED))
    input_ = {"id": key, "since": clock.now().isoformat()}

    assert api.run(REPLAY, manager, **input_, missing=False)["missing"] == 0
    once = {"failed": 0, "missing": 1, "hasMore": False, "errors": []}
    assert api.run(REPLAY, manager, **input_) == once
    for absurd in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        ever = api.run(REPLAY, manager, **{**input_, "since": absurd})
        assert ever == once | {"missing": 0}
    unknown = api.run(REPLAY, manager, **{**input_, "id": to_global_id("Webhook", 9999)})
    assert problems(unknown) == [("id", "NOT_FOUND")]
    assert api.code(REPLAY, owner[1], **input_) == "PermissionDenied"
