"""One delivery with its attempts: what was sent, what came back, what the signature is worth."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType, ProductUpdated, StaffSetPasswordRequested
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.deliveries.details import (
    DeliveryDetails,
    Signed,
    show_delivery_details,
    show_latest_delivery,
)
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.dry_runs import dry_run_webhook, trigger_webhook
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.lists import show_delivery
from app.services.deliveries.sending import send_deliveries
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.people import ISSUER, actor_of, make_staff
from tests.builders.products import make_product, product_id
from tests.builders.webhooks import TARGET, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.services.deliveries.test_fanout import happen

CUSTOM = {"Authorization-Key": "Bearer sesame", "X-Tenant": "eu"}


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(500, {"x-seen": "yes"}, b"no"))


@pytest.fixture
def trying(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def owner(ports: Ports) -> int:
    return make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS, Permission.MANAGE_STAFF)[0]


def work(ports: Ports) -> None:
    fan_out_events(ports, WORKER)
    for batch in lease_due_deliveries(ports, WORKER):
        send_deliveries(ports, WORKER, batch)


def shown(ports: Ports, key: int) -> DeliveryDetails:
    details = show_delivery_details(ports, OPERATOR, key)
    assert details is not None
    return details


def test_delivery_is_shown_with_attempts_and_next_attempt(
    trying: Ports, http: FakeHttp, owner: int, clock: FakeClock
) -> None:
    key = make_delivery(trying, make_webhook(trying, owner, custom_headers=CUSTOM))
    work(trying)
    first = shown(trying, key)
    assert first.line.next_attempt_at is not None
    clock.pass_(seconds=6)
    http.answer = lambda _request: HttpResponse(200, {"set-cookie": "id=1"}, b"thanks")
    work(trying)

    details = shown(trying, key)
    assert (details.payload, details.api_url) == ('{"product":null}', ISSUER)
    assert (details.line.target_url, details.line.response_status) == (TARGET, 200)
    assert (details.line.attempts, details.line.next_attempt_at) == (2, None)
    assert [attempt.attempt.response_status for attempt in details.attempts] == [200, 500]
    assert details.attempts[1].attempt.response == "no"
    assert details.attempts[1].attempt.response_headers == {"x-seen": "yes"}


def test_credentials_are_never_stored(trying: Ports, http: FakeHttp, owner: int) -> None:
    cookies = {"set-cookie": "id=sesame", "Authorization": "sesame", "x-seen": "yes"}
    http.answer = lambda _request: HttpResponse(200, cookies)
    key = make_delivery(trying, make_webhook(trying, owner, custom_headers=CUSTOM))
    work(trying)

    (one,) = shown(trying, key).attempts
    assert one.attempt.request_headers["Authorization-Key"] == "(hidden)"
    assert one.attempt.request_headers["X-Tenant"] == "(hidden)"
    assert one.attempt.response_headers == {
        "set-cookie": "(hidden)",
        "Authorization": "(hidden)",
        "x-seen": "yes",
    }
    assert "sesame" not in repr(one)


@pytest.mark.parametrize("secret", ["", "sesame", "whsec_c2VzYW1lIG9wZW4="])
def test_signature_is_verified_as_receivers_do(trying: Ports, owner: int, secret: str) -> None:
    key = make_delivery(trying, make_webhook(trying, owner, secret=secret))
    work(trying)
    assert [attempt.signed for attempt in shown(trying, key).attempts] == [Signed.VERIFIED]


def test_signature_of_another_body_is_reported(trying: Ports, owner: int) -> None:
    key = make_delivery(trying, make_webhook(trying, owner))
    work(trying)
    with trying.database.transaction() as session:
        session.get_one(models.Delivery, key).payload = '{"product":1}'
    assert [attempt.signed for attempt in shown(trying, key).attempts] == [Signed.WRONG]


def test_replaced_secret_verifies_for_a_day(trying: Ports, owner: int, clock: FakeClock) -> None:
    webhook = make_webhook(trying, owner, secret="sesame")
    key = make_delivery(trying, webhook)
    work(trying)
    input_ = WebhookInput(secret_key="open")
    update_webhook(trying, OPERATOR, to_global_id("Webhook", webhook), "", input_)

    assert [attempt.signed for attempt in shown(trying, key).attempts] == [Signed.VERIFIED]
    clock.pass_(hours=25)
    assert [attempt.signed for attempt in shown(trying, key).attempts] == [Signed.KEY_GONE]


def test_signature_without_key_is_unknown(trying: Ports, owner: int) -> None:
    key = make_delivery(trying, make_webhook(trying, owner))
    work(trying)
    with trying.database.transaction() as session:
        attempt = session.scalars(select(models.DeliveryAttempt)).one()
        foreign = "eyJhbGciOiJSUzI1NiIsImtpZCI6Im5vYm9keSdzIn0..c2lnbmF0dXJl"
        attempt.request_headers = {"Latchkey-Signature": foreign}
    assert [attempt.signed for attempt in shown(trying, key).attempts] == [Signed.KEY_GONE]


def test_link_token_is_hidden_from_staff(trying: Ports, http: FakeHttp, owner: int) -> None:
    query = (
        "subscription { event { ... on StaffSetPasswordRequested "
        "{ again: token token redirectUrl } } }"
    )
    webhook = make_webhook(trying, owner, EventType.STAFF_SET_PASSWORD_REQUESTED, query=query)
    happen(trying, StaffSetPasswordRequested(7, token="sesame", redirect_url="https://a.example"))
    work(trying)
    with trying.database.reading() as session:
        assert "sesame" not in session.scalars(select(models.Delivery.payload)).one()
    assert http.requests[0].body is not None
    assert b'"token": "sesame"' in http.requests[0].body
    latest = show_latest_delivery(
        trying, OPERATOR, webhook, EventType.STAFF_SET_PASSWORD_REQUESTED
    )
    assert latest is not None
    blotted = '{"again": "(hidden)", "token": "(hidden)", "redirectUrl": "https://a.example"}'
    assert latest.payload == blotted
    assert [delivery.signed for delivery in latest.attempts] == [Signed.VERIFIED]

    itself = Actor(ActorKind.APP, app_id=owner)
    payloads = [
        delivery.payload
        for delivery in (
            show_delivery(trying, actor, latest.line.id) for actor in (OPERATOR, itself)
        )
        if delivery is not None
    ]
    assert payloads == [blotted, blotted.replace("(hidden)", "sesame")]


def test_latest_real_delivery_is_shown_with_a_dry_run(trying: Ports, owner: int) -> None:
    webhook = make_webhook(trying, owner, EventType.PRODUCT_UPDATED)
    bowl, cup = make_product(trying, "Bowl"), make_product(trying, "Cup")
    for product in (bowl, cup):
        happen(trying, ProductUpdated(product))
    work(trying)
    trigger_webhook(trying, OPERATOR, to_global_id("Webhook", webhook), product_id(bowl))
    ran = dry_run_webhook(trying, OPERATOR, object_id=product_id(cup))

    newest = show_latest_delivery(trying, OPERATOR, webhook, EventType.PRODUCT_UPDATED)
    assert newest is not None
    assert (newest.line.object_id, newest.payload) == (product_id(cup), ran.payload)
    assert show_latest_delivery(trying, OPERATOR, webhook, EventType.PRODUCT_DELETED) is None


def test_deliveries_require_manage_apps(trying: Ports, owner: int) -> None:
    key = make_delivery(trying, make_webhook(trying, owner))
    staff = actor_of(trying, make_staff(trying, "staff@example.com"))
    itself = Actor(ActorKind.APP, app_id=owner, permissions=ALL_PERMISSIONS)
    for actor in (staff, itself):
        with pytest.raises(PermissionDenied):
            show_delivery_details(trying, actor, key)
    assert show_delivery_details(trying, OPERATOR, 99999) is None
