"""The contract's clauses on webhooks, against the running server, a worker's round and a receiver.

"Webhooks" of part 2, and what existing clients hold us to.
"""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from jwcrypto import jwk, jws

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from tests.fakes.clock import FakeClock
from tests.servers.http import HttpServer, Received, Reply, http_server
from tests.spec.client import Client
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

QUERY = "subscription { event { ... on ProductCreated { product { id name } } } }"
CREATE = """
mutation ($input: WebhookCreateInput!) {
  webhookCreate(input: $input) {
    webhook { id secretKey asyncEvents { eventType } } errors { field code }
  }
}"""
UPDATE = """
mutation ($id: ID!, $input: WebhookUpdateInput!) {
  webhookUpdate(id: $id, input: $input) {
    webhook { id name targetUrl secretKey } errors { field code }
  }
}"""
SHOWN = "query ($id: ID!) { webhook(id: $id) { name targetUrl secretKey } }"
MAKE = """
mutation ($name: String!) {
  productCreate(input: {name: $name}) { product { id } errors { field code } }
}"""
REMOVE = "mutation ($id: ID!) { productDelete(id: $id) { errors { field code } } }"
DRY_RUN = """
mutation ($id: ID, $told: String, $app: ID) {
  webhookDryRun(objectId: $id, query: $told, app: $app) { payload errors { field code } }
}"""


@pytest.fixture
def receiver() -> Iterator[HttpServer]:
    with http_server() as server:
        server.answer("/hook", Reply(204))
        yield server


@pytest.fixture
def hook(client: Client, shop: RecordedShop, receiver: HttpServer) -> Callable[..., str]:
    """Makes a webhook of the app that manages products; returns its id."""

    def make(**input_: object) -> str:
        fields = {"targetUrl": f"{receiver.url}/hook", "query": QUERY} | input_
        made = client.run(CREATE, shop.app_token("PRODUCTS"), input=fields).data["webhookCreate"]
        assert made["errors"] == []
        return str(made["webhook"]["id"])

    return make


@pytest.fixture
def product(client: Client, shop: RecordedShop) -> Callable[..., str]:
    """Makes a product as the manager; returns its id."""

    def make(name: str = "Ash bowl") -> str:
        made = client.run(MAKE, shop.access("manager"), name=name).data["productCreate"]
        return str(made["product"]["id"])

    return make


def delivered(shop: RecordedShop, receiver: HttpServer) -> list[Received]:
    """What the receiver has got once the worker has been round."""
    fan_out_events(shop.ports, WORKER)
    for batch in lease_due_deliveries(shop.ports, WORKER):
        send_deliveries(shop.ports, WORKER, batch)
    return receiver.calls("/hook")


def problems(payload: Any) -> list[tuple[str | None, str]]:
    return [(error["field"], error["code"]) for error in payload["errors"]]


