"""The tasks of the worker: which use cases it repeats and when, and the threads that run them.

Threads are woken, and replaced while they are held up.
"""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Event, Lock, Thread, current_thread

import structlog

from app.domain.authorization.actor import WORKER, Actor
from app.domain.deliveries.deliveries import Batch
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from app.ports.queue import QueueUnavailable
from app.services.apps.installation_worker import install_next_app
from app.services.deliveries.dispatch import (
    MAX_ENDPOINTS,
    lease_due_deliveries,
    release_batch,
    seconds_to_next_slot,
)
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from app.services.mails.sending import send_due_mail
from app.services.oauth.client_sessions import report_ended_sessions
from app.services.operations.background_work import find_waiting_work, record_heartbeat
from app.services.operations.cleanup import clean_up
from app.services.operations.holds import check_installation
from app.services.shop.settings import open_storefront_on_time
from app.services.webhooks.failing_webhooks import end_quiet_incidents

_PATIENCE_SECONDS = 2.0
"""Seconds that a thread waits for a batch until it asks again."""

_MAX_QUEUED = 100
"""Batches that wait at most: what waits here holds a lease, which ends."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Task:
    """Repeated work: a use case that returns how much it did, and seconds between rounds.

    A round that did something is repeated immediately, and the next round of the task ``wakes``
    begins. With ``on_demand`` the next round begins when ``find_waiting_work`` names the task, and
    ``interval`` is only the pause after a fault. ``pause`` is how many seconds it waits at least
    before it is woken again, so that several reasons make one round.

    ``next_at`` returns in how many seconds a round begins without being woken, or ``None``.

    ``threads`` run at the same time; for held-up ones others start, up to ``max_threads``. With
    ``take``, ``work`` also gets the batch that this returns. One thread waits in it until there is
    one, and the others for their turn, so that an idle worker wakes up for one of them.
    """

    name: str
    work: Callable[..., int]
    interval: float
    threads: int = 1
    max_threads: int = 0
    on_demand: bool = False
    pause: float = 0.0
    wakes: str = ""
    take: Callable[[Ports], Batch | None] | None = None
    next_at: Callable[[Ports, Actor], float | None] | None = None


def _housekeeping(ports: Ports, actor: Actor) -> int:
    end_quiet_incidents(ports, actor)
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
    # What is left belongs to endpoints that have their share, unless there were too many of them.
    return len(batches) if len(batches) >= MAX_ENDPOINTS else 0


def _take_batch(ports: Ports) -> Batch | None:
    return ports.queue.take(_PATIENCE_SECONDS)


def check_hold(ports: Ports, actor: Actor) -> int:
    before = ports.cache.hold
    hold = check_installation(ports, actor)
    if hold is not None and hold != before:
        _log.warning("worker.held", since=hold.since.isoformat(), reasons=" ".join(hold.reasons))
    return 0


TASKS = (
    Task("hold", check_hold, 5.0),
    Task("heartbeat", record_heartbeat, 15.0),
    Task("events", fan_out_events, 0.2, on_demand=True, wakes="dispatch"),
    Task("dispatch", _dispatch, 0.2, on_demand=True, pause=0.02, next_at=seconds_to_next_slot),
    Task(
        "deliveries",
        send_deliveries,
        0.0,
        threads=56,
        max_threads=128,
        wakes="dispatch",
        take=_take_batch,
    ),
    Task("mail", send_due_mail, 1.0, on_demand=True),
    Task("logouts", report_ended_sessions, 1.0, max_threads=3, on_demand=True),
    Task("installations", install_next_app, 1.0, max_threads=3, on_demand=True),
    Task("storefront", open_storefront_on_time, 1.0, on_demand=True),
    Task("housekeeping", _housekeeping, 300.0),
)


_LOOK = "look"
_LOOK_SECONDS = 5.0
"""Seconds between looks for work of which no signal came: what is due later, or was lost."""

_SIGNAL_SECONDS = 2.0
"""Seconds that a thread waits for a signal until it sees whether the work has ended."""

_LOOK_PAUSE = 0.05
"""Seconds from one look to the next at least: many signals make one."""

_AFTER_FAULT = 1.0
_MAX_PAUSE = 15.0

_HELD_UP_SECONDS = 2.0
"""Seconds after which a round is held up by somebody else: twice what one takes at most that is
not."""

_HANGING_SECONDS = 60.0
"""Seconds after which a look for work hangs: a database answers or fails sooner."""

_JOIN_SECONDS = 0.5
"""Seconds after which a thread that has to end is woken again."""

_WAITING = math.inf
"""Instead of when its round began: a thread that waits for work is never held up."""


def run_tasks(
    ports: Ports,
    stop: Event,
    tasks: tuple[Task, ...] = TASKS,
    *,
    each_tick: Callable[[], None] | None = None,
) -> None:
    """Work until ``stop`` is set, each task in its own threads.

    Returns when the running rounds have ended. ``each_tick`` is called twice a second, unless the
    thread that looks for work hangs.
    """
    if any(task.work is check_hold for task in tasks):
        _wait_for_first_check(ports, stop)
    wakes = {task.name: Event() for task in tasks}
    if any(task.on_demand for task in tasks):
        look = Task(_LOOK, partial(_wake_tasks, wakes), _LOOK_SECONDS, pause=_LOOK_PAUSE)
        signal = Task("signal", _wait_for_signal, 0.0, wakes=look.name)
        wakes.update({task.name: Event() for task in (look, signal)})
        tasks = (signal, look, *tasks)
    pools = [_TaskThreads(ports, stop, task, wakes) for task in tasks]
    _log.info("worker.started")
    while not stop.is_set():
        for pool in pools:
            pool.start_threads()
        if each_tick is not None and not any(pool.hangs for pool in pools):
            each_tick()
        # A round that begins meanwhile is held up after the longer pause at the earliest.
        is_quick = each_tick is not None or any(pool.is_at_work for pool in pools)
        stop.wait(_HELD_UP_SECONDS / 4 if is_quick else _HELD_UP_SECONDS)
    ports.work_signal.send()  # to the thread that waits for one
    for pool in pools:
        pool.join()
    ports.work_signal.close()
    _log.info("worker.stopped")


def _wait_for_first_check(ports: Ports, stop: Event) -> None:
    """Find out whether anything is held before anything is sent, once the database answers."""
    while not stop.is_set():
        try:
            check_hold(ports, WORKER)
        except DatabaseUnavailable:
            stop.wait(_AFTER_FAULT)
        else:
            return


def _wait_for_signal(ports: Ports, _actor: Actor) -> int:
    return int(ports.work_signal.wait(_SIGNAL_SECONDS))


def _wake_tasks(wakes: Mapping[str, Event], ports: Ports, actor: Actor) -> int:
    """Begin the tasks that have something to do: one thread looks for all of them."""
    for name in find_waiting_work(ports, actor):
        if name in wakes:
            wakes[name].set()
    return 0


class _TaskThreads:
    """The threads of a task.

    Endpoints that answer nothing hold a round up until it has waited long enough: one thread each,
    while the other deliveries still find ``task.threads`` of them.
    """

    def __init__(self, ports: Ports, stop: Event, task: Task, wakes: Mapping[str, Event]) -> None:
        self._ports = ports
        self._stop = stop
        self._task = task
        self._wake = wakes[task.name]
        self._next = wakes.get(task.wakes)
        self._lock = Lock()
        self._turn = Lock()
        self._rounds: dict[Thread, float] = {}

    def start_threads(self) -> None:
        """Let as many threads begin as are missing."""
        task = self._task
        with self._lock:
            room = max(task.threads, task.max_threads) - len(self._rounds)
            for _ in range(min(room, task.threads - self._busy())):
                thread = Thread(target=self._run_rounds, name=task.name)
                self._rounds[thread] = time.monotonic()
                thread.start()

    def join(self) -> None:
        for thread in tuple(self._rounds):
            while thread.is_alive():
                # Again and again: it can be just about to wait.
                self._wake.set()
                if self._task.take is not None:
                    self._ports.queue.close()
                thread.join(_JOIN_SECONDS)

    @property
    def hangs(self) -> bool:
        """Whether this looks for work and doesn't come back from it."""
        return self._task.name == _LOOK and time.monotonic() - self._oldest > _HANGING_SECONDS

    @property
    def is_at_work(self) -> bool:
        """Whether a round is under way whose place another takes if it is held up."""
        return self._task.max_threads > 0 and self._oldest < _WAITING

    @property
    def _oldest(self) -> float:
        """When the round began that takes longest."""
        return min(self._rounds.copy().values(), default=_WAITING)

    def _busy(self) -> int:
        """How many threads are not held up."""
        since = time.monotonic() - _HELD_UP_SECONDS
        return sum(began > since for began in self._rounds.values())

    def _run_rounds(self) -> None:
        """A round that fails is logged, and tried again in its turn.

        While the database is away, which it logs once, each round waits longer for the next. So
        does the queue log that it is away; it is asked every second.
        """
        task = self._task
        pause = max(task.interval, _AFTER_FAULT)
        while self._continues():
            try:
                done = self._round()
                seconds = None if done else self._seconds_to_next()
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
            if done and self._next is not None:
                self._next.set()
            if not done:
                self._wait_for_next(seconds)

    def _seconds_to_next(self) -> float | None:
        task = self._task
        return None if task.next_at is None else task.next_at(self._ports, WORKER)

    def _wait_for_next(self, seconds: float | None) -> None:
        task = self._task
        self._rounds[current_thread()] = _WAITING
        if task.pause:
            self._stop.wait(task.pause)
        # Cleared before the round, so that work that arrives during it begins another one.
        if self._wake.wait(seconds if task.on_demand else task.interval):
            self._wake.clear()

    def _round(self) -> int:
        task = self._task
        if task.take is None:
            return task.work(self._ports, WORKER)
        batch = None
        with self._turn:
            while batch is None:
                if self._stop.is_set():
                    return 0
                batch = task.take(self._ports)
        self._rounds[current_thread()] = time.monotonic()
        return task.work(self._ports, WORKER, batch)

    def _continues(self) -> bool:
        """Begin another round, unless the work has ended or others have taken this one's place."""
        thread = current_thread()
        with self._lock:
            if self._stop.is_set():
                return False
            self._rounds[thread] = _WAITING if self._task.take else time.monotonic()
            if self._busy() <= self._task.threads:
                return True
            del self._rounds[thread]
            return False
