"""settings -> ports -> app: where every server and the ``flask`` command find the application."""

import gc
import sys

from flask import Flask

import app as latchkey
import cli
from app.domain.faults import Misconfigured


def _make_app() -> Flask:
    """The application, or for ``flask`` in search of a command one that has commands alone."""
    if cli.is_searched():
        return cli.make_command_app()
    # What is loaded here stays: looking among it for garbage takes a fifth of the start, and
    # would take a little of every collection afterwards.
    gc.disable()
    try:
        made: Flask = latchkey.create_app()
    except Misconfigured as error:
        sys.exit(str(error))
    finally:
        gc.freeze()
        gc.enable()
    cli.register(made)
    return made


app = _make_app()
