"""Deliveries are made once each, written down, and tried again as promised."""

from dataclasses import replace
from datetime import timedelta

import pytest
from jwcrypto import jwk, jws
from sqlalchemy import select
from typing_extensions import override

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import SCHEDULE, Batch
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse
from app.ports.keys import KeyPair
from app.services.deliveries.dispatch import BATCH_SIZE, lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from app.services.keys import published_keys
from tests.builders.apps import make_app
from tests.builders.deliveries import stored_delivery, stored_webhook, work_off
from tests.builders.people import ISSUER
from tests.builders.webhooks import TARGET, change_delivery, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fakes.keys import ReadyKeyStore
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import executions


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(
        ports.database, lambda _request: HttpResponse(200, {"x-seen": "yes"}, b"thanks")
    )


@pytest.fixture
def delivering(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def webhook(ports: Ports) -> int:
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    return make_webhook(ports, app)


def _attempts(ports: Ports, key: int) -> list[models.DeliveryAttempt]:
    query = select(models.DeliveryAttempt).where(models.DeliveryAttempt.delivery_id == key)
    with ports.database.reading() as session:
        return list(session.scalars(query.order_by(models.DeliveryAttempt.id)))


def test_due_delivery_is_sent_once_and_recorded(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)

    assert work_off(delivering) == 1
    assert work_off(delivering) == 0

    (request,) = http.requests
    assert (request.url, request.method, request.body) == (TARGET, "POST", b'{"product":null}')
    assert request.timeout == 20
    (attempt,) = _attempts(delivering, key)
    assert (attempt.status, attempt.response_status, attempt.response) == (
        "SUCCESS",
        200,
        "thanks",
    )
    assert attempt.response_headers == {"x-seen": "yes"}
    for name in ("Latchkey-Event", "Saleor-Event", "X-Saleor-Event"):
        assert attempt.request_headers[name] == "product_updated"
    assert attempt.request_headers == dict(request.headers)
    assert stored_delivery(delivering, key).status == "SUCCESS"


@pytest.mark.parametrize(("note_id", "marks"), [(None, ["true"]), (7, [])])
def test_delivery_that_no_event_is_behind_is_marked_as_a_sample(
    delivering: Ports, http: FakeHttp, webhook: int, note_id: int | None, marks: list[str]
) -> None:
    change_delivery(delivering, make_delivery(delivering, webhook), note_id=note_id)
    work_off(delivering)
    (request,) = http.requests
    marked = [value for name, value in request.headers.items() if name == "Latchkey-Sample"]
    assert marked == marks


def test_delivery_is_signed_with_the_active_key(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    make_delivery(delivering, webhook)
    work_off(delivering)

    (request,) = http.requests
    token = jws.JWS()
    token.deserialize(request.headers["Latchkey-Signature"])
    active = published_keys(delivering)[0]
    token.verify(jwk.JWK(kty="RSA", n=active.n, e=active.e), detached_payload=request.body)
    assert request.headers["Latchkey-Api-Url"] == ISSUER
    assert request.headers["Latchkey-Domain"] == "localhost:8000"


def test_body_for_several_webhooks_is_signed_once(delivering: Ports, http: FakeHttp) -> None:
    app, _ = make_app(delivering, "warehouse", Permission.MANAGE_PRODUCTS)
    for _ in range(3):
        make_delivery(delivering, make_webhook(delivering, app))

    work_off(delivering)

    assert len({request.headers["Latchkey-Signature"] for request in http.requests}) == 1
    assert len(delivering.cache.signatures) == 1


def test_delivery_is_signed_with_the_webhooks_secret(delivering: Ports, http: FakeHttp) -> None:
    app, _ = make_app(delivering, "warehouse", Permission.MANAGE_PRODUCTS)
    make_delivery(delivering, make_webhook(delivering, app, secret="sesame"))

    work_off(delivering)

    (request,) = http.requests
    assert len(request.headers["Latchkey-Signature"]) == 64
    assert request.headers["webhook-signature"].startswith("v1,")


def test_request_credentials_are_not_stored(delivering: Ports) -> None:
    app, _ = make_app(delivering, "warehouse", Permission.MANAGE_PRODUCTS)
    custom = {"Authorization-Key": "Bearer sesame"}
    key = make_delivery(delivering, make_webhook(delivering, app, custom_headers=custom))

    work_off(delivering)

    (attempt,) = _attempts(delivering, key)
    assert "sesame" not in str(attempt.request_headers)


def test_failed_delivery_is_retried_with_the_same_webhook_id(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = lambda _request: HttpResponse(500)
    work_off(delivering)
    clock.pass_(seconds=4)
    assert work_off(delivering) == 0
    clock.pass_(seconds=2)
    http.answer = lambda _request: HttpResponse(204)

    assert work_off(delivering) == 1

    first, second = http.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] != second.headers["webhook-timestamp"]
    assert [attempt.response_status for attempt in _attempts(delivering, key)] == [500, 204]


def test_failing_endpoint_gets_every_scheduled_attempt(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = lambda _request: HttpResponse(503)
    for wait in (*SCHEDULE, 100_000):
        clock.pass_(seconds=wait * 1.1)
        work_off(delivering)

    assert len(_attempts(delivering, key)) == len(SCHEDULE)
    stored = stored_delivery(delivering, key)
    assert (stored.status, stored.next_attempt_at) == ("FAILED", None)


def test_missing_response_is_a_failure_with_its_reason(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)

    def refuse(_request: HttpRequest) -> HttpResponse:
        raise CallFailed(CallFault.TIMEOUT, "app.example.com did not answer within 20 s.")

    http.answer = refuse
    work_off(delivering)

    (attempt,) = _attempts(delivering, key)
    assert (attempt.response_status, attempt.status) == (None, "FAILED")
    assert attempt.response == "app.example.com did not answer within 20 s."
    assert stored_delivery(delivering, key).status == "PENDING"


def test_fault_in_signing_is_a_failed_attempt_and_holds_up_no_other(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    """A fault of ours doesn't lead to the same attempt again and again, without a trace."""
    keys = [make_delivery(delivering, webhook) for _ in range(2)]
    broken = replace(delivering, keys=KeysThatFailOnce())
    with pytest.raises(ExceptionGroup):
        work_off(broken)

    (attempt,) = _attempts(delivering, keys[0])
    assert attempt.response.startswith("A fault of ours kept the delivery from being made.")
    assert (attempt.status, stored_delivery(delivering, keys[0]).status) == ("FAILED", "PENDING")
    assert stored_delivery(delivering, keys[1]).status == "SUCCESS"
    assert len(http.requests) == 1


class KeysThatFailOnce(ReadyKeyStore):
    """Keys whose first signature can't be made."""

    has_failed = False

    @override
    def sign_detached(self, key: KeyPair, body: bytes) -> str:
        if not self.has_failed:
            self.has_failed = True
            raise OSError("the key is away")
        return super().sign_detached(key, body)


def test_response_410_disables_the_webhook_with_its_reason(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = lambda _request: HttpResponse(410)
    work_off(delivering)

    stored = stored_webhook(delivering, webhook)
    assert (stored.is_active, stored.disabled_reason) == (False, "The endpoint returned 410 Gone.")
    assert stored_delivery(delivering, key).status == "FAILED"


def test_five_days_of_failures_disable_the_webhook(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    http.answer = lambda _request: HttpResponse(500)
    make_delivery(delivering, webhook)
    work_off(delivering)
    clock.pass_(hours=119)
    make_delivery(delivering, webhook)
    work_off(delivering)
    assert stored_webhook(delivering, webhook).is_active
    clock.pass_(hours=2)
    make_delivery(delivering, webhook)
    work_off(delivering)

    assert not stored_webhook(delivering, webhook).is_active


def test_one_success_resets_all_failures(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    http.answer = lambda _request: HttpResponse(500)
    make_delivery(delivering, webhook)
    work_off(delivering)
    clock.pass_(hours=119)
    http.answer = lambda _request: HttpResponse(200)
    make_delivery(delivering, webhook)
    work_off(delivering)

    assert stored_webhook(delivering, webhook).failing_since is None


def test_disabled_webhook_gets_no_more_deliveries(
    delivering: Ports, http: FakeHttp, webhook: int
) -> None:
    key = make_delivery(delivering, webhook)
    with delivering.database.transaction() as session:
        session.get_one(models.Webhook, webhook).is_active = False

    assert work_off(delivering) == 0
    assert http.requests == []
    stored = stored_delivery(delivering, key)
    assert (stored.status, stored.given_up) == ("FAILED", "The webhook is disabled.")


def test_retry_after_is_honoured(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)
    http.answer = lambda _request: HttpResponse(429, {"retry-after": "90"})
    work_off(delivering)

    assert stored_delivery(delivering, key).next_attempt_at == clock.now() + timedelta(seconds=90)


def test_two_workers_never_send_the_same_attempt(
    delivering: Ports, http: FakeHttp, webhook: int, database_url: str, clock: FakeClock
) -> None:
    for _ in range(40):
        make_delivery(delivering, webhook)
    other = replace(fake_ports(database_url, clock, first_key=10), http=http)

    leases = [*lease_due_deliveries(delivering, WORKER), *lease_due_deliveries(other, WORKER)]
    for batch in leases:
        send_deliveries(delivering, WORKER, batch)
        send_deliveries(other, WORKER, batch)

    sent = [request.headers["webhook-id"] for request in http.requests]
    assert len(sent) == len(set(sent)) == 40


def test_batch_that_waited_keeps_its_lease_while_it_is_sent(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    make_delivery(delivering, webhook)
    (batch,) = lease_due_deliveries(delivering, WORKER)
    clock.pass_(seconds=40)
    taken_over: list[Batch] = []

    def answer(_request: HttpRequest) -> HttpResponse:
        clock.pass_(seconds=21)  # beyond the end of the lease as it was when the batch began
        taken_over.extend(lease_due_deliveries(delivering, WORKER))
        return HttpResponse(200)

    http.answer = answer

    assert send_deliveries(delivering, WORKER, batch) == 1
    assert taken_over == []
    assert lease_due_deliveries(delivering, WORKER) == ()


def test_batch_whose_lease_another_worker_has_is_not_sent(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    make_delivery(delivering, webhook)
    (late,) = lease_due_deliveries(delivering, WORKER)
    clock.pass_(seconds=60)

    assert send_deliveries(delivering, WORKER, late) == 0  # ended, although no one has it yet
    (current,) = lease_due_deliveries(delivering, WORKER)
    assert send_deliveries(delivering, WORKER, late) == 0
    assert http.requests == []
    assert send_deliveries(delivering, WORKER, current) == 1


@pytest.mark.both_databases
def test_batch_takes_one_read_and_one_transaction(
    sqlite_url: str, http: FakeHttp, clock: FakeClock
) -> None:
    delivering = replace(fake_ports(sqlite_url, clock), http=http)
    app, _ = make_app(delivering, "warehouse", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(delivering, app, secret="hush")
    for _ in range(BATCH_SIZE):
        make_delivery(delivering, hook)
    (batch,) = lease_due_deliveries(delivering, WORKER)

    with executions() as statements:
        assert send_deliveries(delivering, WORKER, batch) == BATCH_SIZE

    kinds = [statement.split(maxsplit=1)[0] for statement in statements]
    # One read, then: lock the webhook, insert the attempts, close the deliveries.
    assert kinds == ["SELECT", "BEGIN", "SELECT", "INSERT", "UPDATE"], statements


def test_killed_workers_lease_is_taken_over(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    make_delivery(delivering, webhook)
    (lost,) = lease_due_deliveries(delivering, WORKER)
    assert lease_due_deliveries(delivering, WORKER) == ()
    clock.pass_(minutes=7)

    assert work_off(delivering) == 1
    assert send_deliveries(delivering, WORKER, lost) == 0
    assert len(http.requests) == 1
