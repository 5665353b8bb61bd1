"""What changes while deliveries wait or are under way: webhooks, apps, rights, the clock."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import delete, event, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import HttpRequest, HttpResponse
from app.services.deliveries.dispatch import BATCH_SIZE, lease_due_deliveries
from app.services.deliveries.replays import replay_deliveries, retry_delivery
from app.services.deliveries.sending import send_deliveries
from app.services.webhooks.changes import WebhookInput, delete_webhook, update_webhook
from tests.builders.apps import change_app, make_app
from tests.builders.deliveries import stored_delivery, stored_webhook, work_off
from tests.builders.outbox import mails
from tests.builders.people import make_user
from tests.builders.webhooks import change_delivery, change_webhook, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.services.error_codes import codes

ELSEWHERE = "https://app.example.com/elsewhere"
DISABLED = "The webhook is disabled."


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(200))


@pytest.fixture
def delivering(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def owner(ports: Ports) -> int:
    return make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)[0]


@pytest.fixture
def webhook(ports: Ports, owner: int) -> int:
    return make_webhook(ports, owner, secret="old")


def _left(ports: Ports) -> list[object]:
    with ports.database.reading() as session:
        found = [
            session.scalars(select(record)).all() for record in (models.Delivery, models.Webhook)
        ]
        return [*found[0], *found[1], *session.scalars(select(models.DeliveryAttempt)).all()]


def _transactions_of_work(ports: Ports) -> int:
    """How many transactions were committed while what was due was worked off."""
    committed: list[Session] = []
    note = committed.append
    event.listen(Session, "after_commit", note)
    try:
        work_off(ports)
    finally:
        event.remove(Session, "after_commit", note)
    return len(committed)


def _while_it_is_made(answer: int, change: Callable[[], object]) -> Callable[..., HttpResponse]:
    def reply(_request: HttpRequest) -> HttpResponse:
        change()
        return HttpResponse(answer)

    return reply


def _move(ports: Ports, webhook: int) -> None:
    input_ = WebhookInput(target_url=ELSEWHERE)
    update_webhook(ports, OPERATOR, to_global_id("Webhook", webhook), "", input_)


def test_attempt_uses_the_webhooks_current_target_and_secret(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    make_delivery(delivering, webhook)
    _move(delivering, webhook)
    input_ = WebhookInput(secret_key="", custom_headers={"X-New": "1"})
    update_webhook(delivering, OPERATOR, to_global_id("Webhook", webhook), "", input_)

    assert work_off(delivering) == 1

    (request,) = http.requests
    assert (request.url, request.headers["X-New"]) == (ELSEWHERE, "1")
    assert "webhook-signature" not in request.headers


def test_app_without_the_permission_no_longer_receives_the_event(
    delivering: Ports, http: FakeHttp, owner: int, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = lambda _request: HttpResponse(500)
    work_off(delivering)
    with delivering.database.transaction() as session:
        session.execute(delete(models.AppPermission))
    clock.pass_(seconds=10)

    assert work_off(delivering) == 0
    assert len(http.requests) == 1
    failed = stored_delivery(delivering, key)
    assert (failed.status, failed.given_up) == ("FAILED", "The app no longer has MANAGE_PRODUCTS.")

    with delivering.database.transaction() as session:
        session.add(models.AppPermission(app_id=owner, permission="MANAGE_PRODUCTS"))
    http.answer = lambda _request: HttpResponse(200)
    assert replay_deliveries(delivering, OPERATOR, webhook, failed.created_at).failed == 1
    assert work_off(delivering) == 1
    assert (
        stored_delivery(delivering, key).status,
        stored_delivery(delivering, key).given_up,
    ) == ("SUCCESS", "")


def test_deliveries_without_permission_fail_in_one_transaction(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    with delivering.database.transaction() as session:
        session.execute(delete(models.AppPermission))
    make_delivery(delivering, webhook)
    alone = _transactions_of_work(delivering)
    keys = [make_delivery(delivering, webhook) for _ in range(5)]
    for key in keys[3:]:
        change_delivery(delivering, key, event="ORDER_UPDATED")

    assert _transactions_of_work(delivering) == alone

    assert http.requests == []
    assert [stored_delivery(delivering, key).given_up for key in keys] == [
        *["The app no longer has MANAGE_PRODUCTS."] * 3,
        *["The app no longer has MANAGE_ORDERS."] * 2,
    ]


def test_deleting_a_webhook_during_delivery_leaves_no_rows(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    for _ in range(3):
        make_delivery(delivering, webhook)
    key = to_global_id("Webhook", webhook)
    gone = False

    def remove() -> None:
        nonlocal gone
        if not gone:
            delete_webhook(delivering, OPERATOR, key)
        gone = True

    http.answer = _while_it_is_made(500, remove)
    work_off(delivering)
    assert (_left(delivering), lease_due_deliveries(delivering, WORKER)) == ([], ())


def test_deleting_an_app_deletes_pending_deliveries(
    delivering: Ports, http: FakeHttp, owner: int, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)
    with delivering.database.transaction() as session:
        session.execute(delete(models.App).where(models.App.id == owner))

    assert (work_off(delivering), http.requests, _left(delivering)) == (0, [], [])
    with pytest.raises(Refused) as refused:
        retry_delivery(delivering, OPERATOR, to_global_id("EventDelivery", key))
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_disabled_app_gets_no_pending_deliveries(
    delivering: Ports, http: FakeHttp, owner: int, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)
    change_app(delivering, owner, is_active=False)

    assert (work_off(delivering), http.requests) == (0, [])
    failed = stored_delivery(delivering, key)
    assert (failed.status, failed.given_up) == ("FAILED", "The app is inactive.")


def test_old_endpoints_last_response_does_not_count(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = _while_it_is_made(410, lambda: _move(delivering, webhook))
    work_off(delivering)

    now = stored_webhook(delivering, webhook)
    assert (now.is_active, now.target_url, now.failing_since) == (True, ELSEWHERE, None)
    assert stored_delivery(delivering, key).status == "FAILED"


def test_new_endpoint_restarts_the_five_day_limit(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    http.answer = lambda _request: HttpResponse(500)
    make_delivery(delivering, webhook)
    work_off(delivering)
    clock.pass_(hours=121)
    _move(delivering, webhook)
    make_delivery(delivering, webhook)
    work_off(delivering)

    now = stored_webhook(delivering, webhook)
    assert (now.is_active, now.failing_since) == (True, clock.now())


def test_gone_endpoint_is_called_once_and_reported_once(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    make_user(delivering, "boss@example.com", is_superuser=True)
    keys = [make_delivery(delivering, webhook) for _ in range(2 * BATCH_SIZE)]
    batches = lease_due_deliveries(delivering, WORKER)
    assert len(batches) == 2
    http.answer = lambda _request: HttpResponse(410)
    for batch in batches:
        send_deliveries(delivering, WORKER, batch)
    work_off(delivering)

    assert len(http.requests) == 1
    assert len(mails(delivering)) == 1
    states = {
        (stored_delivery(delivering, key).status, stored_delivery(delivering, key).given_up)
        for key in keys
    }
    assert states == {("FAILED", ""), ("FAILED", DISABLED)}


def test_webhook_with_a_forbidden_target_can_be_disabled(delivering: Ports, webhook: int) -> None:
    change_webhook(delivering, webhook, target_url="http://10.0.0.1/hook")
    key = to_global_id("Webhook", webhook)
    off = update_webhook(delivering, OPERATOR, key, "", WebhookInput(is_active=False, name="old"))
    assert (off.is_active, off.name) == (False, "old")

    for input_ in (WebhookInput(is_active=True), WebhookInput(target_url=off.target_url)):
        with pytest.raises(Refused) as refused:
            update_webhook(delivering, OPERATOR, key, "", input_)
        assert codes(refused) == [("targetUrl", "INVALID")]
    assert not stored_webhook(delivering, webhook).is_active


def test_clock_set_back_causes_no_negative_duration(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = _while_it_is_made(200, lambda: clock.pass_(hours=-1))
    work_off(delivering)

    with delivering.database.reading() as session:
        (attempt,) = session.scalars(select(models.DeliveryAttempt)).all()
    assert (attempt.duration, stored_delivery(delivering, key).status) == (0.0, "SUCCESS")


def test_failure_after_the_lease_passed_on_does_not_undo_a_success(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    """A worker that was stopped for minutes comes back when another has delivered."""
    key = make_delivery(delivering, webhook)
    other = replace(delivering, http=FakeHttp(delivering.database, lambda _: HttpResponse(200)))

    def deliver_elsewhere() -> None:
        clock.pass_(minutes=7)
        assert work_off(other) == 1

    http.answer = _while_it_is_made(500, deliver_elsewhere)
    work_off(delivering)

    delivered = stored_delivery(delivering, key)
    assert (delivered.status, delivered.next_attempt_at) == ("SUCCESS", None)
