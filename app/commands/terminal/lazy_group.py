"""Groups that import a subcommand when it is called or listed."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
from flask.cli import AppGroup
from typing_extensions import override


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
