"""settings -> ports -> app: where every server and the ``flask`` command find the application.

``app`` is for any WSGI server; ``flask serve`` makes the application in each of its processes.
"""

import gc
import os
import sys

from flask import Flask

gc.disable()  # a collection finds next to nothing while modules are imported, and takes 0.3 s

try:
    import app as latchkey
    import cli
    from app.domain.values.installation import Misconfigured
except KeyboardInterrupt:
    sys.exit(130)  # as `cli` ends on Ctrl-C from here on

_OTHERS_PERMISSIONS = 0o077


def _make_app() -> Flask:
    """Return the application, or one with commands only when ``flask`` looks for a command."""
    if cli.is_searched():
        return cli.make_command_app()
    if cli.is_command():
        cli.name_settings_files()
    try:
        app: Flask = latchkey.create_app()
    except Misconfigured as error:
        if cli.is_command() or sys.stderr.isatty():
            sys.exit(str(error))
        latchkey.log_wrong_settings(error)
        sys.exit(1)
    cli.register(app)
    return app


os.umask(
    _OTHERS_PERMISSIONS
)  # databases, mails and whatever else is created are for this account alone
app = _make_app()
gc.freeze()  # what was imported stays: later collections skip it
gc.enable()
