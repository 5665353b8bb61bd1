"""One look finds everything that waits for the worker, and nothing else."""

import re
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.events import ProductUpdated
from app.domain.mails.mail import Mail, MailKind
from app.ports import Ports
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.operations.background_work import find_waiting_work, read_backlog
from app.services.outbox.publisher import add_event, add_mail
from app.worker.tasks import TASKS
from tests.builders.apps import make_app
from tests.builders.oauth import make_client
from tests.builders.webhooks import change_delivery, make_delivery, make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import recorded_statements, selects

HOUR = timedelta(hours=1)

_FINISHED = """
INSERT INTO deliveries (webhook_id, event, subject_id, message_id, payload, issuer, status,
  attempts, created_at)
SELECT webhook_id, event, subject_id, message_id || n, payload, issuer, 'SUCCESS', 1, created_at
FROM deliveries, generate_series(1, 20000) AS n;
INSERT INTO outbox_mails (kind, recipient, sealed, created_at, attempts, sent_at)
SELECT kind, recipient, '', created_at, 1, created_at
FROM outbox_mails, generate_series(1, 20000) AS n;
DELETE FROM deliveries WHERE next_attempt_at IS NOT NULL;
DELETE FROM outbox_mails WHERE next_attempt_at IS NOT NULL;
ANALYZE deliveries, outbox_mails;
"""


def _event(ports: Ports) -> None:
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, ProductUpdated(1))


def _delivery(ports: Ports) -> None:
    app, _ = make_app(ports, "warehouse")
    make_delivery(ports, make_webhook(ports, app))


def _mail(ports: Ports) -> None:
    with ports.database.transaction() as session:
        add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))


def _mail_that_waits_for_an_app(ports: Ports) -> None:
    _mail(ports)
    later = ports.clock.now() + HOUR
    with ports.database.transaction() as session:
        session.execute(
            update(models.OutboxMail).values(awaited_event_id=1, next_attempt_at=later)
        )


def _reset_request(ports: Ports) -> None:
    with ports.database.transaction() as session:
        session.add(
            models.ResetRequest(
                email="ann@example.com",
                redirect_url="http://localhost:3000/",
                caller={"kind": "UNKNOWN"},
                created_at=ports.clock.now(),
            )
        )


def _installation(ports: Ports) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.add(
            models.AppInstallation(
                app_name="Mailer",
                manifest_url="https://app.example.com/manifest",
                caller={},
                created_at=now,
                updated_at=now,
                next_attempt_at=now,
            )
        )


def _ended_session(ports: Ports) -> None:
    """Store a session that has ended and that a client is to be told of."""
    ended = models.OAuthClientSession(
        client_id=make_client(ports).client.id,
        sid="sid",
        issuer="https://shop.example.com",
        subject="User:1",
        due_at=ports.clock.now(),
    )
    with ports.database.transaction() as session:
        session.add(ended)


def _closed_storefront(ports: Ports) -> None:
    values = {"allow_storefront_traffic": False, "storefront_opens_at": ports.clock.now()}
    with ports.database.transaction() as session:
        session.execute(update(models.Shop).values(values))


@pytest.mark.parametrize(
    ("make", "task"),
    [
        (_event, "events"),
        (_delivery, "dispatch"),
        (_mail, "mail"),
        (_mail_that_waits_for_an_app, "mail"),
        (_reset_request, "mail"),
        (_installation, "installations"),
        (_closed_storefront, "storefront"),
    ],
)
def test_what_waits_names_its_task(ports: Ports, make: Callable[[Ports], None], task: str) -> None:
    assert find_waiting_work(ports, WORKER) == frozenset()

    make(ports)

    assert find_waiting_work(ports, WORKER) == {task}


def test_what_is_not_due_yet_names_no_task(ports: Ports, clock: FakeClock) -> None:
    for make in (_event, _delivery, _mail, _installation, _closed_storefront):
        make(ports)
    later = clock.now() + HOUR
    for record in (models.Delivery, models.OutboxMail, models.AppInstallation):
        with ports.database.transaction() as session:
            session.execute(update(record).values(next_attempt_at=later))
    with ports.database.transaction() as session:
        session.execute(update(models.OutboxEvent).values(closed_at=clock.now()))
        session.execute(update(models.Shop).values(storefront_opens_at=later))

    assert find_waiting_work(ports, WORKER) == frozenset()

    clock.pass_(hours=1)

    assert find_waiting_work(ports, WORKER) == {"dispatch", "mail", "installations", "storefront"}


def test_leased_delivery_is_waiting_again_when_its_lease_ends(
    ports: Ports, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "warehouse")
    key = make_delivery(ports, make_webhook(ports, app))
    assert lease_due_deliveries(ports, WORKER)

    assert find_waiting_work(ports, WORKER) == frozenset()

    clock.pass_(minutes=1)
    assert find_waiting_work(ports, WORKER) == {"dispatch"}

    # A lease from before the clock was put back by a year.
    change_delivery(ports, key, lease_until=clock.now() + timedelta(days=365))
    assert find_waiting_work(ports, WORKER) == {"dispatch"}


def test_every_task_that_waits_for_work_is_looked_for(ports: Ports) -> None:
    for make in (_event, _delivery, _mail, _installation, _ended_session, _closed_storefront):
        make(ports)

    on_demand = {task.name for task in TASKS if task.on_demand}
    assert find_waiting_work(ports, WORKER) == on_demand


@pytest.mark.both_databases
def test_look_is_one_statement(ports: Ports) -> None:
    find_waiting_work(ports, WORKER)

    with recorded_statements() as statements:
        find_waiting_work(ports, WORKER)

    assert len(selects(statements)) == 1
    assert not any("BEGIN" in line for line in statements)


@pytest.mark.first
@pytest.mark.both_databases
def test_look_goes_through_no_finished_work_on_postgresql(
    postgresql_url: str, clock: FakeClock
) -> None:
    ports = fake_ports(postgresql_url, clock)
    _delivery(ports)
    _mail(ports)
    clock.pass_(hours=-1)  # nothing is due, so that a look is all that happens
    with recorded_statements() as statements:
        for look in (find_waiting_work, lease_due_deliveries, read_backlog):
            look(ports, WORKER)
    assert len(selects(statements)) >= 3

    # Rolled back at the end. A statement that is run often is planned without its values.
    with psycopg.connect(postgresql_url) as connection:
        connection.execute(_FINISHED)
        for statement in selects(statements):
            plan = connection.execute(f"EXPLAIN (GENERIC_PLAN) {_numbered(statement)}".encode())
            read = "\n".join(line for (line,) in plan)
            assert "Seq Scan on deliveries" not in read, read
            assert "Seq Scan on outbox_mails" not in read, read
        connection.rollback()


def _numbered(statement: str) -> str:
    """Return the statement with PostgreSQL's own parameters instead of the driver's."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    return re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", statement)
