"""Promised mails are sent once each, late rather than never."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import Connection, Engine, event, select
from typing_extensions import override

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import OwnTemplate
from app.ports import Ports
from app.ports.mail import MailUndeliverable
from app.services.mails.mail_templates import save_template
from app.services.mails.sending import send_due_mail
from app.services.outbox.publisher import add_mail
from tests.builders.people import make_user
from tests.fakes.clock import START, FakeClock
from tests.fixtures.ports import fake_ports


class FakePost:
    """Takes letters over, or raises what it was told to."""

    def __init__(self) -> None:
        self.sent: list[RenderedMail] = []
        self.failure: MailUndeliverable | None = None

    def send(self, rendered: RenderedMail) -> None:
        if self.failure is not None:
            raise self.failure
        self.sent.append(rendered)

    def check(self) -> bool:
        return False


@pytest.fixture
def mailer() -> FakePost:
    return FakePost()


@pytest.fixture
def posting(ports: Ports, mailer: FakePost) -> Ports:
    return replace(ports, mailer=mailer)


def _promise(ports: Ports, recipient: str = "ann@example.com") -> None:
    mail = Mail(
        MailKind.PASSWORD_RESET,
        recipient,
        {"link": "https://shop.example.com/?token=sesame", "lifetime": "1 hour"},
    )
    with ports.database.transaction() as session:
        add_mail(ports, session, mail)


def test_worker_sends_by_the_shops_own_template(posting: Ports, mailer: FakePost) -> None:
    html = '<p>Moin <a href="{{ link }}">hier</a></p>'
    own = OwnTemplate("Moin {{ recipient }}", html, "Moin\n{{ link }}")
    save_template(posting, OPERATOR, MailKind.PASSWORD_RESET, "", own, based_on=0)
    _promise(posting)
    assert send_due_mail(posting, WORKER) == 1
    [mail] = mailer.sent
    assert mail.subject == "Moin ann@example.com"
    assert mail.text.startswith("Moin\nhttps://shop.example.com/?token=sesame")
    assert 'href="https://shop.example.com/?token=sesame"' in mail.html


def _records(ports: Ports) -> list[models.OutboxMail]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.OutboxMail).order_by(models.OutboxMail.id)))


def test_worker_claims_a_batch_at_a_time_whatever_the_plan(
    posting: Ports, mailer: FakePost
) -> None:
    """A plan that PostgreSQL chose for some tables: it looks for the batch once for each mail."""
    for number in range(21):
        _promise(posting, f"ann{number}@example.com")
    with _without("hashjoin", "hashagg", "mergejoin", "material", "sort"):
        assert send_due_mail(posting, WORKER) == 20
    assert len(mailer.sent) == 20


@contextmanager
def _without(*plans: str) -> Iterator[None]:
    """Let PostgreSQL avoid such plans in the transactions of the block."""

    def begin(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            for plan in plans:
                connection.exec_driver_sql(f"SET LOCAL enable_{plan} = off")

    event.listen(Engine, "begin", begin)
    try:
        yield
    finally:
        event.remove(Engine, "begin", begin)


def test_queued_mail_is_sent_once(posting: Ports, mailer: FakePost) -> None:
    _promise(posting)

    assert send_due_mail(posting, WORKER) == 1
    assert send_due_mail(posting, WORKER) == 0

    (rendered,) = mailer.sent
    assert rendered.recipient == "ann@example.com"
    assert "token=sesame" in rendered.text


def test_waiting_mail_is_encrypted_in_the_database(posting: Ports) -> None:
    _promise(posting)

    (record,) = _records(posting)

    assert "sesame" not in record.sealed


def test_sent_mails_contents_are_deleted(posting: Ports) -> None:
    _promise(posting)
    send_due_mail(posting, WORKER)

    (record,) = _records(posting)

    assert record.sealed == ""
    assert record.sent_at is not None


def test_unreachable_mail_server_delays_mail_without_loss(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    _promise(posting)
    mailer.failure = MailUndeliverable("The mail server cannot be reached.")
    for _ in range(3):
        assert send_due_mail(posting, WORKER) == 0
        clock.pass_(hours=1)
    mailer.failure = None

    assert send_due_mail(posting, WORKER) == 1
    assert len(mailer.sent) == 1


def test_failed_mail_is_retried_after_a_delay(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    _promise(posting)
    mailer.failure = MailUndeliverable("The mail server cannot be reached.")
    send_due_mail(posting, WORKER)
    mailer.failure = None

    clock.pass_(seconds=29)
    assert send_due_mail(posting, WORKER) == 0
    clock.pass_(seconds=5)
    assert send_due_mail(posting, WORKER) == 1


def test_permanently_refused_mail_fails_with_its_reason(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    _promise(posting)
    mailer.failure = MailUndeliverable("The mail server answered 550.", permanent=True)
    send_due_mail(posting, WORKER)
    mailer.failure = None
    clock.pass_(hours=100)

    assert send_due_mail(posting, WORKER) == 0
    (record,) = _records(posting)
    assert (record.last_error, record.sent_at, record.sealed) == (
        "The mail server answered 550.",
        None,
        "",
    )


def test_mail_fails_after_two_days(posting: Ports, mailer: FakePost, clock: FakeClock) -> None:
    _promise(posting)
    mailer.failure = MailUndeliverable("The mail server cannot be reached.")
    for _ in range(20):
        send_due_mail(posting, WORKER)
        clock.pass_(hours=30)

    (record,) = _records(posting)
    assert record.next_attempt_at is None
    assert record.attempts == 11


def test_killed_workers_mail_is_sent_by_the_next(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    _promise(posting)

    killed = replace(posting, mailer=_Killer())
    with pytest.raises(KeyboardInterrupt):
        send_due_mail(killed, WORKER)

    assert send_due_mail(posting, WORKER) == 0
    clock.pass_(minutes=6)
    assert send_due_mail(posting, WORKER) == 1
    assert len(mailer.sent) == 1


class _Killer:
    """Ends the process in the middle of sending."""

    def send(self, rendered: RenderedMail) -> None:
        raise KeyboardInterrupt

    def check(self) -> bool:
        return False


def test_unrenderable_mail_delays_no_other(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    with posting.database.transaction() as session:
        add_mail(posting, session, Mail(MailKind.PASSWORD_RESET, "ann@example.com"))
    for name in ("bob", "cid"):
        _promise(posting, f"{name}@example.com")

    with pytest.raises(ExceptionGroup):
        send_due_mail(posting, WORKER)

    assert sorted(rendered.recipient for rendered in mailer.sent) == [
        "bob@example.com",
        "cid@example.com",
    ]
    (record, *_) = _records(posting)
    assert (record.attempts, record.sent_at) == (1, None)
    assert record.last_error == "Internal error: UndefinedError. See the log for details."
    assert send_due_mail(posting, WORKER) == 0
    clock.pass_(minutes=1)
    with pytest.raises(ExceptionGroup):
        send_due_mail(posting, WORKER)


def test_failing_link_delays_no_mail(posting: Ports, mailer: FakePost) -> None:
    _promise(posting)
    make_user(posting, "bob@example.com")
    with posting.database.transaction() as session:
        request = models.ResetRequest(
            email="bob@example.com",
            redirect_url="http://localhost:3000/",
            caller={"kind": "UNKNOWN"},
            created_at=posting.clock.now(),
        )
        session.add(request)

    with pytest.raises(ExceptionGroup):
        send_due_mail(posting, WORKER)

    assert [rendered.recipient for rendered in mailer.sent] == ["ann@example.com"]


def test_slow_worker_leaves_the_rest_to_others(
    posting: Ports, mailer: FakePost, clock: FakeClock, database_url: str
) -> None:
    """Its lease would end while it is still sending: then another one sends the same."""
    for number in range(12):
        _promise(posting, f"person{number}@example.com")
    slow = replace(posting, mailer=_Slow(mailer, clock))
    other = replace(fake_ports(database_url, clock, first_key=10), mailer=mailer)

    sent = send_due_mail(slow, WORKER)
    assert clock.now() - START < timedelta(minutes=5)
    assert send_due_mail(other, WORKER) == 12 - sent

    assert len({rendered.recipient for rendered in mailer.sent}) == len(mailer.sent) == 12
    assert {record.attempts for record in _records(posting)} == {1}


class _Slow:
    """Takes more than a minute for each letter."""

    def __init__(self, mailer: FakePost, clock: FakeClock) -> None:
        self._post, self._clock = mailer, clock

    def send(self, rendered: RenderedMail) -> None:
        self._clock.pass_(seconds=70)
        self._post.send(rendered)

    def check(self) -> bool:
        return True


def test_two_workers_never_send_the_same_mail(
    posting: Ports, mailer: FakePost, database_url: str, clock: FakeClock
) -> None:
    for number in range(30):
        _promise(posting, f"person{number}@example.com")
    other = replace(fake_ports(database_url, clock, first_key=10), mailer=mailer)

    while send_due_mail(posting, WORKER) + send_due_mail(other, WORKER):
        pass

    assert len({rendered.recipient for rendered in mailer.sent}) == len(mailer.sent) == 30


def test_worker_with_a_lost_lease_changes_nothing(
    posting: Ports, mailer: FakePost, clock: FakeClock
) -> None:
    class Hanging(FakePost):
        @override
        def send(self, rendered: RenderedMail) -> None:
            clock.pass_(minutes=6)
            assert send_due_mail(posting, WORKER) == 1
            raise MailUndeliverable("The mail server cannot be reached.")

    _promise(posting)
    assert send_due_mail(replace(posting, mailer=Hanging()), WORKER) == 0
    clock.pass_(hours=1)
    assert send_due_mail(posting, WORKER) == 0
    assert len(mailer.sent) == 1
    assert _records(posting)[0].last_error == ""


def test_rolled_back_change_sends_nothing(posting: Ports, mailer: FakePost) -> None:
    def change_and_fail() -> None:
        with posting.database.transaction() as session:
            add_mail(posting, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com", {}))
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        change_and_fail()

    assert send_due_mail(posting, WORKER) == 0
    assert mailer.sent == []
