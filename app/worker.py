"""EDGE: background work, in a process next to the server or on other machines."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread, current_thread

import structlog

from app.domain.authorization.actor import WORKER, Actor
from app.domain.values.installation_errors import DatabaseUnavailable
from app.ports import Ports
from app.ports.queue import QueueUnavailable
from app.services.apps.installation_worker import install_next_app
from app.services.deliveries.dispatch import lease_due_deliveries, release_batch
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from app.services.operations.cleanup import clean_up
from app.services.operations.mail_sending import send_due_mail
from app.services.operations.worker_heartbeat import record_heartbeat
from app.services.shop.settings import open_storefront_on_time

_POLL_SECONDS = 0.5
"""Seconds that a thread waits for a batch before it looks whether the worker is to end."""

_MAX_QUEUED = 100
"""Batches that wait at most: what waits here holds a lease, which ends."""

_AFTER_FAULT = 1.0
_MAX_PAUSE = 15.0

_HELD_UP_SECONDS = 2.0
"""Seconds after which a round is held up by somebody else: twice what one takes at most that is
not, waiting for a batch included."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """Repeated work: a use case that returns how much it did, and seconds between rounds.

    A round that did something is repeated immediately. ``threads`` run at the same time; for
    held-up ones others start, up to ``max_threads``.
    """

    name: str
    work: Callable[[Ports, Actor], int]
    interval: float
    threads: int = 1
    max_threads: int = 0


def _housekeeping(ports: Ports, actor: Actor) -> int:
    cleaned = clean_up(ports, actor)
    _log.debug(
        "worker.tidied",
        sessions=cleaned.sessions,
        links=cleaned.links,
        traffic_counts=cleaned.traffic_counts,
        throttle_counters=cleaned.throttle_counters,
        keys=cleaned.keys,
    )
    return 0


def _dispatch(ports: Ports, actor: Actor) -> int:
    """Put due deliveries into the queue, for this or another machine."""
    if ports.queue.size() >= _MAX_QUEUED:
        return 0
    batches = lease_due_deliveries(ports, actor)
    for place, batch in enumerate(batches):
        try:
            ports.queue.put(batch)
        except Exception:
            for lost in batches[place:]:
                release_batch(ports, actor, lost)
            raise
    return len(batches)


def _deliver(ports: Ports, actor: Actor) -> int:
    batch = ports.queue.take(_POLL_SECONDS)
    return 0 if batch is None else send_deliveries(ports, actor, batch)


TASKS = (
    Task("heartbeat", record_heartbeat, 15.0),
    Task("events", fan_out_events, 0.2),
    Task("dispatch", _dispatch, 0.2),
    Task("deliveries", _deliver, 0.0, threads=16, max_threads=128),
    Task("mail", send_due_mail, 1.0),
    *(Task(f"installations {number}", install_next_app, 1.0) for number in range(1, 4)),
    Task("storefront", open_storefront_on_time, 1.0),
    Task("housekeeping", _housekeeping, 300.0),
)


def run(ports: Ports, stop: Event, tasks: tuple[Task, ...] = TASKS) -> None:
    """Work until ``stop`` is set, each task in its own threads.

    Returns when the running rounds have ended.
    """
    pools = [_TaskThreads(ports, stop, task) for task in tasks]
    _log.info("worker.started")
    for pool in pools:
        pool.start_threads()
    while not stop.wait(_HELD_UP_SECONDS / 4):
        for pool in pools:
            pool.start_threads()
    for pool in pools:
        pool.join()
    _log.info("worker.stopped")


class _TaskThreads:
    """The threads of a duty.

    Endpoints that answer nothing hold a round up until it has waited long enough: one thread each,
    while the other deliveries still find ``duty.threads`` of them.
    """

    def __init__(self, ports: Ports, stop: Event, task: Task) -> None:
        self._ports = ports
        self._stop = stop
        self._duty = task
        self._lock = Lock()
        self._rounds: dict[Thread, float] = {}

    def start_threads(self) -> None:
        """Let as many threads begin as are missing."""
        task = self._duty
        with self._lock:
            room = max(task.threads, task.max_threads) - len(self._rounds)
            for _ in range(min(room, task.threads - self._busy())):
                thread = Thread(target=self._run_rounds, name=task.name)
                self._rounds[thread] = time.monotonic()
                thread.start()

    def join(self) -> None:
        for thread in tuple(self._rounds):
            thread.join()

    def _busy(self) -> int:
        """How many threads are not held up."""
        since = time.monotonic() - _HELD_UP_SECONDS
        return sum(began > since for began in self._rounds.values())

    def _run_rounds(self) -> None:
        """A round that fails is logged, and tried again in its turn.

        While the database is away, which it logs once, each round waits longer for the next. So
        does the queue log that it is away; it is asked every second.
        """
        task = self._duty
        pause = max(task.interval, _AFTER_FAULT)
        while self._continues():
            try:
                done = task.work(self._ports, WORKER)
            except DatabaseUnavailable:
                self._stop.wait(pause)
                pause = min(2 * pause, max(task.interval, _MAX_PAUSE))
                continue
            except QueueUnavailable:
                self._stop.wait(max(task.interval, _AFTER_FAULT))
                continue
            except Exception:  # noqa: BLE001 - logged; a database that restarts must not end the worker
                _log.exception("worker.round_failed", task=task.name)
                self._stop.wait(max(task.interval, _AFTER_FAULT))
                continue
            pause = max(task.interval, _AFTER_FAULT)
            if not done:
                self._stop.wait(task.interval)

    def _continues(self) -> bool:
        """Begin another round, unless the work has ended or others have taken this one's place."""
        thread = current_thread()
        with self._lock:
            if self._stop.is_set():
                return False
            self._rounds[thread] = time.monotonic()
            if self._busy() <= self._duty.threads:
                return True
            del self._rounds[thread]
            return False
