"""The worker keeps every duty going, whatever becomes of the others."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from threading import Barrier, Event, Semaphore, Thread, current_thread
from threading import enumerate as running_threads
from types import SimpleNamespace
from typing import ClassVar

import pytest
from typing_extensions import override

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from app.ports.queue import QueueUnavailable
from app.services.outbox.publisher import add_mail
from app.worker.tasks import TASKS, Task, run_tasks
from tests.fixtures.statements import recorded_statements

_PATIENCE = 60.0


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """SQLite alone: the worker runs use cases, and those are tested on both kinds of database."""
    return sqlite_url


@contextmanager
def _running(ports: Ports, *tasks: Task, stop: Event | None = None) -> Iterator[None]:
    stop = stop or Event()
    worker = Thread(target=run_tasks, args=(ports, stop, tasks), name="worker")
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


@pytest.mark.first
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


@pytest.mark.first
def test_slow_rounds_release_and_regain_their_threads(ports: Ports) -> None:
    held, released = Event(), Event()
    beginning = Semaphore(3)
    under_way = Barrier(3, timeout=60)

    def work(_ports: Ports, _actor: Actor) -> int:
        if beginning.acquire(blocking=False):
            under_way.wait(_PATIENCE)
            held.set()
            released.wait(_PATIENCE)
        return 0

    with _running(ports, Task("helped", work, 0.01, threads=1, max_threads=3)):
        assert held.wait(_PATIENCE), "the second and the third round waited for the first"
        released.set()
        end = time.monotonic() + _PATIENCE
        while _count("helped") > 1:
            assert time.monotonic() < end, "the threads that helped out have not ended"
            time.sleep(0.01)


class _Turns(Event):
    """Ends the worker; after each of its turns the clock is a minute later.

    A round that has begun before a turn is then held up.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self._turns = Semaphore(0)
        self._minutes = count()
        self._now = 0.0
        self.pauses: list[float | None] = []
        clock = SimpleNamespace(monotonic=lambda: self._now)
        monkeypatch.setattr("app.worker.tasks.time", clock)

    @override
    def wait(self, timeout: float | None = None) -> bool:
        if current_thread().name != "worker":
            return super().wait(timeout)
        self._now = 60.0 * next(self._minutes)
        self.pauses.append(timeout)
        self._turns.release()
        return super().wait(0.01)

    def pass_(self, number: int) -> None:
        """Wait until the worker has had so many more turns to begin threads in."""
        while self._turns.acquire(blocking=False):
            pass
        for _ in range(number + 1):
            assert self._turns.acquire(timeout=_PATIENCE)


def test_number_of_threads_is_limited(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    released = Event()
    beginning = Semaphore(0)

    def work(_ports: Ports, _actor: Actor) -> int:
        beginning.release()
        released.wait(_PATIENCE)
        return 0

    task = Task("held up", work, 0.01, threads=1, max_threads=2)
    turns = _Turns(monkeypatch)
    with _running(ports, task, stop=turns):
        assert beginning.acquire(timeout=_PATIENCE)
        assert beginning.acquire(timeout=_PATIENCE)
        turns.pass_(3)
        assert _count("held up") == 2
        assert turns.pauses[-1] == 0.5
        released.set()


def test_work_that_one_task_leaves_begins_another_immediately(ports: Ports) -> None:
    begun = [Event(), Event()]
    order = []

    def make(_ports: Ports, _actor: Actor) -> int:
        order.append("first")
        return int(order.count("first") == 2)

    def follow(_ports: Ports, _actor: Actor) -> int:
        order.append("second")
        begun[order.count("second") - 1].set()
        return 0

    # The second waits for the first one's work: its interval is longer than the test.
    first = Task("first", make, 0.3, wakes="second")
    with _running(ports, first, Task("second", follow, 600.0)):
        assert begun[0].wait(_PATIENCE)
        assert begun[1].wait(_PATIENCE)

    assert order.index("second", order.index("second") + 1) > order.index("first", 1)


@pytest.mark.first
def test_task_on_demand_begins_when_there_is_work(ports: Ports) -> None:
    rounds: list[int] = []
    again = Event()

    def work(_ports: Ports, _actor: Actor) -> int:
        rounds.append(1)
        if len(rounds) > 1:
            again.set()
        return 0

    with _running(ports, Task("mail", work, 0.01, on_demand=True)):
        assert not again.wait(1.0), "a round began without work"
        with ports.database.transaction() as session:
            add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))
        assert again.wait(_PATIENCE)


