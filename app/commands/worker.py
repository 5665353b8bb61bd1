"""``flask worker``: the background work alone."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

from flask import current_app

from app.commands.terminal.command import standalone
from app.commands.terminal.output import Form, output
from app.domain.authorization.actor import OPERATOR
from app.services.operations.health_checks import require_ready
from app.web.installation import installation

EXTENSION = "latchkey.worker"
"""Where the application keeps what this command runs."""


@standalone("worker", examples=[("flask worker", "on a machine that doesn't serve requests")])
def command() -> None:
    """Run only the background worker.

    Sends mail and webhooks and deletes expired data. You can run any number of workers on any
    number of machines; `flask serve` starts one. Stops on SIGTERM and Ctrl-C after finishing
    current work.
    """
    require_ready(installation().ports, OPERATOR)
    stop = Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    current_app.extensions[EXTENSION](stop)
    out = output()
    if out.form is Form.JSON:  # what it does meanwhile, its log tells
        out.alone("ended", True)  # noqa: FBT003 - the value that is shown
