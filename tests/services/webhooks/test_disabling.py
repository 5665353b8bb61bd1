"""An endpoint that is switched off by the installation itself is never switched off silently."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest, HttpResponse
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.sending import send_deliveries
from app.services.shop.settings import show_settings
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.outbox import mails
from tests.builders.people import make_group, make_staff, make_user
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

GONE = "The endpoint returned 410 Gone."
DEAD = "The endpoint failed for 5 days without a successful delivery."


@pytest.fixture
def http(ports: Ports) -> FakeHttp:
    return FakeHttp(ports.database, lambda _request: HttpResponse(500))


@pytest.fixture
def trying(ports: Ports, http: FakeHttp) -> Ports:
    return replace(ports, http=http)


@pytest.fixture
def webhook(ports: Ports) -> int:
    key, _ = make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS)
    target = "https://app.example.com/hook?key=sesame"
    return make_webhook(ports, key, target_url=target)


def work(ports: Ports, webhook: int) -> None:
    make_delivery(ports, webhook)
    for batch in lease_due_deliveries(ports, WORKER):
        send_deliveries(ports, WORKER, batch)


def stored(ports: Ports, webhook: int) -> models.Webhook:
    with ports.database.reading() as session:
        return session.get_one(models.Webhook, webhook)


def entries(ports: Ports) -> list[models.AuditEntry]:
    query = select(models.AuditEntry).where(models.AuditEntry.action == "webhook.disable")
    with ports.database.reading() as session:
        return list(session.scalars(query))


def fail_for_five_days(ports: Ports, webhook: int, clock: FakeClock) -> None:
    work(ports, webhook)
    clock.pass_(hours=121)
    work(ports, webhook)


def test_app_managers_are_mailed_the_reason(trying: Ports, webhook: int, clock: FakeClock) -> None:
    group = make_group(trying, "Technicians", Permission.MANAGE_APPS)
    make_user(trying, "group@example.com", is_staff=True, groups=[group])
    make_staff(trying, "direct@example.com", Permission.MANAGE_APPS)
    make_user(trying, "super@example.com", is_superuser=True)
    make_staff(trying, "orders@example.com", Permission.MANAGE_ORDERS)
    make_user(trying, "former@example.com", is_superuser=True, is_active=False)

    fail_for_five_days(trying, webhook, clock)

    letters = mails(trying, MailKind.WEBHOOK_DISABLED)
    assert [rendered.recipient for rendered in letters] == [
        "group@example.com",
        "direct@example.com",
        "super@example.com",
    ]
    assert letters[0].values == {
        "webhook": "hook",
        "app": "Warehouse",
        "target": "https://app.example.com/hook?key=***",
        "reason": DEAD,
        "since": "2026-03-01 12:00 UTC",
        "since_at": "2026-03-01T12:00:00+00:00",
        "when": "2026-03-06 13:00 UTC",
        "at": "2026-03-06T13:00:00+00:00",
    }


@pytest.mark.both_databases
def test_mail_explains_what_happened_and_what_to_do(
    trying: Ports, webhook: int, clock: FakeClock
) -> None:
    make_staff(trying, "direct@example.com", Permission.MANAGE_APPS)
    fail_for_five_days(trying, webhook, clock)

    rendered = trying.email_templates.render(
        mails(trying, MailKind.WEBHOOK_DISABLED)[0], show_settings(trying, OPERATOR)
    )
    assert rendered.subject.startswith("Webhook hook of ")
    for body in (rendered.text, rendered.html):
        assert DEAD in body
        assert "enable the webhook in the console" in " ".join(body.split())
        assert "sesame" not in body


def test_disabling_is_audited_with_its_reason(
    trying: Ports, webhook: int, clock: FakeClock
) -> None:
    fail_for_five_days(trying, webhook, clock)

    (entry,) = entries(trying)
    assert (entry.actor_kind, entry.subject_id) == ("worker", str(webhook))
    assert (entry.before, entry.after) == (
        {"is_active": True},
        {"is_active": False, "reason": DEAD},
    )


def test_response_410_sends_the_same_notice(
    trying: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    make_staff(trying, "direct@example.com", Permission.MANAGE_APPS)
    http.answer = lambda _request: HttpResponse(410)
    for _ in range(3):
        make_delivery(trying, webhook)
    work(trying, webhook)

    record = stored(trying, webhook)
    assert (record.is_active, record.disabled_reason) == (False, GONE)
    assert record.disabled_at == clock.now()
    assert [entry.after["reason"] for entry in entries(trying)] == [GONE]
    assert len(mails(trying, MailKind.WEBHOOK_DISABLED)) == 1


def test_webhook_has_its_last_failure(
    trying: Ports, http: FakeHttp, webhook: int, clock: FakeClock
) -> None:
    work(trying, webhook)
    assert (stored(trying, webhook).last_failure, stored(trying, webhook).last_failure_at) == (
        "500 Internal Server Error",
        clock.now(),
    )

    def refuse(_request: HttpRequest) -> HttpResponse:
        raise CallFailed(CallFault.TIMEOUT, "app.example.com did not answer within 20 s.")

    http.answer = refuse
    clock.pass_(minutes=1)
    work(trying, webhook)
    assert stored(trying, webhook).last_failure.startswith("app.example.com did not answer")


def test_enabling_a_webhook_clears_the_reason(
    trying: Ports, webhook: int, clock: FakeClock
) -> None:
    fail_for_five_days(trying, webhook, clock)
    input_ = WebhookInput(is_active=True)
    update_webhook(trying, OPERATOR, to_global_id("Webhook", webhook), "", input_)
    work(trying, webhook)

    record = stored(trying, webhook)
    assert (record.is_active, record.disabled_reason, record.disabled_at) == (True, "", None)
    assert record.failing_since == clock.now()
