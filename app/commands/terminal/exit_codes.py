"""How a command ends: exit codes and messages of failures, and signals such as Ctrl-C.

After Ctrl-C a command says how far it came, unless the process starts or ends.
"""

import errno
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType

from app.commands.terminal.output import visible_lines
from app.domain.values.errors import (
    PermissionDenied,
    Problem,
    Refused,
    TokenRejected,
    TrafficClosed,
)
from app.domain.values.installation import Fault, KeyUnreadable, Misconfigured, Unreachable


class Exit(IntEnum):
    """The exit codes of every command, as scripts may rely on them."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    DENIED = 4
    UNREACHABLE = 5


INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells report it."""


MEANINGS = {
    Exit.DONE: "done",
    Exit.FAILED: "failed, or a problem was found",
    Exit.USAGE: "invalid command line",
    Exit.REFUSED: "refused by a rule of the shop",
    Exit.DENIED: "not signed in or not permitted",
    Exit.UNREACHABLE: "a required service can't be reached",
    INTERRUPTED: "interrupted by Ctrl-C",
}
"""What the exit codes mean."""

_DISK_FULL = "No space left for the output; the rest wasn't written."


@dataclass(frozen=True, slots=True)
class Failure:
    """The end of a command that could not do what it was asked."""

    exit: Exit | int
    errors: tuple[Problem, ...]

    @property
    def lines(self) -> list[str]:
        """The errors for a person to read; they may be what another instance said."""
        return [
            visible_lines(f"{error.field}: {error.message}" if error.field else error.message)
            for error in self.errors
        ]


INTERRUPTION = Failure(INTERRUPTED, (Problem("INTERRUPTED", "Interrupted."),))


def is_unwritable(error: BaseException) -> bool:
    """Whether there is no room for what a command has to say: the disk is full, say."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def failure_of(error: BaseException) -> Failure | None:
    """Return how a command ends on ``error``; ``None`` for an unexpected one."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTION
    if isinstance(error, Refused):
        return Failure(Exit.REFUSED, error.problems)
    if isinstance(error, Misconfigured):
        return Failure(
            Exit.FAILED, tuple(Problem("SETTINGS", problem) for problem in error.problems)
        )
    if is_unwritable(error):
        return Failure(Exit.FAILED, (Problem("UNWRITABLE", _DISK_FULL),))
    for kind, (code, exit_code) in _EXIT_CODES.items():
        if isinstance(error, kind):
            return Failure(exit_code, (Problem(code, str(error)),))
    return None


_EXIT_CODES: dict[type[Exception], tuple[str, Exit]] = {
    PermissionDenied: ("PERMISSION_DENIED", Exit.DENIED),
    TokenRejected: ("TOKEN_REJECTED", Exit.DENIED),
    TrafficClosed: (TrafficClosed.CODE, Exit.DENIED),
    Unreachable: ("UNREACHABLE", Exit.UNREACHABLE),
    KeyUnreadable: ("KEY_UNREADABLE", Exit.FAILED),
    Fault: ("FAILED", Exit.FAILED),
}

_SIGNALED = 128
"""Shells add the number of the signal that ended a process to this."""


def exit_at_once(_signal: int, _frame: FrameType | None) -> None:
    """Exit without a word: an exception would surface anywhere, in an import for example."""
    os._exit(INTERRUPTED)


@contextmanager
def raised_interruptions() -> Iterator[None]:
    """Let Ctrl-C raise ``KeyboardInterrupt`` meanwhile, where ``exit_at_once`` stands for it."""
    if signal.getsignal(signal.SIGINT) is not exit_at_once:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, exit_at_once)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise ``SystemExit`` at SIGTERM and SIGHUP meanwhile, so that the command can tidy up.

    No ``Exception``: it comes up anywhere, and what catches errors of resolvers would catch it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can have handlers
        return
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, _raise_exit) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(_SIGNALED + number)
