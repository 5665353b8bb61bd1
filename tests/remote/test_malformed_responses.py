"""An instance that means well, or does not, and answers in another shape than was asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.values.errors import Refused
from app.domain.values.installation import Fault
from app.ports.instance import DeliveryQuery
from app.ports.instance import Instance as Port
from app.remote.instance import connect_by_token, sign_in_app, sign_in_person
from tests.fixtures.cases import cases
from tests.remote.fake_instance import URL, Instance, answering

SENT = {
    "id": "RXZlbnREZWxpdmVyeTox",
    "createdAt": "2026-03-01T12:00:00+00:00",
    "status": "SUCCESS",
    "eventType": "ORDER_PAID",
    "payload": "{}",
    "attempts": {"edges": []},
}
HOOK: dict[str, object] = {
    "id": "V2ViaG9vazox",
    "name": None,
    "targetUrl": "https://app.example.com/hook",
    "isActive": True,
    "asyncEvents": [],
    "subscriptionQuery": None,
    "isPaused": False,
    "maxRate": 0,
    "customHeaders": "{}",
    "secretKey": None,
}


def at(data: object) -> Port:
    return connect_by_token(Instance(answering({"data": data})), URL, "a token")


def deliveries(**changed: object) -> object:
    page = {"edges": [{"node": {**SENT, **changed}}], "pageInfo": {"hasNextPage": False}}
    return {"webhook": {"eventDeliveries": {**page, "pageInfo": {"hasNextPage": False}}}}


def webhooks(**changed: object) -> object:
    app = {"id": "QXBwOjE=", "name": "Warehouse", "isActive": True}
    node = {**app, "webhooks": [{**HOOK, **changed}]}
    return {"apps": {"edges": [{"node": node}], "pageInfo": {"hasNextPage": False}}}


@cases(
    "data",
    [
        {},
        {"webhookDryRun": None},
        {"webhookDryRun": {"payload": "{}"}},
        {"webhookDryRun": {"payload": "{}", "errors": [None]}},
        {"webhookDryRun": {"payload": "{}", "errors": [{"message": "no code"}]}},
        {"webhookDryRun": {"payload": None, "errors": []}},
        {"webhookDryRun": {"payload": "no JSON", "errors": []}},
    ],
)
def test_malformed_dry_run_response_is_an_error(data: object) -> None:
    with pytest.raises(Fault, match="another version"):
        at(data).dry_run(query="subscription { event { __typename } }")


def test_refusal_in_another_shape_is_recognized() -> None:
    payload = {"payload": None, "errors": [{"code": 7, "message": 5, "field": ["query"]}]}
    with pytest.raises(Refused) as refused:
        at({"webhookDryRun": payload}).dry_run(query="subscription")
    [problem] = refused.value.problems
    assert (problem.code, problem.message, problem.field) == ("7", "5", "['query']")


@cases(
    "data",
    [
        {},
        deliveries(payload="{no JSON"),
        deliveries(payload="[" * 100_000),
        deliveries(createdAt="2026-03-01T12:00:00"),
        deliveries(createdAt=None),
        deliveries(eventType=["ORDER_PAID"]),
        deliveries(id=None),
    ],
)
def test_malformed_delivery_list_is_an_error(data: object) -> None:
    with pytest.raises(Fault, match="another version"):
        at(data).deliveries("V2ViaG9vazox", DeliveryQuery())


@cases("changed", [{"targetUrl": None}, {"name": ["hook"]}, {"id": 7}, {"customHeaders": "[]"}])
def test_malformed_webhook_is_an_error(changed: dict[str, Any]) -> None:
    assert len(at(webhooks()).webhooks()) == 1
    with pytest.raises(Fault, match="another version"):
        at(webhooks(**changed)).webhooks()


def test_list_that_repeats_its_cursor_is_an_error() -> None:
    same = {"hasNextPage": True, "endCursor": "same"}
    with pytest.raises(Fault, match="another version"):
        at({"apps": {"edges": [], "pageInfo": same}}).webhooks()
    page = {"webhook": {"eventDeliveries": {"edges": [], "pageInfo": same}}}
    assert at(page).deliveries("V2ViaG9vazox", DeliveryQuery()).next == "same"
    with pytest.raises(Fault, match="another version"):
        at(page).deliveries("V2ViaG9vazox", DeliveryQuery(after="same"))


@cases(
    "sign_in",
    [
        lambda http: sign_in_person(http, URL, "ann@example.com", "a password", str),
        lambda http: sign_in_app(http, URL, "a token"),
    ],
)
@cases(
    "data",
    [
        {},
        {"tokenCreate": None},
        {"tokenCreate": {"token": None, "refreshToken": None, "errors": []}},
        {"tokenCreate": {"token": 7, "refreshToken": "d.e.f", "errors": []}},
    ],
)
def test_login_without_token_fails(sign_in: Callable[[Instance], object], data: object) -> None:
    with pytest.raises(Fault, match="another version"):
        sign_in(Instance(answering({"data": data})))
