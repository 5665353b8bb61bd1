"""The ``flask`` command's groups: a list of names; each is imported when it is used."""

import gc
import logging
import signal
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from threading import Event
from typing import NoReturn

import click
from flask import Flask
from flask.cli import FlaskGroup
from flask.cli import cli as flask_command
from typing_extensions import override

import app as latchkey
from app.commands.terminal.command import LazyGroup, version_option, without_collections
from app.commands.terminal.exit_codes import MEANINGS, Exit, exit_at_once
from app.commands.terminal.output import write, write_errors
from app.domain.values.errors import Problem
from app.domain.values.installation import Misconfigured

SECTIONS = {
    "Serve and operate": {
        "serve": "Serve the shop and run its background worker.",
        "worker": "Run only the background worker.",
        "operations": "Serve only health and metrics, on OPERATIONS_PORT.",
        "doctor": "Check what the installation depends on and suggest fixes.",
        "db": "Create the database's tables and keep them up to date.",
        "keys": "List and rotate the signing keys.",
        "backup": "Write the database to an encrypted file.",
        "restore": "Put a backup into the database.",
        "resume": "Send what is held after a restore or a move.",
        "export": "Write people, apps, webhooks and settings as JSON Lines.",
        "demo": "Fill the shop with demo data and print its logins.",
        "import": "Import people, apps and webhooks from elsewhere.",
    },
    "People and access": {
        "user": "Create, list, update and deactivate people.",
        "group": "Create, list, update and delete permission groups.",
        "channel": "Create, list, update and delete channels.",
        "shop": "Show and change the shop's settings and switches.",
        "oidc": "Set up single sign-on through identity providers.",
        "oauth-client": "Manage programs that sign people in with this shop.",
        "sign-ins": "List sign-in attempts and why they failed.",
        "audit": "List who changed what, and prune old entries.",
        "mail": "List emails with their result, and resend them.",
    },
    "Apps and webhooks": {
        "app": "Create, install and update apps and their tokens.",
        "webhook": "Create, update, test and follow webhooks.",
    },
    "Command line": {
        "login": "Sign in to another instance, to use it with --instance.",
        "completion": "Complete commands, options and names on TAB.",
    },
}
"""What ``flask --help`` says of each command, so that it imports none of them."""

_PLACES = {
    "app": "app.commands.apps:command",
    "export": "app.commands.imports:export",
    "import": "app.commands.imports:command",
    "worker": "app.commands.processes:worker",
    "operations": "app.commands.processes:operations",
    "backup": "app.commands.backup:backup",
    "restore": "app.commands.backup:restore",
    "resume": "app.commands.backup:resume",
    "webhook": "app.commands.webhooks:command",
}
COMMANDS = {
    name: _PLACES.get(name, f"app.commands.{name.replace('-', '_')}:command")
    for summaries in SECTIONS.values()
    for name in summaries
}
"""Where each command is declared: as ``command`` in the module of its name, or in its place."""

_HELP = """Run and manage a Latchkey shop. `flask COMMAND --help` describes a command.

Settings come from the environment, from .env in the current folder or the nearest folder above,
and from .env in the folder of wsgi.py; the first that has a setting wins. `latchkey COMMAND` does
the same for the installation of this machine, from any folder: its settings are in the file that
LATCHKEY_SETTINGS names, or in /etc/latchkey/settings.env.
"""


class Commands(LazyGroup):
    """All of them."""

    def __init__(self) -> None:
        super().__init__("flask", help=_HELP, lazy_subcommands=COMMANDS)

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        group = getattr(ctx, "command", None)
        if isinstance(group, FlaskGroup) and not ctx.resilient_parsing:
            self._print_help(ctx, group)
        return super().list_commands(ctx)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return super().get_command(ctx, cmd_name)
        except click.NoSuchCommand as error:
            if "--json" in sys.argv:
                write_errors(Problem("USAGE", error.message))
            raise

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, summaries in SECTIONS.items():
            _write_section(formatter, title, summaries)

    def _print_help(self, ctx: click.Context, flask: FlaskGroup) -> NoReturn:
        """Print the help of ``flask`` and exit.

        Flask asks for the names of an application's commands only to list them in its own help,
        among its own commands, and offers no other way to shape it.
        """
        formatter = ctx.make_formatter()
        flask.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self.format_commands(ctx, formatter)
        own = sorted(flask.commands.items())
        summaries = {name: command.get_short_help_str(formatter.width) for name, command in own}
        _write_section(formatter, "Flask", summaries)
        click.Command.format_options(flask, ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])
        is_wanted = not set(ctx.help_option_names).isdisjoint(sys.argv)
        click.echo(formatter.getvalue().rstrip("\n"), err=not is_wanted, color=ctx.color)
        sys.exit(Exit.DONE if is_wanted else Exit.USAGE)


def _write_section(
    formatter: click.HelpFormatter, title: str, summaries: Mapping[str, str]
) -> None:
    width = max(map(len, COMMANDS))
    with formatter.section(title):
        formatter.write_dl([(f"{name:{width}}", summary) for name, summary in summaries.items()])


