"""What the installation leans on: Redis, mail, providers, workers, proxies."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from redis import Redis
from sqlalchemy import update

from app import models
from app.adapters.mail.mailer import SmtpMailer
from app.adapters.mail.own_templates import JinjaOwnTemplates
from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import OwnTemplate
from app.domain.values.installation import CheckResult, CheckState
from app.ports import Ports
from app.services.mails.mail_templates import save_template
from app.services.operations.background_work import read_worker_status, record_heartbeat
from app.services.operations.environment_checks import (
    forwarding_findings,
    mail_finding,
    provider_findings,
    sender_finding,
    template_findings,
    throttle_findings,
    worker_findings,
)
from app.services.operations.health_checks import run_checks
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.app_mail import make_mailing_shop
from tests.builders.apps import make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import OwnProvider
from tests.servers.smtp import smtp_server


@dataclass(frozen=True, slots=True)
class Later:
    """Ports with the real time, on which ``run_checks`` insists, or some while after it."""

    ports: Ports

    def __call__(self, **gap: float) -> Ports:
        return replace(self.ports, clock=FakeClock(SystemClock().now() + timedelta(**gap)))


@pytest.fixture
def at(ports: Ports) -> Later:
    return Later(ports)


FINDINGS: dict[str, Callable[[Ports], Iterable[CheckResult]]] = {
    "login throttle": throttle_findings,
    "worker": worker_findings,
    "mail": lambda ports: [mail_finding(ports)],
    "email templates": template_findings,
    "emails from apps": sender_finding,
    "provider default": lambda ports: provider_findings(ports, OPERATOR),
    "forwarded headers": forwarding_findings,
}


def found(ports: Ports, subject: str) -> list[CheckResult]:
    """Return the findings of one check: running all of them takes longer than most tests."""
    return [check for check in FINDINGS[subject](ports) if check.subject == subject]


def test_every_check_is_run(at: Later, provider: OwnProvider, tmp_path: Path) -> None:
    """With a finding of each that finds nothing in a healthy shop."""
    make_mailing_shop(at()).make_listener(Permission.MANAGE_USERS)
    with at().database.transaction() as session:
        seen = at().clock.now()
        session.add(models.Forwarding(peer="198.51.100.9", requests=3, last_seen_at=seen))
    (tmp_path / "invitation.txt").write_text("Welcome")
    with_folder = replace(at(), own_templates=JinjaOwnTemplates(str(tmp_path)))
    subjects = {check.subject for check in run_checks(with_folder, OPERATOR)}
    assert {*FINDINGS} <= subjects


def deliver_later(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Warehouse")
    make_delivery(ports, make_webhook(ports, app_id))


def test_worker_that_never_ran_is_a_warning(at: Later) -> None:
    [finding] = found(at(), "worker")
    assert finding.state is CheckState.WARNING
    assert "flask worker" in finding.remedy


def test_recent_heartbeat_is_healthy(at: Later) -> None:
    assert record_heartbeat(at(), WORKER) == 0
    [finding] = found(at(), "worker")
    assert finding == CheckResult("worker", CheckState.FINE, "Running; the queue is empty.")


def test_stopped_worker_is_reported_with_the_time(at: Later) -> None:
    record_heartbeat(at(minutes=-30), WORKER)
    [finding] = found(at(), "worker")
    assert finding.state is CheckState.FAILED
    assert finding.message == "Last heartbeat: 30 minutes ago."


def test_worker_backlog_is_reported(at: Later) -> None:
    record_heartbeat(at(), WORKER)
    for waiting, state in (
        (0.5, CheckState.FINE),
        (5.0, CheckState.WARNING),
        (150.0, CheckState.FAILED),
    ):
        deliver_later(at(minutes=-waiting))
        [finding] = found(at(), "worker")
        assert finding.state is state, waiting
        if state is not CheckState.FINE:
            assert "A delivery has been waiting for" in finding.message


def test_overdue_work_is_a_failure(at: Later) -> None:
    deliver_later(at(hours=-72))
    [finding] = found(at(), "worker")
    assert finding.state is CheckState.FAILED
    assert finding.message.endswith("A delivery has been waiting for 3 days.")


def test_running_and_future_work_is_not_overdue(at: Later) -> None:
    deliver_later(at(minutes=5))
    assert read_worker_status(at()).delivery_since is None


def test_configured_mail_server_is_checked(at: Later) -> None:
    with smtp_server() as (mailbox, host):
        posting = replace(at(), mailer=SmtpMailer(f"smtp://{host}", "noreply@shop.example.com"))
        [finding] = found(posting, "mail")
    assert finding.state is CheckState.FINE
    assert mailbox.messages == [], "looking sends nothing"


def test_unreachable_mail_server_is_reported(at: Later) -> None:
    posting = replace(at(), mailer=SmtpMailer("smtp://127.0.0.1:1", "noreply@shop.example.com"))
    [finding] = found(posting, "mail")
    assert finding.state is CheckState.FAILED
    assert "MAIL_URL" in finding.remedy


def test_production_without_mail_server_is_a_warning(at: Later) -> None:
    assert found(at(), "mail")[0].state is CheckState.FINE
    configuration = replace(at().configuration, development=False)
    [finding] = found(replace(at(), configuration=configuration), "mail")
    assert (finding.state, finding.remedy) == (
        CheckState.WARNING,
        "Set MAIL_URL to a mail server.",
    )


def test_broken_email_templates_are_reported(at: Later, tmp_path: Path) -> None:
    assert found(at(), "email templates") == []
    template = OwnTemplate("Hello", '<a href="{{ link }}">Open</a>', "{{ link }}")
    save_template(at(), OPERATOR, MailKind.PASSWORD_RESET, "DE", template, based_on=0)
    (tmp_path / "staff_invitation.txt").write_text("Welcome\n{{ link }}")
    (tmp_path / "staff_invitation.html").write_text("<p>Hi</p>\n<script>")
    (tmp_path / "invitation.txt").write_text("Welcome")
    with_folder = replace(at(), own_templates=JinjaOwnTemplates(str(tmp_path)))
    unknown, broken = found(with_folder, "email templates")
    assert {unknown.state, broken.state} == {CheckState.WARNING}
    assert unknown.message.startswith(f"{tmp_path}/invitation.txt: No email has this name.")
    assert broken.message.startswith(f"{tmp_path}/staff_invitation.html:2: ")
    assert broken.remedy == "Fix the file. Until then, the default is sent."
    with at().database.transaction() as session:
        session.execute(update(models.MailTemplate).values(html="<p>{{ gone }}</p>"))
    [stored] = found(at(), "email templates")
    assert stored.state is CheckState.WARNING
    assert stored.message == (
        "Password reset (Deutsch): html, line 1: There is no value gone in this email."
    )
    assert "under Emails" in stored.remedy


def test_emails_that_no_app_can_send_are_reported(at: Later) -> None:
    assert found(at(), "emails from apps") == []
    mailing = make_mailing_shop(at())
    mailing.make_listener(Permission.MANAGE_USERS)
    [finding] = found(at(), "emails from apps")
    assert finding == CheckResult(
        "emails from apps",
        CheckState.WARNING,
        "No active app gets the links of: Staff invitation. This shop sends these emails.",
        "Subscribe an app to their events, or run `flask shop set staff-invitation-sender OURS`.",
    )
    mailing.make_listener(Permission.MANAGE_STAFF)
    assert found(at(), "emails from apps") == []


def test_redis_with_eviction_is_reported(at: Later, redis_url: str) -> None:
    there = replace(at(), throttle=connect_redis_throttle(redis_url))
    assert found(there, "login throttle")[0].state is CheckState.FINE
    with Redis.from_url(redis_url) as redis:
        redis.config_set("maxmemory-policy", "allkeys-lru")
        try:
            [finding] = found(there, "login throttle")
        finally:
            redis.config_set("maxmemory-policy", "noeviction")
    assert finding.state is CheckState.FAILED
    assert "allkeys-lru" in finding.message
    assert finding.remedy == "In Redis: maxmemory-policy noeviction"


def test_every_active_provider_is_checked(at: Later, provider: OwnProvider) -> None:
    provider.describe()
    for page in ("/authorize", "/logout"):
        provider.server.answer(page, Reply(400))
    [finding] = found(at(), "provider default")
    assert finding.state is CheckState.FINE
    provider.server.answer("/keys", Reply(503))
    [finding] = found(at(), "provider default")
    assert finding.state is CheckState.FAILED
    assert finding.message.startswith("json_web_key_set_url: ")


def test_inactive_provider_is_not_checked(at: Later, provider: OwnProvider) -> None:
    save_provider(at(), OPERATOR, "default", ProviderUpdate({}, active=False))
    assert found(at(), "provider default") == []
    assert provider.server.received == []


def test_untrusted_proxies_are_reported_for_a_day(at: Later) -> None:
    assert found(at(), "forwarded headers") == []
    with at().database.transaction() as session:
        for peer, age in (("198.51.100.9", 1), ("198.51.100.10", 30)):
            seen = at(hours=-age).clock.now()
            session.add(models.Forwarding(peer=peer, requests=3, last_seen_at=seen))
    [finding] = found(at(), "forwarded headers")
    assert finding.state is CheckState.WARNING
    assert "198.51.100.9," in finding.message
    assert "198.51.100.10" not in finding.message
    assert "TRUSTED_PROXIES" in finding.remedy
