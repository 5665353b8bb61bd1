"""Long work shows a person at a terminal how far it is."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from typing import TypeVar

import click

Step = TypeVar("Step")


def steps(every: Sequence[Step], what: str) -> Generator[Step]:
    """Each of ``every`` in turn; a terminal on standard error counts along."""
    if not sys.stderr.isatty():
        yield from every
        return
    try:
        for number, item in enumerate(every, start=1):
            click.echo(f"\r{what} {number} of {len(every)}", nl=False, err=True)
            yield item
    finally:
        click.echo(err=True)  # whatever is told next, an error say, begins a line


def note(text: str) -> None:
    """Show progress on a terminal while the total is unknown."""
    if sys.stderr.isatty():
        click.echo(text, err=True)
