"""Kinds of options: choices, permissions, pages, texts, times, instances, and the fields to show.

A text is given directly, read from a file (``@file``) or from standard input (``-``). A time is
how long ago, or a date with or without a time.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem
from typing_extensions import override

from app.commands.terminal.output import (
    Column,
    Displayable,
    Row,
    choose_columns,
    output,
    visible,
    write,
)
from app.domain.authorization.permissions import Permission
from app.domain.urls.web_urls import is_unencrypted, parse_api_url
from app.domain.values.pages import MAX_PAGE_SIZE, Page, PageRequest, in_utc, read_cursor
from app.domain.values.times import moment_problem


def _hint(text: str, words: Sequence[str], what: str) -> str:
    """Return which of ``words`` is meant by ``text``, or all of them if none is like it."""
    similar = get_close_matches(text, words)
    if similar:
        return f"Did you mean {' or '.join(similar)}?"
    return f"Available {what}: {', '.join(words)}."


Value = TypeVar("Value", bound=str)
Member = TypeVar("Member", bound=StrEnum)


class Word(click.Choice[Value]):
    """A parameter type for one of ``choices``; an error suggests the nearest or lists all."""

    def word(self, choice: Value) -> str:
        """Return how a choice is written."""
        return str(choice)

    @override
    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return super().normalize_choice(str(choice), ctx)

    @override
    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        words = [self.word(choice) for choice in self.choices]
        return f"Unknown value {value!r}. {_hint(str(value), words, 'values')}"


def option_word(member: str) -> str:
    """Return how options and tables write a member of an enum: ``sent-by-app``."""
    return member.lower().replace("_", "-")


class MemberWord(Word[Member]):
    """A parameter type for a member of an enum by its word."""

    @override
    def word(self, choice: Member) -> str:
        return option_word(choice)

    @override
    def normalize_choice(self, choice: object, ctx: click.Context | None) -> str:
        return option_word(choice) if isinstance(choice, StrEnum) else str(choice)


MAX_KEY = 10**18
"""Fits every database's integer; a larger one cannot exist."""


class Id(click.IntRange):
    """The number of a thing, as its list shows it."""

    name = "id"

    def __init__(self) -> None:
        super().__init__(1, MAX_KEY)


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


_NAMES = tuple(permission.value for permission in Permission)


class PermissionType(click.ParamType[Permission]):
    """The name of a permission, in any case: ``manage-orders`` is ``MANAGE_ORDERS``."""

    name = "name"

    @override
    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Permission:
        text = str(value).upper().replace("-", "_")
        if text in _NAMES:
            return Permission(text)
        hint = _hint(text, _NAMES, "permissions")
        raise click.BadParameter(f"Unknown permission {value!r}. {hint}", ctx, param)

    @override
    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        prefix = incomplete.upper().replace("-", "_")
        return [CompletionItem(name) for name in _NAMES if name.startswith(prefix)]


permission_option = click.option(
    "--permission",
    "permissions",
    type=PermissionType(),
    multiple=True,
    help="A permission to grant, such as MANAGE_ORDERS. Repeatable.",
)

no_permission_option = click.option(
    "--no-permission",
    "withdrawn",
    type=PermissionType(),
    multiple=True,
    help="A direct permission to remove. Those of groups stay. Repeatable.",
)


def page_options(function: Callable[..., None]) -> Callable[..., None]:
    """``--limit`` and ``--after``, as the argument ``request``."""

    @click.option(
        "--limit",
        type=click.IntRange(1, MAX_PAGE_SIZE),
        default=MAX_PAGE_SIZE,
        show_default=True,
        help="Maximum number of results.",
    )
    @click.option(
        "--after",
        default="",
        help="Continue after this cursor, printed at the end of the previous page.",
    )
    @wraps(function)
    def run(*, limit: int, after: str, **options: Any) -> None:
        request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
        function(request=request, **options)

    return run


def show_page(page: Page[Row], columns: Sequence[Column[Row]], *, empty: str) -> None:
    """Print a page of a list as ``Output.rows`` does, and say how to go on after it."""
    out = output()
    out.rows(page.items, columns, empty=empty)
    if page.has_next:
        out.say(f"More results: --after {page.cursors[-1]}")


_MAX_BYTES = 4 * 1024 * 1024


class FilePath(click.Path):
    """A path; unlike Click's, an empty text isn't the current folder but a mistake."""

    @override
    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("must be the path of a file, got an empty text", param, ctx)
        return super().convert(value, param, ctx)


