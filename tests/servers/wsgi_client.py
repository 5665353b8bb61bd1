"""Asks the application that a WSGI server would find, and writes its commands."""

import sys

from click import Context

from wsgi import app

answer = app.test_client().get("/nothing")
commands = app.cli.list_commands(Context(app.cli))
sys.stdout.write(f"{answer.status_code} {sorted(commands)}\n")