def test_committed_work_wakes_an_idle_worker(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the signal the worker would look again in an hour."""
    monkeypatch.setattr("app.worker.tasks._LOOK_SECONDS", 3600.0)
    looked, again = Event(), Event()

    def look(ports: Ports, actor: Actor) -> int:
        (again if looked.is_set() else looked).set()
        return 0

    with _running(ports, Task("mail", look, 1.0, on_demand=True)):
        assert looked.wait(_PATIENCE)
        # The worker listens a moment after its first round.
        while not again.wait(0.05):
            with ports.database.transaction() as session:
                add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))


@pytest.mark.first
def test_idle_worker_looks_for_all_tasks_at_once(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_rounds: dict[str, Event] = {}

    def noted(task: Task) -> Task:
        done = first_rounds.setdefault(task.name, Event())

        def work(ports: Ports, actor: Actor) -> int:
            try:
                return task.work(ports, actor)
            finally:
                done.set()

        return replace(task, work=work)

    monkeypatch.setattr("app.worker.tasks._LOOK_SECONDS", 1.0)
    with _running(ports, *(noted(task) for task in TASKS if task.on_demand)):
        for name, done in first_rounds.items():
            assert done.wait(_PATIENCE), name
        began = time.monotonic()
        with recorded_statements() as statements:
            while len(statements) < 3:
                assert time.monotonic() < began + _PATIENCE, statements
                time.sleep(0.01)
        took = time.monotonic() - began

    # Three looks have two pauses of a second; a thread of another test may ask, too.
    assert took > 1.0, statements


def test_threads_wait_for_batches_one_at_a_time(ports: Ports) -> None:
    batches = iter([Batch("one", 1, (1,)), Batch("two", 2, (2,))])
    waiting: list[Thread] = []
    at_once: list[int] = []
    under_way = Barrier(2, timeout=60)
    done = Semaphore(0)

    def take(_ports: Ports) -> Batch | None:
        waiting.append(current_thread())
        at_once.append(len(waiting))
        time.sleep(0.05)
        waiting.remove(current_thread())
        return next(batches, None)

    def work(_ports: Ports, _actor: Actor, _batch: Batch) -> int:
        under_way.wait(_PATIENCE)  # until the other batch is under way, too
        done.release()
        return 1

    with _running(ports, Task("deliveries", work, 0.0, threads=4, take=take)):
        for _ in range(2):
            assert done.acquire(timeout=_PATIENCE)

    assert set(at_once) == {1}


def test_one_thread_waits_until_there_is_a_batch(ports: Ports) -> None:
    """Handing over to another each time would wake two of them."""
    waited: list[Thread] = []
    often = Event()

    def take(_ports: Ports) -> Batch | None:
        waited.append(current_thread())
        if len(waited) == 20:
            often.set()
        time.sleep(0.001)
        return None

    with _running(ports, Task("waiting", _unexpected, 0.0, threads=4, take=take)):
        assert often.wait(_PATIENCE)
    assert len(set(waited[:20])) == 1


def test_thread_that_waits_for_a_batch_ends_with_the_worker(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without being woken it would wait for longer than the test."""
    monkeypatch.setattr("app.adapters.queue.delivery_queue._GLANCE", 1.5 * _PATIENCE)
    waiting = Event()

    def take(ports: Ports) -> Batch | None:
        waiting.set()
        return ports.queue.take(1.5 * _PATIENCE)

    with _running(ports, Task("waiting", _unexpected, 0.0, take=take)):
        assert waiting.wait(_PATIENCE)


def test_threads_that_wait_are_not_replaced(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, released = Semaphore(0), Event()

    def take(_ports: Ports) -> Batch | None:
        waiting.release()
        released.wait(_PATIENCE)
        return None

    task = Task("waiting", _unexpected, 0.0, threads=1, max_threads=8, take=take)
    turns = _Turns(monkeypatch)
    with _running(ports, task, stop=turns):
        assert waiting.acquire(timeout=_PATIENCE)
        turns.pass_(3)
        assert _count("waiting") == 1
        assert turns.pauses[-1] == 2.0, "nothing can be held up before that"
        released.set()


def _count(name: str) -> int:
    """Return how many threads of this name run."""
    return sum(thread.name == name for thread in running_threads())


def _unexpected(_ports: Ports, _actor: Actor, _batch: Batch) -> int:
    raise AssertionError("there was no batch")


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

    run_tasks(ports, Waits(), (Task("away", fail, 0.2),))

    assert Waits.pauses == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0]
    assert "worker.round_failed" not in caplog.text


@pytest.mark.first
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
