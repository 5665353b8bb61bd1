"""The ``flask`` command's groups: a list of names; each is imported when it is used."""

import logging
import signal
import sys
from functools import cache
from pathlib import Path
from threading import Event

import click
from flask import Flask
from flask.cli import FlaskGroup
from typing_extensions import override

import app as latchkey
from app.commands.terminal.interruptions import exit_at_once
from app.commands.terminal.lazy_group import LazyGroup
from app.commands.terminal.output import write_errors

COMMANDS = {
    "serve": "app.commands.serve:command",
    "worker": "app.commands.worker:command",
    "db": "app.commands.db:command",
    "demo": "app.commands.demo:command",
    "user": "app.commands.user:command",
    "group": "app.commands.group:command",
    "app": "app.commands.apps:command",
    "webhook": "app.commands.webhook:command",
    "sign-ins": "app.commands.sign_ins:command",
    "login": "app.commands.login:command",
    "shop": "app.commands.shop:command",
    "oidc": "app.commands.oidc:command",
    "keys": "app.commands.keys:command",
    "doctor": "app.commands.doctor:command",
    "completion": "app.commands.completion:command",
}


class Commands(LazyGroup):
    """All of them."""

    def __init__(self) -> None:
        super().__init__("flask", lazy_subcommands=COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return super().get_command(ctx, cmd_name)
        except click.NoSuchCommand as error:
            if "--json" in sys.argv:
                write_errors([("USAGE", error.message, None)])
            raise


def register(app: Flask) -> None:
    """Give ``app`` the commands, what ``flask worker`` runs, and the ways to other instances."""
    app.cli = Commands()
    app.extensions["latchkey.worker"] = _work
    app.extensions["latchkey.remote_access"] = _remote_access


def is_searched() -> bool:
    """Whether ``flask`` is loading the application only to see which commands it has."""
    context = click.get_current_context(silent=True)
    if context is None:
        # Completing a name in the shell, it has no context.
        return Path(sys.argv[0]).stem == "flask"
    return context.parent is None and isinstance(context.command, FlaskGroup)


def make_command_app() -> Flask:
    """Return an application for commands alone, which reads the settings when one asks for them.

    So no command waits for the console and the API, and any can tell what is wrong with the
    settings.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, exit_at_once)
    # Library logs after Ctrl-C are noise; errors are raised as well.
    for name in ("app", "sqlalchemy"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    app = Flask("app")
    register(app)
    app.extensions["latchkey"] = _installation
    return app


@cache
def _installation() -> object:
    return latchkey.connect_installation()


@cache
def _remote_access() -> object:
    return latchkey.connect_remote_access()


def _work(stop: Event) -> None:
    latchkey.run_worker(stop)
