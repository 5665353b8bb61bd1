"""The tasks of the worker: which use cases it repeats, when, and in how many threads."""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Batch
from app.ports import Ports
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
from app.services.operations.background_work import record_heartbeat
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
