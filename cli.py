"""The ``flask`` command's groups: a list of names; each is loaded when it is used."""

import atexit
import gc
import logging
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, cast

import click
from flask import Flask
from flask.cli import AppGroup, FlaskGroup
from typing_extensions import override
from werkzeug.local import LocalProxy

from app.commands.late import load_command
from app.loading import load, postponed

COMMANDS = {
    "serve": ("app.commands.serve", "Serve the shop, with its background worker beside it."),
    "worker": ("app.commands.worker", "Do the background work alone."),
    "db": ("app.commands.db", "Create the database's tables and keep them up to date."),
    "demo": ("app.commands.demo", "Fill the shop with people, goods, orders and apps."),
    "user": ("app.commands.user", "Create, list, change and deactivate people."),
    "group": ("app.commands.group", "Create, list, change and delete permission groups."),
    "app": ("app.commands.apps", "Create, install and change apps and their tokens."),
    "webhook": ("app.commands.webhook", "List, make, change, try and follow webhooks."),
    "login": ("app.commands.login", "Sign in to another instance, for --instance."),
    "shop": ("app.commands.shop", "Show and change the shop's settings and switches."),
    "oidc": ("app.commands.oidc", "Set up single sign-on through identity providers."),
    "keys": ("app.commands.keys", "List and rotate the signing keys."),
    "doctor": ("app.commands.doctor", "Check this installation and say how to mend it."),
    "completion": ("app.commands.completion", "Print what makes a shell complete commands."),
}


_RARELY = 300_000
"""New objects between two collections of garbage: a command makes that many, and ends."""


_OFTEN = gc.get_threshold()


class Late(click.Command):
    """A command or a group that is loaded when it is called, not when it is listed."""

    def __init__(self, name: str, module: str, summary: str) -> None:
        super().__init__(name, help=summary)
        self._module = module

    @override
    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        return self.loaded().make_context(info_name, args, parent=parent, **extra)

    def loaded(self) -> click.Command:
        return load_command(f"{self._module}:command")


class Catalogue(AppGroup):
    """All of them, and a suggestion for a name that is none."""

    def __init__(self) -> None:
        made = [Late(name, module, summary) for name, (module, summary) in COMMANDS.items()]
        super().__init__("flask", commands=made)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and not ctx.resilient_parsing:
            if "--json" in sys.argv:
                tell = cast(
                    "Callable[..., None]", load("app.commands.terminal.output:write_errors")
                )
                tell([("USAGE", f"No such command {cmd_name!r}.", None)])
            raise click.NoSuchCommand(cmd_name, possibilities=self.commands, ctx=ctx)
        return command


def register(app: Flask) -> None:
    """Give ``app`` the commands, what ``flask worker`` runs, and the ways to other instances."""
    app.cli = Catalogue()
    app.extensions["latchkey.worker"] = _work
    app.extensions["latchkey.remote_access"] = LocalProxy(_elsewhere)


def is_searched() -> bool:
    """Whether ``flask`` is loading the application only to see which commands it has."""
    context = click.get_current_context(silent=True)
    if context is None:
        # Completing a name in the shell, it has no context.
        return Path(sys.argv[0]).stem == "flask"
    return context.parent is None and isinstance(context.command, FlaskGroup)


def make_command_app() -> Flask:
    """An application for commands alone: it reads the settings when one asks for them.

    So help is quick, and a command can tell what is wrong with the settings.
    """
    gc.set_threshold(_RARELY)
    # A last garbage collection would take a fifth of the command's time and free nothing that the
    # end of the process doesn't.
    atexit.register(gc.freeze)
    # Library logs after Ctrl-C are noise; errors are raised as well.
    for name in ("app", "sqlalchemy"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    app = Flask("app")
    register(app)
    app.extensions["latchkey"] = LocalProxy(_installation)
    return app


@cache
def _installation() -> object:
    return _connected("connect_installation")


@cache
def _elsewhere() -> object:
    return _connected("connect_remote_access")


def _connected(name: str) -> object:
    with postponed(
        "app.adapters.", "app.remote.", "app.ports.statements", "app.web.remote_instances"
    ):
        connect = cast("Callable[[], object]", load(f"app.wiring:{name}"))
    return connect()


def _work(stop: Event) -> None:
    run = cast("Callable[[Event], None]", load("app.factory:run_worker"))
    gc.freeze()
    gc.set_threshold(*_OFTEN)
    run(stop)
