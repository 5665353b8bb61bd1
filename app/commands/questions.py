"""Asking before something happens that is not easily taken back."""

import sys

import click

yes_option = click.option("--yes", is_flag=True, help="Do not ask first.")


def agree(question: str, *, yes: bool) -> None:
    """Return once somebody has agreed, beforehand by ``--yes`` or now; end the command otherwise.

    Where nobody can be asked, in a pipe say, the lack of ``--yes`` is a mistake of usage.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(f"{question} Nobody is here to be asked: say --yes.")
    click.confirm(question, abort=True, err=True)
