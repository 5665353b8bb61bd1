"""Shifts Latchkey's clock: Python imports this from ``PYTHONPATH`` at its start."""

import os
from functools import partial

from app.adapters import system
from tests.fakes.offset_clock import Ahead

OFFSET = "CLUSTER_CLOCK_OFFSET"
"""Seconds by which the process's clock is ahead of the machine's."""

if __name__ == "sitecustomize":
    system.SystemClock = partial(  # type: ignore[misc, assignment]
        Ahead, float(os.environ[OFFSET])
    )
