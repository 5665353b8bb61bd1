"""Option values given directly, read from a file (``@file``) or standard input (``-``)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from typing_extensions import override

from app.commands.terminal.output import write

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
    """What is in a file, whatever it is; ``-`` is standard input."""
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
