"""``flask worker``: the background work alone."""

from __future__ import annotations

from flask import current_app

from app.commands.processes import run_until_stopped
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
    run_until_stopped(current_app.extensions[EXTENSION])
    out = output()
    if out.form is Form.JSON:  # what it does meanwhile, its log tells
        out.alone("ended", True)  # noqa: FBT003 - the value that is shown
