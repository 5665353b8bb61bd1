"""Whatever an endpoint answers, and whatever we make of it, an attempt comes to an end."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import MAX_HEADERS_SIZE, MAX_RETRY_AFTER, SCHEDULE
from app.ports import Ports
from app.ports.http import HttpRequest, HttpResponse
from tests.builders.apps import make_app
from tests.builders.deliveries import stored_delivery, work_off
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fixtures.cases import cases

SECRET = "Bearer hunter2"


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(200))


@pytest.fixture
def delivering(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def webhook(ports: Ports) -> int:
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    return make_webhook(ports, app)


def _answered(ports: Ports, http: FakeHttp, headers: Mapping[str, str]) -> models.Delivery:
    """A delivery whose first attempt was answered with 503 and ``headers``."""
    app, _ = make_app(ports, "another", Permission.MANAGE_PRODUCTS)
    key = make_delivery(ports, make_webhook(ports, app))
    http.answer = lambda _request: HttpResponse(503, headers)
    work_off(ports)
    return stored_delivery(ports, key)


def _attempts(ports: Ports) -> list[models.DeliveryAttempt]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.DeliveryAttempt)))


@cases("retry_after", ["soon", "1, 2"])
def test_invalid_retry_after_is_ignored(
    delivering: Ports, http: FakeHttp, clock: FakeClock, retry_after: str
) -> None:
    put_off = _answered(delivering, http, {"retry-after": retry_after}).next_attempt_at
    assert put_off is not None
    assert SCHEDULE[1] <= (put_off - clock.now()).total_seconds() <= SCHEDULE[1] * 1.1


@cases("retry_after", ["Fri, 31 Dec 9999 23:59:59 GMT", "86401"])
def test_retry_after_delays_an_attempt_by_at_most_a_day(
    delivering: Ports, http: FakeHttp, clock: FakeClock, retry_after: str
) -> None:
    put_off = _answered(delivering, http, {"retry-after": retry_after}).next_attempt_at
    assert put_off is not None
    assert (put_off - clock.now()).total_seconds() == MAX_RETRY_AFTER


def test_stored_response_headers_are_limited(delivering: Ports, http: FakeHttp) -> None:
    many = {f"x-{number}": "y" * 1000 for number in range(100)}
    _answered(delivering, http, {"x-nul": "a\x00b", "set-cookie": SECRET} | many)

    (attempt,) = _attempts(delivering)
    headers = attempt.response_headers
    assert (headers["x-nul"], headers["set-cookie"]) == ("a\ufffdb", "(hidden)")
    assert 10 < len(headers) < 20
    assert len(str(headers)) < 2 * MAX_HEADERS_SIZE


def test_internal_error_fails_one_attempt_and_no_other(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    keys = [make_delivery(delivering, webhook) for _ in range(3)]

    def answer(_request: HttpRequest) -> HttpResponse:
        if len(http.requests) == 2:
            raise ZeroDivisionError(SECRET)
        return HttpResponse(200)

    http.answer = answer
    with pytest.raises(ExceptionGroup) as raised:
        work_off(delivering)

    states = [stored_delivery(delivering, key).status for key in keys]
    assert states == ["SUCCESS", "PENDING", "SUCCESS"]
    (failed,) = [attempt for attempt in _attempts(delivering) if attempt.status == "FAILED"]
    (note,) = raised.value.exceptions[0].__notes__
    request_id = failed.response.rpartition(" ")[2]
    assert len(request_id) == 16
    assert f"Request id {request_id}" in note
    assert SECRET not in failed.response
    clock.pass_(seconds=6)
    http.answer = lambda _request: HttpResponse(200)
    assert work_off(delivering) == 1
    assert stored_delivery(delivering, keys[1]).status == "SUCCESS"


def test_permanent_internal_error_fails_the_delivery_and_keeps_the_webhook_enabled(
    delivering: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    key = make_delivery(delivering, webhook)

    def break_down(_request: HttpRequest) -> HttpResponse:
        raise ZeroDivisionError

    http.answer = break_down
    for wait in (*SCHEDULE, 100_000, 500_000):
        clock.pass_(seconds=wait * 1.1)
        with suppress(ExceptionGroup):
            work_off(delivering)

    assert len(_attempts(delivering)) == len(SCHEDULE)
    assert stored_delivery(delivering, key).status == "FAILED"
    with delivering.database.reading() as session:
        stored = session.get_one(models.Webhook, webhook)
    assert (stored.is_active, stored.failing_since) == (True, None)
