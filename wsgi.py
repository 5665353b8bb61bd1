"""settings -> ports -> app: where every server and the ``flask`` command find the application.

``app`` is for any WSGI server; ``make_server`` is for granian, which ``flask serve`` starts.
"""

import gc
import os
import sys
from collections.abc import Callable
from typing import cast

from flask import Flask

import app as latchkey
import cli
from app.domain.values.installation_errors import Misconfigured
from app.loading import load

_OTHERS_PERMISSIONS = 0o077


def _make_app() -> Flask:
    """Return the application, or one with commands only when ``flask`` looks for a command."""
    if cli.is_searched():
        return cli.make_command_app()
    # What is loaded here stays: looking among it for garbage takes a fifth of the start, and
    # would take a little of every collection afterwards.
    gc.disable()
    try:
        app: Flask = latchkey.create_app()
    except Misconfigured as error:
        sys.exit(str(error))
    finally:
        gc.freeze()
        gc.enable()
    cli.register(app)
    return app


def make_server() -> object:
    """Return the application as an RSGI target that reads requests before it takes threads."""
    create = cast("Callable[[Flask], object]", load("app.factory:create_server"))
    return create(app)


os.umask(
    _OTHERS_PERMISSIONS
)  # databases, mails and whatever else is created are for this account alone
app = _make_app()
