"""What every command and group does alike: help, ``--json`` and ``--short``, ways to end.

A group imports a subcommand when it is called or listed.
"""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NoReturn

import click
from flask.cli import AppGroup, with_appcontext
from typing_extensions import override

from app.commands.terminal import output
from app.commands.terminal.exit_codes import (
    INTERRUPTION,
    Failure,
    failure_of,
    is_unwritable,
    raised_interruptions,
)
from app.domain.values.errors import Problem
from app.domain.values.installation import VERSION


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile: there is next to none in modules that are being imported.

    Later collections skip what was imported, which also keeps them from writing into memory that
    forked processes share.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


class LazyGroup(AppGroup):
    """A group by the pattern that Click documents as "Lazily Loading Subcommands".

    ``lazy_subcommands`` says where each is declared, as ``module:name``.
    """

    def __init__(
        self, *args: Any, lazy_subcommands: Mapping[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.lazy_subcommands = dict(lazy_subcommands or {})

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return self.names(ctx)

    def names(self, ctx: click.Context) -> list[str]:
        """Return the names of all subcommands, without importing any."""
        return sorted({*super().list_commands(ctx), *self.lazy_subcommands})

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy_subcommands:
            return self._import(cmd_name)
        command = super().get_command(ctx, cmd_name)
        if command is None and not ctx.resilient_parsing:
            # Click would suggest names of commands that are imported already, and no others.
            raise click.NoSuchCommand(cmd_name, possibilities=self.names(ctx), ctx=ctx)
        return command

    def _import(self, cmd_name: str) -> click.Command:
        module, _, name = self.lazy_subcommands[cmd_name].partition(":")
        with without_collections():
            command = getattr(import_module(module), name)
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.lazy_subcommands[cmd_name]} is not a command.")
        return command


Function = Callable[..., None]
Examples = Sequence[tuple[str, str]]

_JSON = "--json"
_VERSION = "version"


class _Guided(click.Command):
    """Help that leads with examples, and usage errors as JSON where JSON was asked for.

    ``examples`` are pairs of a command line and what it does.
    """

    def __init__(self, *args: Any, examples: Examples = (), **settings: Any) -> None:
        settings["context_settings"] = {"help_option_names": ["-h", "--help"]}
        super().__init__(*args, **settings)
        self.examples = tuple(examples)

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        wants_json = _JSON in args
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            _write_usage_error(error, wants_json=wants_json)
            raise
        except BrokenPipeError:  # whoever asked for help has read enough of it
            output.drop_output(sys.stdout)
            ctx.exit()

    @override
    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                is_latchkey = ctx.find_root().info_name == "latchkey"
                lines = [
                    (line.replace("flask ", "latchkey ") if is_latchkey else line, what)
                    for line, what in self.examples
                ]
                formatter.write_dl(lines)
        self.format_options(ctx, formatter)
        self.format_epilog(ctx, formatter)


class Command(_Guided):
    """A command that ends by the house's exit codes."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params += [
            _form_option(_JSON, output.Form.JSON, "Print the result as JSON, including errors."),
            _form_option(
                "--short", output.Form.SHORT, "Print the result as plain text, one line per item."
            ),
        ]
        if not any(param.name == _VERSION for param in self.params):
            self.params.append(version_option())

    @override
    def invoke(self, ctx: click.Context) -> Any:
        try:
            with raised_interruptions():
                return super().invoke(ctx)
        except click.UsageError as error:
            _write_error(ctx, "USAGE", error.format_message())
            raise
        except click.Abort as abort:
            # At a question, click has made this of Ctrl-C.
            if isinstance(abort.__context__, KeyboardInterrupt):
                _end(ctx, INTERRUPTION)
            _write_error(ctx, "ABORTED", "Canceled. No changes were made.")
            raise
        except click.ClickException as error:
            _write_error(ctx, "FAILED", error.format_message())
            raise
        except (click.exceptions.Exit, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            failure = failure_of(error)
            if is_unwritable(error):
                output.drop_output(sys.stdout)
            if failure is not None:
                _end(ctx, failure)
            _write_error(ctx, "UNEXPECTED", type(error).__name__)
            raise


class Group(_Guided, LazyGroup):
    """A group of such commands."""

    command_class = Command

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.params.append(version_option())

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        wants_json = _JSON in args
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            _write_usage_error(error, wants_json=wants_json)
            raise


def standalone(name: str, examples: Examples = ()) -> Callable[[Function], Command]:
    """Declare a command without a group, or one that another module adds to a group."""

    def declare(function: Function) -> Command:
        make = click.command(name, cls=Command, examples=examples)
        return make(with_appcontext(function))

    return declare


def _form_option(flag: str, form: output.Form, what: str) -> click.Option:
    def choose(context: click.Context, _option: click.Parameter, value: object) -> None:
        if value and not context.resilient_parsing:
            output.choose_form(context, form)

    return click.Option([flag], is_flag=True, expose_value=False, callback=choose, help=what)


def version_option() -> click.Option:
    def show(context: click.Context, _option: click.Parameter, value: object) -> None:
        if value and not context.resilient_parsing:
            click.echo(f"latchkey {VERSION}")
            context.exit()

    return click.Option(
        ["-V", "--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show the version and exit.",
    )


def _write_usage_error(error: click.UsageError, *, wants_json: bool) -> None:
    if wants_json:
        output.write_errors(Problem("USAGE", error.format_message()))


def _write_error(ctx: click.Context, code: str, message: str) -> None:
    if output.form_of(ctx) is output.Form.JSON:
        output.write_errors(Problem(code, message))


def _end(ctx: click.Context, failure: Failure) -> NoReturn:
    if output.form_of(ctx) is output.Form.JSON:
        output.write_errors(*failure.errors)
    # Ctrl-C is not an error.
    mistake = "" if failure is INTERRUPTION else "Error: "
    for line in failure.lines:
        output.write(output.as_called(f"{mistake}{line}"), err=True)
    ctx.exit(failure.exit)
