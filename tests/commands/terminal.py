"""A terminal for commands to run on, with somebody at it who answers."""

import contextlib
import os
import pty
import select
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from tests.commands.real_installation import TIMEOUT_SECONDS, Installation
from tests.servers.forked_commands import ForkedCommand

ESCAPE = "\x1b["
INTERRUPT = "\x03"
Answers = Sequence[tuple[str, str]]


def run_in_terminal(
    installed: Installation,
    *arguments: str,
    answers: Answers = (),
    into: Path | None = None,
    **more: str,
) -> str:
    """What ``flask ARGUMENTS`` shows on a terminal; each of ``answers`` follows its question.

    ``INTERRUPT`` for an answer is Ctrl-C. Standard output goes to the file ``into``, if given.
    """
    ours, theirs = pty.openpty()
    result = os.open(into, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) if into else os.dup(theirs)
    process = ForkedCommand(
        arguments, installed.folder, {**installed.environment, **more}, (theirs, result, theirs)
    )
    os.close(theirs)
    os.close(result)
    shown = ""
    answered = 0
    waiting = list(answers)
    interrupted = False
    try:
        while chunk := _read(ours, process if interrupted else None):
            shown += chunk
            if chunk.strip():  # not the blank that comes behind a question
                interrupted = False  # it was heard
            if waiting and waiting[0][0] in shown[answered:]:
                answered = len(shown)
                interrupted = waiting[0][1] == INTERRUPT
                _answer(process, ours, waiting.pop(0)[1])
    finally:
        process.kill()
        os.close(ours)
    assert waiting == [], "some questions were not asked"
    return f"{shown}\nended with {process.returncode}"


def _answer(process: ForkedCommand, terminal: int, answer: str) -> None:
    if answer == INTERRUPT:
        process.send_signal(signal.SIGINT)
    else:
        os.write(terminal, f"{answer}\n".encode())


def _read(terminal: int, interrupted: ForkedCommand | None) -> str:
    """What comes next; empty when the command has closed its end.

    Python misses a signal that comes in the moment before it waits for a key, so whoever has
    pressed Ctrl-C presses it again after a second of silence, as people do.
    """
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not select.select([terminal], [], [], 1.0)[0]:
        assert time.monotonic() < deadline, "the terminal stays silent"
        if interrupted is not None:
            interrupted.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):
        return os.read(terminal, 4096).decode(errors="replace")
    return ""


def read_rest(terminal: int) -> str:
    """Return what an ended command has left on the terminal."""
    shown = ""
    while chunk := _read(terminal, None):
        shown += chunk
    return shown
