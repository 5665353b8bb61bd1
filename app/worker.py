"""EDGE: the work that nobody waits for, in a process beside the server or on other machines."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Thread

import structlog

from app.domain.actor import WORKER, Actor
from app.ports import Ports
from app.services.deliveries import make_deliveries
from app.services.dispatch import lease_due_deliveries, release_batch
from app.services.fanout import fan_out_events
from app.services.housekeeping import tidy
from app.services.installing import install_next_app
from app.services.mail import send_due_mail
from app.services.pulse import beat

_PATIENCE = 0.5
"""Seconds that a thread waits for a batch before it looks whether the worker is to end."""

_LONGEST_QUEUE = 100
"""Batches that wait at most: what waits here holds a lease, which ends."""

_AFTER_FAULT = 1.0
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Duty:
    """Work that comes round: a use case that tells how much it did, and seconds between rounds.

    A round that did something is followed by another at once: there may be more. ``threads``
    is how many of its rounds go on side by side.
    """

    name: str
    work: Callable[[Ports, Actor], int]
    interval: float
    threads: int = 1


def _housekeeping(ports: Ports, actor: Actor) -> int:
    tidied = tidy(ports, actor)
    _log.debug(
        "worker.tidied",
        sessions=tidied.sessions,
        links=tidied.links,
        traffic_counts=tidied.traffic_counts,
        throttle_counters=tidied.throttle_counters,
        keys=tidied.keys,
    )
    return 0


def _dispatch(ports: Ports, actor: Actor) -> int:
    """Hand what is due to whoever takes it next, here or on another machine."""
    if ports.queue.size() >= _LONGEST_QUEUE:
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
    batch = ports.queue.take(_PATIENCE)
    return 0 if batch is None else make_deliveries(ports, actor, batch)


DUTIES = (
    Duty("pulse", beat, 15.0),
    Duty("events", fan_out_events, 0.2),
    Duty("dispatch", _dispatch, 0.2),
    Duty("deliveries", _deliver, 0.0, threads=16),
    Duty("mail", send_due_mail, 1.0),
    *(Duty(f"installations {number}", install_next_app, 1.0) for number in range(1, 4)),
    Duty("housekeeping", _housekeeping, 300.0),
)


def run(ports: Ports, stop: Event, duties: tuple[Duty, ...] = DUTIES) -> None:
    """Work until ``stop`` is set; each duty in a thread of its own, so none waits for another.

    Returns when the rounds that were running have ended.
    """
    threads = [
        Thread(target=_come_round, args=(ports, stop, duty), name=f"{duty.name}-{number}")
        for duty in duties
        for number in range(duty.threads)
    ]
    _log.info("worker.started")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _log.info("worker.stopped")


def _come_round(ports: Ports, stop: Event, duty: Duty) -> None:
    """A round that fails is logged, and tried again in its turn."""
    while not stop.is_set():
        done = 0
        try:
            done = duty.work(ports, WORKER)
        except Exception:  # noqa: BLE001 - logged; a database that restarts must not end the worker
            _log.exception("worker.round_failed", duty=duty.name)
            stop.wait(max(duty.interval, _AFTER_FAULT))
            continue
        if not done:
            stop.wait(duty.interval)
