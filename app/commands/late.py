"""Commands that are loaded when they are called, not when their group is."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import cast

import click
from typing_extensions import override

from app.loading import load, postponed

_WAITS = (
    "app.services.",
    "app.ports.statements",
    "app.domain.events",
    "app.domain.webhooks.subscribable_events",
    "app.commands.terminal.tables",
    "app.web.remote_instances",
)
"""Whoever asks for help or mistypes an option waits neither for the use cases and the database's
library below them nor for the library of tables; nobody for all events who speaks of none, nor
for the ways to other instances who asks this one."""


def load_command(target: str) -> click.Command:
    """The command that ``target`` names as ``module:name``; what it needs waits until it runs."""
    with postponed(*_WAITS):
        return cast("click.Command", load(target))


class LateCommands(MutableMapping[str, click.Command]):
    """A group's commands by name. ``modules`` says where each is declared, as ``module:name``."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._loaded: dict[str, click.Command] = {}

    @override
    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = load_command(self._modules[name])
        return self._loaded[name]

    @override
    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    @override
    def __delitem__(self, name: str) -> None:
        raise TypeError("A command that is declared stays.")

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._modules.keys() | self._loaded.keys())

    @override
    def __len__(self) -> int:
        return len(self._modules.keys() | self._loaded.keys())
