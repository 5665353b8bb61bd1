"""``flask operations``: health and metrics alone."""

from __future__ import annotations

import click
from flask import current_app

from app.commands.processes import run_until_stopped
from app.commands.terminal.command import standalone
from app.commands.terminal.output import Form, output
from app.web.installation import installation

EXTENSION = "latchkey.operations"
"""Where the application keeps what this command runs."""


@standalone(
    "operations", examples=[("flask operations", "next to a WSGI server other than `flask serve`")]
)
def command() -> None:
    """Serve only health and metrics, on OPERATIONS_PORT.

    `flask serve` and a separate `flask worker` do it themselves. Another WSGI server has to share
    the folder METRICS_FOLDER with this command. Stops on SIGTERM and Ctrl-C.
    """
    if not installation().operations_port:
        raise click.ClickException("OPERATIONS_PORT isn't set.")
    run_until_stopped(current_app.extensions[EXTENSION])
    out = output()
    if out.form is Form.JSON:
        out.alone("ended", True)  # noqa: FBT003 - the value that is shown
