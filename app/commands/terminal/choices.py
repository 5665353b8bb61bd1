"""A choice among a few words on the command line, with a suggestion for a mistyped one."""

from difflib import get_close_matches
from typing import Any

import click
from typing_extensions import override


class Word(click.Choice[str]):
    """A parameter type for one of ``words``; an error suggests the nearest or lists all."""

    @override
    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        suggestions = get_close_matches(str(value), self.choices)
        hint = (
            f"Did you mean {' or '.join(suggestions)}?"
            if suggestions
            else f"Available values: {', '.join(self.choices)}."
        )
        return f"Unknown value {value!r}. {hint}"


class Id(click.IntRange):
    """The number of a thing, as its list shows it."""

    name = "id"


def read_switch(text: str) -> bool:
    """What ``true``, ``off`` and the like mean; raises ``click.UsageError`` for anything else."""
    try:
        switch = click.BOOL.convert(text, None, None) if text.strip() else None
    except click.BadParameter:
        switch = None
    if switch is None:
        raise click.UsageError(f"must be true or false, got {text[:40]!r}")
    return switch


def read_number(text: str) -> int:
    """Return the integer that ``text`` is; raises ``click.UsageError`` for anything else."""
    try:
        return int(text)
    except ValueError as error:
        raise click.UsageError(f"must be an integer, got {text[:40]!r}") from error
