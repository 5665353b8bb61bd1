"""The instance that the command line names with ``--instance``."""

from dataclasses import dataclass

import click


@dataclass(slots=True)
class InstanceChoice:
    """What the options say; an empty ``url`` is this installation."""

    url: str = ""
    token_file: str = ""


def choice_of(context: click.Context) -> InstanceChoice:
    """Return the choice of the running command, also while the shell completes it."""
    choice: InstanceChoice = context.meta.setdefault(__name__, InstanceChoice())
    return choice
