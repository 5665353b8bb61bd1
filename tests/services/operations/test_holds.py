"""A restored copy sends nothing until an operator says what; the same installation goes on."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event, select, update

from app import models
from app.adapters.keys.encryption import AesEncryption
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.events import ProductUpdated
from app.domain.mails.mail import Mail, MailKind
from app.domain.values.errors import Refused
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports, ProcessCache
from app.ports.http import HttpResponse
from app.services.accounts.password_resets import answer_reset_requests
from app.services.apps.installation_worker import install_next_app
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from app.services.mails.sending import send_due_mail
from app.services.operations.health_checks import run_checks
from app.services.operations.holds import (
    Held,
    HeldWork,
    check_installation,
    count_held,
    hold_after_restore,
    resume_sending,
)
from app.services.outbox.publisher import add_event, add_mail
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp
from tests.fakes.keys import SECRET
from tests.fixtures.ports import fake_ports

LINK = {"link": "https://shop.example.com/x", "lifetime": "1 hour", "lifetime_seconds": "3600"}
HOME = "https://shop.example.com"
COPY = "https://staging.example.com"
OTHER_SECRET = "another secret key of another installation"


def process(
    ports: Ports, url: str = HOME, secret: str = SECRET, former: tuple[str, ...] = ()
) -> Ports:
    """Another process on the same database, with these settings."""
    return replace(
        ports,
        configuration=replace(ports.configuration, public_url=url),
        encryption=AesEncryption(secret, former),
        cache=ProcessCache(),
        http=FakeHttp(ports.database, lambda _request: HttpResponse(200)),
    )


@pytest.fixture
def home(ports: Ports) -> Ports:
    """The installation that the database belongs to."""
    made = process(ports)
    assert check_installation(made, WORKER) is None
    return made


def _fill(ports: Ports) -> None:
    """Store a delivery, an event, an email, a requested link and an installation that wait."""
    app, _ = make_app(ports, "Feed", Permission.MANAGE_PRODUCTS)
    make_delivery(ports, make_webhook(ports, app))
    now = ports.clock.now()
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(1))
        add_mail(ports, session, Mail(MailKind.PASSWORD_RESET, "old@example.com", {}))
        session.add(
            models.ResetRequest(
                email="nobody@example.com",
                redirect_url="",
                caller={},
                created_at=ports.clock.now(),
            )
        )
        session.add(
            models.AppInstallation(
                app_name="Till",
                manifest_url="https://till.example.com/manifest",
                permissions="",
                status="PENDING",
                message="",
                created_at=now,
                updated_at=now,
                next_attempt_at=now,
                caller={},
            )
        )


def _sends_nothing(held: Ports) -> None:
    assert lease_due_deliveries(held, WORKER) == ()
    assert fan_out_events(held, WORKER) == 0
    assert install_next_app(held, WORKER) == 0
    send_due_mail(held, WORKER)
    assert held.http.requests == []  # type: ignore[attr-defined]
    with held.database.reading() as session:
        sent = select(models.OutboxMail.id).where(models.OutboxMail.attempts > 0)
        assert session.scalars(sent).all() == []


@pytest.mark.parametrize(
    ("url", "secret", "reason"),
    [
        (COPY, SECRET, f"PUBLIC_URL is new to this database, which belongs to {HOME}."),
        (HOME, OTHER_SECRET, "another SECRET_KEY."),
    ],
)
def test_unknown_installation_holds_everything(
    home: Ports, clock: FakeClock, url: str, secret: str, reason: str
) -> None:
    _fill(home)
    (batch,) = lease_due_deliveries(home, WORKER)
    clock.pass_(minutes=1)
    copy = process(home, url, secret)
    hold = check_installation(copy, WORKER)
    assert hold is not None
    assert reason in hold.reasons[0]
    assert (hold.since, copy.cache.hold) == (clock.now(), hold)
    _sends_nothing(copy)
    assert send_deliveries(copy, WORKER, batch) == 0
    clock.pass_(minutes=1)
    restarted = process(home, url, secret)
    assert check_installation(restarted, WORKER) == hold, "since when stays"
    [finding] = [found for found in run_checks(copy, OPERATOR) if found.subject == "held back"]
    assert reason in finding.message
    assert "flask resume" in finding.remedy
    assert check_installation(process(home), WORKER) is None, "the original goes on"


def test_same_installation_holds_nothing(home: Ports) -> None:
    for known in (
        process(home),
        process(home, secret=OTHER_SECRET, former=(SECRET,)),
        process(home, secret=OTHER_SECRET),
        process(home),
    ):
        assert check_installation(known, WORKER) is None


def test_database_of_another_server_is_held(postgresql_url: str, clock: FakeClock) -> None:
    ports = fake_ports(postgresql_url, clock)
    home = process(ports)
    assert check_installation(home, WORKER) is None
    with ports.database.transaction() as session:
        marks = session.scalars(
            select(models.InstallationMark.value).where(models.InstallationMark.kind == "database")
        ).all()
        assert len(marks) == 1
        session.execute(
            update(models.InstallationMark)
            .where(models.InstallationMark.kind == "database")
            .values(value="1/2")
        )
    hold = check_installation(process(ports), WORKER)
    assert hold is not None
    assert hold.reasons == ("The database was copied or moved here from another server or name.",)


def test_copy_stays_held_while_its_server_is_away(postgresql_url: str, clock: FakeClock) -> None:
    ports = fake_ports(postgresql_url, clock)
    home = process(ports)
    assert check_installation(home, WORKER) is None
    with ports.database.transaction() as session:
        session.execute(
            update(models.InstallationMark)
            .where(models.InstallationMark.kind == "database")
            .values(value="1/2")
        )
    copy = process(ports)
    hold = check_installation(copy, WORKER)
    assert hold is not None
    with ports.database.reading() as session:
        engine = session.get_bind().engine

    def lose_connection(_1: object, _2: object, statement: str, values: object, *_: object) -> Any:
        ending = "SELECT pg_terminate_backend(pg_backend_pid())::text"
        return (ending if "pg_control_system" in statement else statement), values

    event.listen(engine, "before_cursor_execute", lose_connection, retval=True)
    with pytest.raises(DatabaseUnavailable):
        check_installation(copy, WORKER)
    event.remove(engine, "before_cursor_execute", lose_connection)
    assert copy.cache.hold == hold


def test_restored_database_is_held_by_every_process(home: Ports, clock: FakeClock) -> None:
    with home.database.transaction() as session:
        hold_after_restore(session, clock.now())
    hold = check_installation(home, WORKER)
    assert hold is not None
    assert hold.reasons == ("The database was restored from a backup.",)
    assert resume_sending(home, OPERATOR, tuple(Held)) == ()
    assert check_installation(home, WORKER) is None


def test_links_that_are_requested_meanwhile_are_sent(home: Ports, clock: FakeClock) -> None:
    _fill(home)
    clock.pass_(minutes=1)
    copy = process(home, COPY)
    check_installation(copy, WORKER)
    clock.pass_(seconds=1)
    with copy.database.transaction() as session:
        add_mail(copy, session, Mail(MailKind.PASSWORD_RESET, "new@example.com", LINK))
        add_mail(copy, session, Mail(MailKind.WEBHOOK_DISABLED, "staff@example.com", {}))
    assert answer_reset_requests(copy, WORKER) == 1, "the one without an account is dropped"
    send_due_mail(copy, WORKER)
    with copy.database.reading() as session:
        tried = session.scalars(
            select(models.OutboxMail.recipient).where(models.OutboxMail.attempts > 0)
        ).all()
    assert tried == ["new@example.com"]


@pytest.mark.both_databases
def test_resuming_sends_what_was_chosen_and_discards_the_rest(
    home: Ports, clock: FakeClock
) -> None:
    _fill(home)
    clock.pass_(minutes=1)
    copy = process(home, COPY)
    check_installation(copy, WORKER)
    assert count_held(copy, OPERATOR) == (
        HeldWork(Held.DELIVERIES, 2),
        HeldWork(Held.EMAILS, 1),
        HeldWork(Held.INSTALLATIONS, 1),
    )
    done = resume_sending(copy, OPERATOR, [Held.EMAILS])
    assert done == (HeldWork(Held.DELIVERIES, 1), HeldWork(Held.INSTALLATIONS, 1))
    assert copy.cache.hold is None
    assert work_off(copy) == 0
    assert fan_out_events(copy, WORKER) == 0
    with copy.database.reading() as session:
        delivery = session.scalars(select(models.Delivery)).one()
        entry = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "shop.resume")
        ).one()
        mail = session.scalars(select(models.OutboxMail)).one()
    assert (delivery.status, delivery.given_up) == (
        "FAILED",
        "Not sent: it was held in a restored copy.",
    )
    assert entry.after == {"sent": "emails", "deliveries": 1, "installations": 1}
    assert mail.next_attempt_at is not None
    assert check_installation(process(home, COPY), WORKER) is None
    with pytest.raises(Refused, match="Nothing is held"):
        resume_sending(copy, OPERATOR, [])
