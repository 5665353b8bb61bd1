"""``--fields``: the columns of a list or of one thing that a person or script wants to see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from app.commands.terminal.output import Column, Displayable, choose_columns, visible

Function = TypeVar("Function", bound=Callable[..., Any])


class FieldSelection(click.ParamType[tuple[Column[Any], ...]]):
    """Fields by their names in JSON, separated by commas; ``payload.order.id`` is a nested one."""

    name = "fields"

    def __init__(self, columns: Sequence[Column[Any]]) -> None:
        self._columns = {column.name: column for column in columns}

    @override
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Column[Any], ...]:
        if not isinstance(value, str):
            return tuple(value)
        paths = [path.strip() for path in value.split(",") if path.strip()]
        if not paths:
            self.fail(f"Enter at least one field. {self._available()}", param, ctx)
        return tuple(self._column(path, param, ctx) for path in dict.fromkeys(paths))

    @override
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        return [
            CompletionItem(f"{before}{comma}{name}")
            for name in self._columns
            if name.startswith(last) and name not in taken
        ]

    def _column(
        self, path: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Column[Any]:
        name, *inner = path.split(".")
        column = self._columns.get(name)
        if column is None:
            suggestions = get_close_matches(name, self._columns, n=1)
            hint = f"Did you mean {suggestions[0]}? " if suggestions else ""
            self.fail(f"Unknown field {name[:40]!r}. {hint}{self._available()}", param, ctx)
        if not inner:
            return replace(column, short=True)
        return Column(path, path, lambda row: _value_at(column.read(row), inner, path), short=True)

    def _available(self) -> str:
        return f"Available fields: {', '.join(self._columns)}."


def _value_at(value: Any, path: Sequence[str], whole: str) -> Displayable:
    """Return what is at ``path`` in ``value``; ``None`` where a mapping doesn't have it.

    Raises ``click.UsageError`` where ``path`` goes into a value that has no fields.
    """
    if not path or value is None:
        return value  # type: ignore[no-any-return]
    if isinstance(value, Mapping):
        return _value_at(value.get(path[0]), path[1:], whole)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_value_at(item, path, whole) for item in value]
    message = f"{visible(whole)}: there is no field {visible(path[0])!r} in a single value."
    raise click.UsageError(message)


def fields_option(columns: Sequence[Column[Any]]) -> Callable[[Function], Function]:
    """``--fields``, which selects some of ``columns`` in every form of output."""

    def choose(
        context: click.Context, _option: click.Parameter, value: tuple[Column[Any], ...] | None
    ) -> None:
        if value is not None:
            choose_columns(context, value)

    return click.option(
        "--fields",
        type=FieldSelection(columns),
        metavar="NAME,…",
        expose_value=False,
        callback=choose,
        help=f"Only these fields, in this order: {', '.join(column.name for column in columns)}.",
    )
