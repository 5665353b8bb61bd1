"""A terminal for commands to run on, with somebody at it who answers."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.commands.real_installation import ROOT, TIMEOUT_SECONDS, Installation

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
    process = subprocess.Popen(
        [sys.executable, "-m", "flask", "--app", str(ROOT / "wsgi.py"), *arguments],
        cwd=installed.folder,
        env={**installed.environment, **more},
        stdin=theirs,
        stdout=result,
        stderr=theirs,
        start_new_session=True,  # else it would ask on the terminal that the tests run on
        # A shell lets what it runs in the background ignore Ctrl-C; nobody ran this so.
        preexec_fn=catch_interrupts,  # noqa: PLW1509 - it does nothing else
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
            interrupted = False  # it was heard
            if waiting and waiting[0][0] in shown[answered:]:
                answered = len(shown)
                interrupted = waiting[0][1] == INTERRUPT
                _answer(process, ours, waiting.pop(0)[1])
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert waiting == [], "some questions were not asked"
    return f"{shown}\nended with {process.returncode}"


def catch_interrupts() -> None:
    """For a process that is about to run."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _answer(process: "subprocess.Popen[bytes]", terminal: int, answer: str) -> None:
    if answer == INTERRUPT:
        process.send_signal(signal.SIGINT)
    else:
        os.write(terminal, f"{answer}\n".encode())


def _read(terminal: int, interrupted: "subprocess.Popen[bytes] | None") -> str:
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
