"""Which installation a command works on: this one, or another by ``--instance``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from app.commands.terminal.api_url import ApiAddress
from app.commands.terminal.command import Command, standalone
from app.commands.terminal.instance_choice import choice_of
from app.commands.terminal.text_options import FilePath, read_file
from app.commands.webhooks.local_instance import LocalInstance
from app.domain.values.errors import PermissionDenied
from app.ports.instance import Instance
from app.web.installation import installation, remote_access


def webhook_command(
    name: str, *, examples: list[tuple[str, str]]
) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command of the group, with the options that all of them share."""

    def declare(function: Callable[..., Any]) -> Command:
        _add_options(function)
        return standalone(name, examples)(function)

    return declare


def _add_options(function: Callable[..., Any]) -> None:
    """Add the options that select another instance."""
    address = click.Option(
        ["-u", "--instance", "--url", "instance_url"],
        type=ApiAddress(),
        expose_value=False,
        callback=_remember_url,
        help="API URL of another instance, such as https://shop.example.com/graphql/. Default: "
        "this installation.",
    )
    token_file = click.Option(
        ["--token-file"],
        type=FilePath(),
        expose_value=False,
        callback=_remember_token_file,
        help="File with the token for the instance. Default: LATCHKEY_TOKEN, then the login "
        "stored by `flask login`.",
    )
    # They are read from behind: so these come after those of the command itself.
    declared: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
    declared[:0] = [token_file, address]


def instance() -> Instance:
    """Return the instance of the running command.

    Raises ``PermissionDenied`` without a login there, and ``click.UsageError`` for a token file
    that can't be read.
    """
    choice = choice_of(click.get_current_context())
    if not choice.url:
        if choice.token_file:
            raise click.UsageError("--token-file requires --instance.")
        return LocalInstance(installation().ports)
    access = remote_access()
    token = access.token
    if choice.token_file:
        token = read_file(choice.token_file).strip()
    if token:
        return access.connect_by_token(choice.url, token)
    profile = access.profiles.find(choice.url)
    if profile is None:
        message = (
            f"Not signed in to {choice.url}. Sign in with: flask login {choice.url}, or "
            "provide a token with --token-file or LATCHKEY_TOKEN."
        )
        raise PermissionDenied(message=message)
    return access.connect_by_profile(profile)


def _remember_url(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    choice_of(context).url = value or ""


def _remember_token_file(
    context: click.Context, _option: click.Parameter, value: str | None
) -> None:
    choice_of(context).token_file = value or ""
