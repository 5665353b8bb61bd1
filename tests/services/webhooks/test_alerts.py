"""People are told once that a webhook starts failing, and that it works again."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import select, update

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import MAX_ALERTS, AlertRule
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import ShopUpdate
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.apps.app_changes import AppChange, update_app
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from app.services.shop.settings import show_settings, update_shop
from app.services.webhooks.failing_webhooks import (
    end_quiet_incidents,
    list_failing_webhooks,
    review_incident,
)
from tests.builders.apps import make_app
from tests.builders.deliveries import stored_webhook, work_off
from tests.builders.outbox import mails
from tests.builders.people import make_staff
from tests.builders.webhooks import change_webhook, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

CONTACT = "oncall@app.example.com"


class Endpoint:
    """Answers in turn what it is told, and the last of that from then on."""

    def __init__(self, *statuses: int) -> None:
        self.says(*statuses)

    def says(self, *statuses: int) -> None:
        self._statuses: Iterator[int] = iter(statuses[:-1])
        self._last = statuses[-1]

    def answer(self, _request: object) -> HttpResponse:
        return HttpResponse(next(self._statuses, self._last))


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint(503)


@pytest.fixture
def shop(ports: Ports, endpoint: Endpoint) -> Ports:
    made = replace(ports, http=FakeHttp(ports.database, endpoint.answer))
    make_staff(made, "apps@example.com", Permission.MANAGE_APPS)
    make_staff(made, "orders@example.com", Permission.MANAGE_ORDERS)
    return made


@pytest.fixture
def app_id(shop: Ports) -> int:
    key, _ = make_app(shop, "Warehouse", Permission.MANAGE_PRODUCTS)
    return key


@pytest.fixture
def webhook(shop: Ports, app_id: int) -> int:
    return make_webhook(shop, app_id, target_url="https://app.example.com/hook?key=sesame")


def _try(shop: Ports, webhook: int, times: int = 1) -> None:
    for _ in range(times):
        make_delivery(shop, webhook)
        work_off(shop)


def _recipients(shop: Ports, kind: MailKind = MailKind.WEBHOOK_FAILING) -> list[str]:
    return [mail.recipient for mail in mails(shop, kind)]


def _actions(shop: Ports) -> list[str]:
    query = select(models.AuditEntry.action).where(models.AuditEntry.subject_type == "Webhook")
    with shop.database.reading() as session:
        return list(session.scalars(query.order_by(models.AuditEntry.id)))


def test_rule_counts_failures_in_a_row_or_their_share() -> None:
    rule = AlertRule(failures=3, percent=50, attempts=10)
    for in_row, failed, attempts, is_failing in (
        (2, 2, 9, False),
        (3, 3, 9, True),
        (1, 4, 9, False),
        (1, 5, 10, True),
        (1, 4, 10, False),
        (0, 0, 0, False),
    ):
        assert rule.is_failing(in_row, failed, attempts) is is_failing, (in_row, failed, attempts)


@pytest.mark.both_databases
def test_contact_is_told_once_of_three_failures_and_once_of_the_recovery(
    shop: Ports, app_id: int, webhook: int, endpoint: Endpoint, clock: FakeClock
) -> None:
    update_app(shop, OPERATOR, app_id, AppChange(contact_email=CONTACT))
    _try(shop, webhook, 2)
    assert _recipients(shop) == []
    _try(shop, webhook)
    assert _recipients(shop) == [CONTACT]
    _try(shop, webhook, 3)
    assert _recipients(shop) == [CONTACT], "once per incident"
    [shown] = list_failing_webhooks(shop, OPERATOR)
    assert shown.id == webhook, "staff see it on Home"

    endpoint.says(200)
    clock.pass_(minutes=20)
    _try(shop, webhook, 2)
    assert _recipients(shop, MailKind.WEBHOOK_RECOVERED) == [CONTACT]
    assert _actions(shop) == ["webhook.fail", "webhook.recover"]
    assert list_failing_webhooks(shop, OPERATOR) == ()

    [mail] = mails(shop, MailKind.WEBHOOK_FAILING)
    rendered = shop.email_templates.render(mail, show_settings(shop, OPERATOR))
    assert rendered.subject.startswith("Webhook hook of ")
    for body in (rendered.text, rendered.html):
        assert "503 Service Unavailable" in body
        assert "sesame" not in body


def test_without_a_contact_app_managers_are_told(shop: Ports, webhook: int) -> None:
    _try(shop, webhook, 3)
    assert _recipients(shop) == ["apps@example.com"]


def test_half_of_the_attempts_is_enough_where_there_is_traffic(
    shop: Ports, webhook: int, endpoint: Endpoint, clock: FakeClock
) -> None:
    for _ in range(4):
        endpoint.says(200, 503)
        _try(shop, webhook, 2)
    assert _recipients(shop) == [], "8 attempts are too few"
    endpoint.says(200, 503)
    _try(shop, webhook, 2)
    assert _recipients(shop) == ["apps@example.com"]

    endpoint.says(503, 503, 200)
    _try(shop, webhook, 3)
    assert _recipients(shop, MailKind.WEBHOOK_RECOVERED) == [], "many failed just now"
    end_quiet_incidents(shop, WORKER)
    assert stored_webhook(shop, webhook).incident_since is not None
    clock.pass_(minutes=16)
    end_quiet_incidents(shop, WORKER)
    assert stored_webhook(shop, webhook).incident_since is None, "without another event"
    assert _recipients(shop, MailKind.WEBHOOK_RECOVERED) == ["apps@example.com"]


def test_webhook_that_works_and_fails_in_turn_is_told_of_once_an_hour(
    shop: Ports, webhook: int, endpoint: Endpoint, clock: FakeClock
) -> None:
    for _ in range(4):
        endpoint.says(503)
        _try(shop, webhook, 3)
        endpoint.says(200)
        clock.pass_(minutes=16)
        _try(shop, webhook)
    assert len(_recipients(shop)) == 1
    assert len(_recipients(shop, MailKind.WEBHOOK_RECOVERED)) == 1
    endpoint.says(503)
    _try(shop, webhook, 3)
    assert len(_recipients(shop)) == 2


def test_failures_that_began_within_that_hour_are_told_of_after_it(
    shop: Ports, webhook: int, endpoint: Endpoint, clock: FakeClock
) -> None:
    _try(shop, webhook, 3)
    endpoint.says(200)
    clock.pass_(minutes=16)
    _try(shop, webhook)
    assert len(_recipients(shop, MailKind.WEBHOOK_RECOVERED)) == 1
    endpoint.says(503)
    _try(shop, webhook, 3)
    assert len(_recipients(shop)) == 1, "too soon after the last one"
    clock.pass_(minutes=50)
    _try(shop, webhook, 3)
    assert len(_recipients(shop)) == 2, "people believed that it works"
    endpoint.says(200)
    clock.pass_(minutes=16)
    _try(shop, webhook)
    assert len(_recipients(shop, MailKind.WEBHOOK_RECOVERED)) == 2


def test_recovery_is_not_told_of_a_webhook_that_fails_again_meanwhile(
    shop: Ports, webhook: int, clock: FakeClock
) -> None:
    _try(shop, webhook, 3)
    clock.pass_(minutes=16)

    def review(meanwhile: int) -> list[str]:
        with shop.database.transaction() as session:
            session.execute(update(models.Webhook).values(failures_in_row=0))
        with shop.database.transaction() as session:
            seen = session.get_one(models.Webhook, webhook)
            changed = update(models.Webhook).values(failures_in_row=meanwhile)
            session.execute(changed.execution_options(synchronize_session=False))
            review_incident(shop, session, seen)
        return _recipients(shop, MailKind.WEBHOOK_RECOVERED)

    assert review(meanwhile=1) == []
    assert stored_webhook(shop, webhook).incident_since is not None
    assert review(meanwhile=0) == ["apps@example.com"]


def test_one_host_with_many_webhooks_sends_few_emails(
    shop: Ports, app_id: int, clock: FakeClock
) -> None:
    hooks = [make_webhook(shop, app_id, name=f"hook {number}") for number in range(MAX_ALERTS + 3)]
    for hook in hooks:
        change_webhook(shop, hook, failures_in_row=2)
        _try(shop, hook)
    assert len(_recipients(shop)) == MAX_ALERTS
    assert len(list_failing_webhooks(shop, OPERATOR, limit=100)) == len(hooks)


def test_shop_decides_whether_and_when_people_are_told(shop: Ports, webhook: int) -> None:
    update_shop(shop, OPERATOR, ShopUpdate(webhook_alerts=False, webhook_alert_failures=2))
    _try(shop, webhook, 4)
    assert _recipients(shop) == []
    with pytest.raises(Refused, match="from 1 to 100"):
        update_shop(shop, OPERATOR, ShopUpdate(webhook_alert_percent=0))
    other = make_webhook(shop, stored_webhook(shop, webhook).app_id, name="other")
    update_shop(shop, OPERATOR, ShopUpdate(webhook_alerts=True))
    _try(shop, other, 2)
    assert _recipients(shop) == ["apps@example.com"]


def test_invalid_contact_is_refused_and_none_is_allowed(shop: Ports, app_id: int) -> None:
    with pytest.raises(Refused) as refused:
        update_app(shop, OPERATOR, app_id, AppChange(contact_email="nobody"))
    assert [problem.field for problem in refused.value.problems] == ["contactEmail"]
    update_app(shop, OPERATOR, app_id, AppChange(contact_email=CONTACT))
    assert update_app(shop, OPERATOR, app_id, AppChange(contact_email="")).contact_email == ""


@pytest.mark.both_databases
def test_workers_that_fail_at_once_tell_it_once(shop: Ports, webhook: int) -> None:
    for _ in range(64):
        make_delivery(shop, webhook)
    batches = lease_due_deliveries(shop, WORKER)
    begin = Barrier(len(batches), timeout=30)

    def send(place: int) -> None:
        begin.wait()
        send_deliveries(shop, WORKER, batches[place])

    with ThreadPoolExecutor(len(batches)) as pool:
        for run in [pool.submit(send, place) for place in range(len(batches))]:
            run.result(timeout=60)
    assert len(batches) > 1
    assert _recipients(shop) == ["apps@example.com"]
