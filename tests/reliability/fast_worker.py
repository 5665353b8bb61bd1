"""A worker as ``flask worker`` is one, whose time goes faster: leases and retries come sooner."""

import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event

from app.composition.settings import load_settings
from app.composition.wiring import connect
from app.worker.tasks import run_tasks

FAST_WORKER = "tests.reliability.fast_worker"
"""This module; its argument is the anchor of the clock."""

SPEED = 20.0


@dataclass(frozen=True, slots=True)
class FastClock:
    """Time since ``anchor`` (Unix seconds), ``SPEED`` times; the same in every process."""

    anchor: float

    def timestamp(self) -> float:
        return self.anchor + (time.time() - self.anchor) * SPEED  # noqa: TID251 - a clock

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.timestamp(), UTC)


if __name__ == "__main__":
    clock = FastClock(float(sys.argv[1]))
    run_tasks(replace(connect(load_settings()), clock=clock, database_clock=None), Event())
