"""The worker keeps every duty going, whatever becomes of the others."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Barrier, Event, Semaphore, Thread, active_count, current_thread
from typing import ClassVar

import pytest
from typing_extensions import override

from app.domain.authorization.actor import Actor
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.values.installation_errors import DatabaseUnavailable
from app.ports import Ports
from app.ports.queue import QueueUnavailable
from app.services.outbox.publisher import add_mail
from app.worker import TASKS, Task, run

_PATIENCE = 20.0


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """SQLite alone: the worker runs use cases, and those are tested on both kinds of database."""
    return sqlite_url


@contextmanager
def _running(ports: Ports, *tasks: Task) -> Iterator[None]:
    stop = Event()
    worker = Thread(target=run, args=(ports, stop, tasks))
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join(_PATIENCE)
        assert not worker.is_alive(), "the worker did not stop"


def test_running_worker_sends_queued_mail_and_deliveries(ports: Ports) -> None:
    sent = Event()

    class Mailer:
        def send(self, letter: RenderedMail) -> None:
            sent.set()

        def check(self) -> bool:
            return False

    posting = replace(ports, mailer=Mailer())
    with _running(posting, *TASKS):
        with ports.database.transaction() as session:
            add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))

        assert sent.wait(_PATIENCE)


def test_failed_duty_is_retried_and_stops_no_other(ports: Ports) -> None:
    again, other = Event(), Event()
    rounds = []

    def fail(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) > 1:
            again.set()
        raise ArithmeticError("this duty never works")

    def succeed(_ports: Ports, _actor: Actor) -> int:
        other.set()
        return 0

    with _running(ports, Task("failing", fail, 0.01), Task("other", succeed, 60.0)):
        assert again.wait(_PATIENCE)
        assert other.wait(_PATIENCE)


def test_round_with_work_is_followed_by_another_immediately(ports: Ports) -> None:
    done = Event()
    rounds = []

    def work(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) == 3:
            done.set()
            return 0
        return 1

    with _running(ports, Task("busy", work, 60.0)):
        assert done.wait(_PATIENCE)


def test_slow_rounds_release_and_regain_their_threads(ports: Ports) -> None:
    held, released = Event(), Event()
    beginning = Semaphore(3)
    under_way = Barrier(3)

    def work(_ports: Ports, _actor: Actor) -> int:
        if beginning.acquire(blocking=False):
            under_way.wait(_PATIENCE)
            held.set()
            released.wait(_PATIENCE)
        return 0

    before = active_count()
    with _running(ports, Task("held up", work, 0.01, threads=1, max_threads=3)):
        assert held.wait(_PATIENCE), "the second and the third round waited for the first"
        released.set()
        end = time.monotonic() + _PATIENCE
        while active_count() > before + 2:
            assert time.monotonic() < end, "the threads that helped out have not ended"
            time.sleep(0.01)


def test_number_of_threads_is_limited(ports: Ports) -> None:
    released = Event()
    beginning = Semaphore(0)

    def work(_ports: Ports, _actor: Actor) -> int:
        beginning.release()
        released.wait(_PATIENCE)
        return 0

    with _running(ports, Task("held up", work, 0.01, threads=1, max_threads=2)):
        assert beginning.acquire(timeout=_PATIENCE)
        assert beginning.acquire(timeout=_PATIENCE)
        assert not beginning.acquire(timeout=3.0), "a third round began"
        released.set()


def test_worker_backs_off_while_the_database_is_away(
    ports: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    class Waits(Event):
        """Ends the worker after six rounds, and waits for nothing."""

        pauses: ClassVar[list[float]] = []

        @override
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout is not None
            if current_thread().name == "away":
                self.pauses.append(timeout)
                if len(self.pauses) == 6:
                    self.set()
                return self.is_set()
            return super().wait(timeout)

    def fail(_ports: Ports, _actor: Actor) -> int:
        raise DatabaseUnavailable("it is down")

    run(ports, Waits(), (Task("away", fail, 0.2),))

    assert Waits.pauses == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
    assert "worker.round_failed" not in caplog.text


def test_worker_waits_for_the_queue_without_logging_each_round(
    ports: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    again = Event()
    rounds = []

    def fail(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) > 1:
            again.set()
        raise QueueUnavailable("The delivery queue's Redis (REDIS_URL)", "it is down")

    with _running(ports, Task("deliveries", fail, 0.0)):
        assert again.wait(_PATIENCE)
    assert "worker.round_failed" not in caplog.text
