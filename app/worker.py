"""EDGE: the work that nobody waits for, in a process beside the server or on other machines."""

from threading import Event

import structlog

from app.domain.actor import WORKER
from app.ports import Ports
from app.services.housekeeping import tidy

INTERVAL = 300.0
"""Seconds between two rounds of housekeeping."""

_log = structlog.get_logger(__name__)


def run(ports: Ports, stop: Event, interval: float = INTERVAL) -> None:
    """Work until ``stop`` is set. A round that fails is logged, and tried again in its turn."""
    _log.info("worker.started")
    while True:
        try:
            tidied = tidy(ports, WORKER)
        except Exception:  # noqa: BLE001 - logged; a database that restarts must not end the worker
            _log.exception("worker.housekeeping_failed")
        else:
            _log.debug(
                "worker.tidied",
                sessions=tidied.sessions,
                links=tidied.links,
                throttle_counters=tidied.throttle_counters,
                keys=tidied.keys,
            )
        if stop.wait(interval):
            _log.info("worker.stopped")
            return
