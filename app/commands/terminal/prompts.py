"""Ask at the terminal, above all before something that can't easily be undone."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from app.commands.terminal.output import visible_lines

Function = TypeVar("Function", bound=Callable[..., Any])


def _remember(context: click.Context, _option: click.Parameter, value: object) -> None:
    context.meta[__name__] = bool(value)


no_input_option = click.option(
    "--no-input",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Never prompt; fail if a prompt would be needed.",
)


def yes_option(function: Function) -> Function:
    """``--yes``, which confirms in advance, and ``--no-input``, which disables prompts."""
    yes = click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
    return yes(no_input_option(function))


def may_ask() -> bool:
    """Return whether prompts are possible."""
    is_silenced: bool = click.get_current_context().meta.get(__name__, False)
    return sys.stdin.isatty() and not is_silenced


def confirm_action(question: str, *, yes: bool) -> None:
    """Ask for confirmation, or accept ``--yes``; end the command otherwise.

    Where prompts are impossible, in a pipe for example, a missing ``--yes`` is a usage error.
    """
    if yes:
        return
    question = visible_lines(question)
    if not may_ask():
        raise click.UsageError(
            f"{question} Confirmation required; pass --yes when not running in a terminal."
        )
    click.confirm(question, abort=True, err=True)


def ask_secret(what: str) -> str:
    """Prompt for a secret without echo; without prompts, read it from standard input."""
    if not sys.stdin.isatty():
        return sys.stdin.read().strip()
    if not may_ask():
        raise click.UsageError(f"{what} is required; pipe it in when not running in a terminal.")
    secret: str = click.prompt(what, hide_input=True, err=True)
    return secret
