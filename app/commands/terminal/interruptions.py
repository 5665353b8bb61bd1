"""Ctrl-C: a command says how far it came; while the process starts or ends, it exits at once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from app.commands.terminal.exit_codes import INTERRUPTED


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
