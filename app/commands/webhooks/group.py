"""The group ``flask webhook`` that the commands beside this file join."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from app.commands.command import Group
from app.commands.webhooks.instances import instance_options

command = Group(
    "webhook",
    short_help="List, make, change, try and follow webhooks.",
    help="List, make, change, try and follow webhooks, of this installation or of another one. "
    "WEBHOOK is an id, or a name that is unique.",
    examples=[
        ("flask webhook list", "all of them, app by app"),
        ("flask webhook create", "a new one: asks what it needs to know"),
        ("flask webhook dry-run --query @paid.graphql", "what it would be told"),
        ("flask webhook listen --forward-to http://localhost:3000/hook", "on your own machine"),
        ("flask webhook list --instance https://shop.example.com/graphql/", "of another shop"),
    ],
)


def webhook_command(
    name: str, *, examples: list[tuple[str, str]]
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare one of the group, with the options that all of them have."""

    def declare(function: Callable[..., Any]) -> click.Command:
        return command.command(name, examples=examples)(instance_options(function))

    return declare