def read_text(value: str) -> str:
    """Return ``value`` itself, the content of ``@file``, or standard input for ``-``.

    Raises ``click.UsageError`` for a file that is missing, empty, too large or not text.
    """
    if value == "-":
        return read_input()
    return read_file(value[1:]) if value.startswith("@") else value


def read_secret(value: str, option: str) -> str:
    """As ``read_text``, with a warning when the value itself was given to ``option``."""
    if not is_read(value):
        warn_of_exposure(option)
    return read_text(value).strip()


def is_read(value: str) -> bool:
    """Whether ``given`` names a place to read from instead of being the text itself."""
    return value == "-" or value.startswith("@")


def warn_of_exposure(option: str) -> None:
    """Say that others on this machine can read the command line."""
    write(
        f"Warning: other users of this machine can read the command line. To keep the value of "
        f"{option} secret, use @FILE or - for standard input.",
        err=True,
    )


def read_file(name: str) -> str:
    """The text in a file; raises ``click.UsageError`` as ``read_text`` does."""
    return _text(read_bytes(name), name)


def read_input() -> str:
    """The text in standard input; raises ``click.UsageError`` as ``read_text`` does."""
    return _text(sys.stdin.buffer.read(_MAX_BYTES + 1), "standard input")


def read_bytes(name: str) -> bytes:
    """Return the bytes of a file; ``-`` is standard input."""
    if name == "-":
        return sys.stdin.buffer.read()
    if not name:
        raise click.UsageError("Enter a file name after the @.")
    try:
        with Path(name).open("rb") as file:
            return file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a valid file name"
        raise click.UsageError(f"Can't read {name}: {reason}.") from None


def _text(data: bytes, name: str) -> str:
    if len(data) > _MAX_BYTES:
        raise click.UsageError(f"{name} is larger than {_MAX_BYTES // 1024 // 1024} MiB.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\x00"
    if "\x00" in text:
        raise click.UsageError(f"{name} isn't UTF-8 text.")
    if not text.strip():
        raise click.UsageError(f"{name} is empty.")
    return text


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_future(text: str, now: datetime) -> datetime:
    """Parse a moment that is still to come: how long from now, or a date, in UTC without a zone.

    Raises ``click.UsageError`` for anything else.
    """
    span = _read_span(text)
    return _read_date(text) if span is None else now + span


def read_moment(text: str, now: datetime) -> datetime:
    """Parse a moment, in UTC if it has no zone.

    Raises ``click.UsageError`` for anything else and for a moment in the future.
    """
    span = _read_span(text)
    if span is not None:
        return now - span
    moment = _read_date(text)
    if moment > now:
        raise click.UsageError(f"{text[:40]!r} is in the future. Enter a time in the past.")
    return moment


def _read_span(text: str) -> timedelta | None:
    span = re.fullmatch(r"(\d{1,5})([smhdw])", text.strip().lower())
    return timedelta(**{_UNITS[span[2]]: int(span[1])}) if span else None


def _read_date(text: str) -> datetime:
    try:
        moment = in_utc(datetime.fromisoformat(text.strip()))
    except ValueError:
        message = (
            f"{text[:40]!r} is not a valid time. Use 30m, 2h, 3d, 2026-03-01 or 2026-03-01T08:30."
        )
        raise click.UsageError(message) from None
    problem = moment_problem(moment, "")
    if problem is not None:
        raise click.UsageError(f"{text[:40]!r} can't be used. {problem.message}")
    return moment


@dataclass(slots=True)
class InstanceChoice:
    """What the options say; an empty ``url`` is this installation."""

    url: str = ""
    token_file: str = ""


def choice_of(context: click.Context) -> InstanceChoice:
    """Return the choice of the running command, also while the shell completes it."""
    choice: InstanceChoice = context.meta.setdefault(__name__, InstanceChoice())
    return choice


class ApiAddress(click.ParamType[str]):
    """The address of an API, completed by its path where only the host was typed."""

    name = "url"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            url = parse_api_url(value)
        except ValueError as error:
            # These parts can hold a password or a token, which must not be logged.
            display = "It" if any(character in value for character in "@?#") else repr(value[:100])
            self.fail(f"{display} {error}", param, ctx)
        if is_unencrypted(url):
            click.echo(f"Warning: {url} is not encrypted; others can read your token.", err=True)
        return url


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
