"""Signals: after Ctrl-C a command says how far it came, unless the process starts or ends."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

from app.commands.terminal.exit_codes import INTERRUPTED

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
    """End the command by an exception at SIGTERM and SIGHUP meanwhile, so that it can tidy up."""
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
    raise click.exceptions.Exit(_SIGNALED + number)
