"""Workers that are killed between any two steps lose no email that an app may send."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy.orm import Session

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import RenderedMail
from app.domain.mails.mail_log import MailStatus
from app.ports import Database, Ports, Subject
from app.ports.http import HttpRequest, HttpResponse
from app.services.accounts.password_resets import request_password_reset
from app.services.deliveries.fanout import fan_out_events
from app.services.mails.sending import send_due_mail
from tests.builders.app_mail import CLARA, PAGE, MailingShop, make_mailing_shop
from tests.builders.deliveries import work_off
from tests.builders.people import NOBODY, make_user
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.first

USERS = Permission.MANAGE_USERS
MAX_STEPS = 40
"""More transactions than an email takes: a bound for the search."""


PEOPLE = 21
"""More than a worker claims at a time."""

WAIT = 60
"""Seconds after which a test that should never wait so long fails."""


class Killed(BaseException):
    """The end of a process."""


class KillingDatabase:
    """Ends the process in a transaction, before or after it is committed."""

    def __init__(self, database: Database, step: int, *, committed: bool) -> None:
        self._database, self._left, self._committed = database, step, committed

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        self._left -= 1
        with self._database.transaction(*subjects, signs_in=signs_in) as session:
            yield session
            if self._left == 0 and not self._committed:
                raise Killed
        if self._left == 0 and self._committed:
            raise Killed

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)


@pytest.fixture
def shop(ports: Ports) -> MailingShop:
    shop = make_mailing_shop(ports)
    shop.make_listener(USERS)
    return shop


def is_killed(
    shop: MailingShop, clock: FakeClock, email: str, step: int, *, committed: bool
) -> bool:
    """Work on a new request until its email is sent, by the app or after the wait for it.

    Return whether that had a transaction number ``step``.
    """
    database = KillingDatabase(shop.ports.database, step, committed=committed)
    doomed = replace(shop.ports, database=database)  # type: ignore[arg-type]
    try:
        send_due_mail(doomed, WORKER)
        for _ in range(4):
            shop.work(doomed)
            clock.pass_(minutes=11)
            if is_sent(shop, email):
                break
    except Killed:
        return True
    return False


def go_on(shop: MailingShop, clock: FakeClock, other: Ports, email: str = "") -> None:
    """Let two other workers in turn do what is left, for longer than an email waits.

    With ``email`` only until nothing of that person's waits.
    """
    second = replace(other, http=shop.http, mailer=shop.mailer)
    for worker in (second, shop.ports, second, shop.ports, second):
        shop.work(worker)
        clock.pass_(minutes=11)
        if email and is_sent(shop, email):
            break


def is_sent(shop: MailingShop, email: str) -> bool:
    return status_of(shop, email) in (MailStatus.SENT, MailStatus.SENT_BY_APP)


def status_of(shop: MailingShop, email: str) -> MailStatus:
    """The status of this person's only email."""
    (mail,) = [mail for mail in shop.mails if mail.recipient == email]
    return mail.status


@pytest.mark.parametrize(
    ("status", "committed"),
    [
        (200, True),
        (500, False),
        pytest.param(200, False, marks=pytest.mark.thorough),
        pytest.param(500, True, marks=pytest.mark.thorough),
    ],
)
def test_person_gets_an_email_wherever_a_worker_is_killed(
    shop: MailingShop, second_process: Ports, clock: FakeClock, status: int, committed: bool
) -> None:
    """Each transaction of the way in turn; the app alone sends if it accepts, else we do.

    Killed before a transaction is committed, or just after; make test tries one for each answer.
    """
    shop.status = status
    for step in range(1, MAX_STEPS):
        email = f"person{step}@example.com"
        make_user(shop.ports, email)
        request_password_reset(shop.ports, NOBODY, email=email, redirect_url=PAGE)
        killed = is_killed(shop, clock, email, step, committed=committed)
        go_on(shop, clock, second_process, email)
        if not killed:
            break
    assert 6 < step < MAX_STEPS - 1, "the whole way was covered"
    go_on(shop, clock, second_process)
    for number in range(1, step + 1):
        email = f"person{number}@example.com"
        assert email in shop.accepted, number
        assert (email in shop.sent_to) is (status != 200), number
        ended = MailStatus.SENT_BY_APP if status == 200 else MailStatus.SENT
        assert status_of(shop, email) is ended, number


def test_app_that_accepted_before_the_worker_died_is_sent_the_event_again(
    shop: MailingShop, clock: FakeClock
) -> None:
    make_user(shop.ports, CLARA)

    def die(_request: HttpRequest) -> HttpResponse:
        raise Killed

    answer, shop.http.answer = shop.http.answer, die
    shop.ask()
    with pytest.raises(Killed):
        shop.work()
    assert shop.mails[0].status is MailStatus.WAITING
    shop.http.answer = answer
    clock.pass_(minutes=2)
    shop.work()
    assert [mail.status for mail in shop.mails] == [MailStatus.SENT_BY_APP]


def test_released_email_survives_a_worker_that_dies_while_sending(
    shop: MailingShop, clock: FakeClock
) -> None:
    class Killer:
        def send(self, rendered: RenderedMail) -> None:
            raise Killed

        def check(self) -> bool:
            return True

    make_user(shop.ports, CLARA)
    shop.status = 410
    shop.ask()
    with pytest.raises(Killed):
        shop.work(replace(shop.ports, mailer=Killer()))
    clock.pass_(minutes=6)
    shop.work()
    assert shop.sent_to == [CLARA]


@pytest.mark.both_databases
def test_two_workers_send_ours_once(shop: MailingShop, second_process: Ports) -> None:
    """Both find that no app can; one claims what the other has released."""
    second = replace(second_process, http=shop.http, mailer=shop.mailer)
    shop.status = 410
    for number in range(PEOPLE):
        email = f"person{number}@example.com"
        make_user(shop.ports, email)
        shop.ask(email)
    fan_out_events(shop.ports, WORKER)
    while work_off(shop.ports):
        pass
    ready = Barrier(2, timeout=60)

    def work(ports: Ports) -> None:
        ready.wait(WAIT)
        while shop.mails[-1].status is not MailStatus.SENT or send_due_mail(ports, WORKER):
            send_due_mail(ports, WORKER)

    with ThreadPoolExecutor(2) as threads:
        for future in [threads.submit(work, ports) for ports in (shop.ports, second)]:
            future.result(WAIT)
    assert len(shop.sent_to) == len(set(shop.sent_to)) == PEOPLE
