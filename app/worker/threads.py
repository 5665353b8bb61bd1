"""Runs the worker's tasks in threads, which it wakes, and replaces while they are held up."""

import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event, Lock, Thread, current_thread

import structlog

from app.domain.authorization.actor import WORKER, Actor
from app.domain.values.installation import DatabaseUnavailable
from app.ports import Ports
from app.ports.queue import QueueUnavailable
from app.services.operations.background_work import find_waiting_work
from app.worker.tasks import TASKS, Task, check_hold

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

_log = structlog.get_logger(__name__)


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