def main() -> None:
    """Run ``latchkey``: ``flask`` for the installation of this machine, from any folder.

    LATCHKEY_SETTINGS names its settings file; the default is ``/etc/latchkey/settings.env``.
    ``latchkey demo`` in a folder without any settings makes a trial shop there and serves it.
    """
    latchkey.choose_installation()
    latchkey.load_application_from(Path(__file__).with_name("wsgi.py"))
    if sys.argv[1:2] == ["demo"] and latchkey.prepare_trial(Path.cwd()):
        _serve_trial(sys.argv[2:])
    own = version_option()
    for option in flask_command.params:
        if isinstance(option, click.Option) and option.name == "version":
            option.callback, option.help = own.callback, own.help
    flask_command.main(prog_name="latchkey")


def _serve_trial(options: list[str]) -> NoReturn:
    """Fill the trial shop of this folder the first time, and serve it with ``options``."""
    for words in (["db", "upgrade"], ["demo", "--once"]):
        flask_command.main(words, prog_name="latchkey", standalone_mode=False)
    flask_command.main(["serve", *options], prog_name="latchkey")
    sys.exit(Exit.DONE)


def register(app: Flask) -> None:
    """Give ``app`` the commands, what some of them run, and the ways to other instances."""
    app.cli = Commands()
    app.extensions["latchkey.load_server"] = _load_server
    app.extensions["latchkey.worker"] = _work
    app.extensions["latchkey.operations"] = _serve_operations
    app.extensions["latchkey.service_manager"] = _service_manager
    app.extensions["latchkey.check_settings"] = _check_settings
    app.extensions["latchkey.remote_access"] = _remote_access


def is_searched() -> bool:
    """Whether ``flask`` is loading the application only to see which commands it has."""
    context = click.get_current_context(silent=True)
    if context is None:
        # Completing a name in the shell, it has no context.
        return Path(sys.argv[0]).stem in ("flask", "latchkey")
    return context.parent is None and isinstance(context.command, FlaskGroup)


def is_command() -> bool:
    """Whether a command of Flask's own is loading the application."""
    context = click.get_current_context(silent=True)
    return context is not None and isinstance(context.find_root().command, FlaskGroup)


def make_command_app() -> Flask:
    """Return an application for commands alone, which reads the settings when one asks for them.

    So no command waits for the console and the API, and any can tell what is wrong with the
    settings.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, exit_at_once)
    # Library logs after Ctrl-C are noise; errors are raised as well.
    for name in (latchkey.__name__, "sqlalchemy"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    app = Flask(latchkey.__name__)
    register(app)
    app.extensions["latchkey"] = _installation
    return app


@cache
def _installation() -> object:
    name_settings_files()
    latchkey.leave_settings_to_files()
    with without_collections():
        connected = latchkey.connect_installation()
    _name_shop(connected.location)
    return connected


_READING = {
    *("backup", "clients", "current", "deliveries", "discover", "doctor", "dry-run", "events"),
    *("export", "list", "operations", "revision", "serve", "show", "test", "verify", "worker"),
}
"""The last words of commands that change nothing."""


def _name_shop(location: str) -> None:
    """Tell the person at a terminal which shop a command is about to change."""
    context = click.get_current_context(silent=True)
    is_change = context is not None and context.info_name not in _READING
    if is_change and sys.stderr.isatty():
        write(f"Shop: {location}", err=True)


def name_settings_files() -> None:
    """Name the settings files that aren't beside ``wsgi.py``, once for all of a command."""
    for file in latchkey.unexpected_settings_files():
        write(f"Settings read from {file}.", err=True)


@cache
def _remote_access() -> object:
    with without_collections():
        return latchkey.connect_remote_access()


def _load_server() -> Callable[[Callable[[], bool]], object]:
    """Import the application for the processes that are forked from now on.

    Returns what makes the application in one of them.
    """
    with without_collections():
        return partial(_make_server, latchkey.create_app, latchkey.create_server)


def _make_server(
    create_app: Callable[[], Flask],
    create_server: Callable[[Flask, Callable[[], bool]], object],
    is_stopping: Callable[[], bool],
) -> object:
    """Return the application as an RSGI target that reads requests before it takes threads."""
    try:
        server = create_server(create_app(), is_stopping)
    except Misconfigured as error:
        sys.exit(str(error))
    gc.freeze()
    return server


def _service_manager() -> object:
    return latchkey.service_manager()


def _check_settings() -> None:
    latchkey.load_settings()


def _work(
    stop: Event, *, serves_operations: bool, each_tick: Callable[[], None] | None = None
) -> None:
    latchkey.run_worker(stop, serves_operations=serves_operations, each_tick=each_tick)


def _serve_operations(
    stop: Event, *, port_is_required: bool, each_tick: Callable[[], None] = lambda: None
) -> None:
    latchkey.run_operations(stop, port_is_required=port_is_required, each_tick=each_tick)


if __name__ == "__main__":
    main()
