"""The text in an editor, in a file that stays until the text has been saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from app.commands.terminal.output import legible

_ERROR = "# Error: "


@dataclass(slots=True)
class EditedFile:
    """A file that only its owner can read; ``original`` is what was in it first."""

    path: Path
    original: str

    def edit(self) -> str:
        """Open the editor; return the text, empty if the file was removed or emptied.

        Raises ``click.ClickException`` for an editor that fails and for a file that isn't text.
        """
        click.edit(filename=str(self.path))
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise click.ClickException("The edited file isn't UTF-8 text.") from None

    def explain(self, text: str, error: str) -> None:
        """Write ``text`` with ``error`` as a comment above it, instead of the last error."""
        rest = [line for line in text.splitlines() if not line.startswith(_ERROR)]
        comment = [f"{_ERROR}{line}" for line in legible(error).split("\n")]
        self.path.write_text("\n".join([*comment, *rest]) + "\n", encoding="utf-8")

    @property
    def is_worth_keeping(self) -> bool:
        """Whether there is text in it that wasn't there at first."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return False
        return bool(content.strip()) and content != self.original.encode()


@contextmanager
def edited_file(text: str, suffix: str, say: Callable[[str], None]) -> Iterator[EditedFile]:
    """A file with ``text`` to edit; it stays, and ``say`` tells where, if the block fails."""
    descriptor, name = tempfile.mkstemp(prefix="latchkey-", suffix=suffix)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    file = EditedFile(Path(name), text)
    try:
        yield file
    except BaseException:
        if file.is_worth_keeping:
            say(f"Your text is kept in {name}")
        else:
            file.path.unlink(missing_ok=True)
        raise
    file.path.unlink(missing_ok=True)