def test_payload_has_the_events_selected_fields(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook()
    made = product()

    (request,) = delivered(shop, receiver)
    assert json.loads(request.body) == {"product": {"id": made, "name": "Ash bowl"}}
    assert request.headers["content-type"] == "application/json"


def test_delivery_headers_use_the_vendor_prefix_and_issuer_url(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook()
    product()

    (request,) = delivered(shop, receiver)
    headers = {name: request.headers[f"saleor-{name}"] for name in ("event", "domain", "api-url")}
    assert headers == {
        "event": "product_created",
        "domain": urlsplit(shop.issuer).netloc,
        "api-url": shop.issuer,
    }
    assert request.headers["saleor-schema-version"] == "3.23"
    assert request.headers["webhook-id"]
    assert request.headers["webhook-timestamp"].isdigit()


def test_without_a_secret_the_signature_is_a_detached_jws_by_a_key_of_the_key_set(
    client: Client,
    shop: RecordedShop,
    receiver: HttpServer,
    hook: Callable[..., str],
    product: Callable[..., str],
) -> None:
    hook()
    product()

    (request,) = delivered(shop, receiver)
    assert "webhook-signature" not in request.headers
    token = jws.JWS()
    token.deserialize(request.headers["saleor-signature"])
    header = token.jose_header
    assert (header["alg"], header["b64"], header["crit"]) == ("RS256", False, ["b64"])
    (key,) = (key for key in client.key_set() if key["kid"] == header["kid"])
    token.verify(jwk.JWK(**key), detached_payload=request.body)


def test_secret_adds_a_hex_hmac_and_a_standard_signature(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook(secretKey="sesame")
    product()

    (request,) = delivered(shop, receiver)
    expected = hmac.new(b"sesame", request.body, hashlib.sha256).hexdigest()
    assert request.headers["saleor-signature"] == expected
    assert request.headers["webhook-signature"].startswith("v1,")


def test_with_events_and_no_query_the_catalogues_default_selection_is_sent(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook(query="", asyncEvents=["PRODUCT_CREATED"])
    product()

    (request,) = delivered(shop, receiver)
    assert json.loads(request.body)["product"]["slug"] == "ash-bowl"


def test_event_is_delivered_only_while_the_app_holds_its_permission(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook()
    with shop.ports.database.transaction() as session:
        key = (shop.apps["PRODUCTS"][0], Permission.MANAGE_PRODUCTS.value)
        session.delete(session.get_one(models.AppPermission, key))
    product()

    assert delivered(shop, receiver) == []


def test_deletion_payload_has_the_deleted_object(
    client: Client,
    shop: RecordedShop,
    receiver: HttpServer,
    hook: Callable[..., str],
    product: Callable[..., str],
) -> None:
    hook(query="subscription { event { ... on ProductDeleted { product { id name } } } }")
    gone = product()
    client.run(REMOVE, shop.access("manager"), id=gone)

    (request,) = delivered(shop, receiver)
    assert json.loads(request.body) == {"product": {"id": gone, "name": "Ash bowl"}}


def test_subscribing_to_a_synchronous_event_is_invalid(client: Client, shop: RecordedShop) -> None:
    input_ = {"targetUrl": "https://app.example.com/", "syncEvents": ["ORDER_CALCULATE_TAXES"]}
    made = client.run(CREATE, shop.app_token("PRODUCTS"), input=input_).data["webhookCreate"]
    assert problems(made) == [("syncEvents", "INVALID")]


def test_another_apps_webhook_is_not_found_on_id(
    client: Client, shop: RecordedShop, hook: Callable[..., str]
) -> None:
    key = hook()
    changed = client.run(UPDATE, shop.app_token("NOPERM"), id=key, input={"name": "mine"})
    assert problems(changed.data["webhookUpdate"]) == [("id", "NOT_FOUND")]


def test_edited_webhook_can_be_sent_back_unchanged(
    client: Client, shop: RecordedShop, hook: Callable[..., str]
) -> None:
    key = hook(secretKey="sesame", name="one")
    shown = client.run(SHOWN, shop.access("manager"), id=key).data["webhook"]
    assert shown["secretKey"] == "sesame"

    same = client.run(UPDATE, shop.access("manager"), id=key, input=shown | {"query": ""})
    assert same.data["webhookUpdate"]["webhook"] == {"id": key, **shown}
    without = client.run(UPDATE, shop.access("manager"), id=key, input={"secretKey": ""})
    assert without.data["webhookUpdate"]["webhook"]["secretKey"] is None


def test_dry_run_takes_a_query_or_an_id_or_both_and_sends_nothing(
    client: Client,
    shop: RecordedShop,
    receiver: HttpServer,
    hook: Callable[..., str],
    product: Callable[..., str],
) -> None:
    hook()
    made, manager = product(), shop.access("manager")
    delivered(shop, receiver)

    newest = client.run(DRY_RUN, manager, told=QUERY).data["webhookDryRun"]
    both = client.run(DRY_RUN, manager, told=QUERY, id=made).data["webhookDryRun"]
    by_id = client.run(DRY_RUN, manager, id=made).data["webhookDryRun"]

    (request,) = delivered(shop, receiver)
    assert newest == both == {"payload": request.body.decode(), "errors": []}
    assert json.loads(by_id["payload"])["product"]["slug"] == "ash-bowl"


def test_dry_run_is_for_staff_with_the_events_permission(
    client: Client, shop: RecordedShop, product: Callable[..., str]
) -> None:
    made = product()
    denied = client.run(DRY_RUN, shop.access("noperm"), told=QUERY, id=made)
    assert problems(denied.data["webhookDryRun"]) == [(None, "MISSING_PERMISSION")]
    app = to_global_id("App", shop.apps["NOPERM"][0])
    as_app = client.run(DRY_RUN, shop.access("manager"), told=QUERY, id=made, app=app)
    assert problems(as_app.data["webhookDryRun"]) == [(None, "MISSING_PERMISSION")]
    for credential in (None, shop.app_token("PRODUCTS"), shop.access("customer")):
        assert client.run(DRY_RUN, credential, told=QUERY).code == "PermissionDenied"


def test_failed_delivery_is_retried_with_the_same_id_and_410_stops(
    shop: RecordedShop, receiver: HttpServer, hook: Callable[..., str], product: Callable[..., str]
) -> None:
    hook()
    product()
    receiver.answer("/hook", Reply(500))
    delivered(shop, receiver)
    receiver.answer("/hook", Reply(410))
    in_a_minute = FakeClock(shop.ports.clock.now() + timedelta(minutes=1))
    later = replace(shop, ports=replace(shop.ports, clock=in_a_minute))
    first, second = delivered(later, receiver)

    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    in_a_minute.pass_(hours=1)
    assert delivered(later, receiver) == [first, second]
