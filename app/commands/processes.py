"""Run processes as a group; ``flask worker`` and ``flask operations`` run one of them alone.

A process that ends is restarted. They are forked, so that they share the memory and the time of
what this process has imported.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import Context
from functools import partial
from multiprocessing.context import ForkProcess
from threading import Event
from types import FrameType

import click
from flask import current_app

from app.commands.terminal.command import standalone
from app.commands.terminal.output import Form, output
from app.domain.authorization.actor import OPERATOR
from app.services.operations.health_checks import require_ready
from app.web.installation import installation
from app.web.parent_process import end_with_parent, show_name

_TICK = 0.5
_GRACE = 20.0
_QUICK = 10.0
_FALLS = 5
_MAX_RESTART_SECONDS = 8.0

_ENDING = (signal.SIGTERM, signal.SIGINT)

Say = Callable[[str], None]


class Program:
    """One of the processes, with the processes that it starts."""

    def __init__(self, name: str, run: Callable[[], object]) -> None:
        """Call ``run`` in the new process."""
        self.name = name
        self._run = run
        self._process: ForkProcess | None = None
        self._started = 0.0
        self._due = 0.0
        self._falls = 0

    @property
    def keeps_failing(self) -> bool:
        """Whether it has fallen several times in a row, each time soon after its start."""
        return self._falls >= _FALLS

    def supervise(self, say: Say) -> None:
        """Start it when it is due, and take note when it has ended."""
        now = time.monotonic()
        if self._process is None:
            if now >= self._due:
                self._start(now)
            return
        code = self._process.exitcode
        if code is None:
            return
        self.kill()  # what it has started may live on, and hold the port
        self._process = None
        self._falls = self._falls + 1 if now - self._started < _QUICK else 1
        self._due = now + min(2.0 ** (self._falls - 2), _MAX_RESTART_SECONDS)
        outcome = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        )
        say(f"The {self.name} {outcome}.")

    def ask_to_end(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def wait_for_end(self, seconds: float) -> bool:
        """Whether it has ended within ``seconds``."""
        if self._process is None:
            return True
        self._process.join(max(seconds, 0.0))
        return self._process.exitcode is not None

    def kill(self) -> None:
        """End it, and all it has started, at once."""
        if self._process is not None and self._process.pid is not None:
            self._process.kill()
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _start(self, now: float) -> None:
        self._started = now
        self._process = ForkProcess(target=_enter, args=(os.getpid(), self.name, self._run))
        # A signal waits until the new process no longer has the handlers of this one.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def _enter(parent: int, name: str, run: Callable[[], object]) -> None:
    """Begin as a process that is separate from ``parent``, without its handlers and context."""
    os.setsid()
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    end_with_parent(parent)
    show_name(f"latchkey-{name}")
    # What starts processes by itself, as granian does, has to fork them as well.
    multiprocessing.set_start_method("fork", force=True)
    Context().run(run)


def run_until_stopped(work: Callable[[Event], None]) -> None:
    """Call ``work`` with an event that SIGTERM and SIGINT set."""
    work(_stop_event())


def _stop_event() -> Event:
    """Return an event that SIGTERM and SIGINT set from now on."""
    stop = Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in _ENDING:
        signal.signal(number, end)
    return stop


def run_programs(programs: Sequence[Program], say: Say, each_tick: Callable[[], None]) -> bool:
    """Run ``programs`` until SIGTERM or SIGINT; whether that was why it ended.

    One that ends by itself is started again after a pause. When it keeps falling, all end.
    """
    stop = _stop_event()
    try:
        while not stop.is_set():
            for program in programs:
                program.supervise(say)
                if program.keeps_failing:
                    say(f"The {program.name} keeps crashing; stopping.")
                    return False
            each_tick()
            stop.wait(_TICK)
    finally:
        _end(programs, say)
    return True


def _end(programs: Sequence[Program], say: Say) -> None:
    for program in programs:
        program.ask_to_end()
    deadline = time.monotonic() + _GRACE
    for program in programs:
        if not program.wait_for_end(deadline - time.monotonic()):
            say(f"The {program.name} didn't stop in time and was killed.")
        program.kill()
        program.wait_for_end(_GRACE)


OPERATIONS = "latchkey.operations"
"""Where the application keeps what ``flask operations`` runs."""


@standalone(
    "operations", examples=[("flask operations", "next to a WSGI server other than `flask serve`")]
)
def operations() -> None:
    """Serve only health and metrics, on OPERATIONS_PORT.

    `flask serve` and a separate `flask worker` do it themselves. Servers and workers of a host
    share the port: one of them listens for all. Stops on SIGTERM and Ctrl-C.
    """
    if not installation().operations_port:
        raise click.ClickException("OPERATIONS_PORT isn't set.")
    run_until_stopped(partial(current_app.extensions[OPERATIONS], port_is_required=True))
    out = output()
    if out.form is Form.JSON:
        out.alone("ended", True)  # noqa: FBT003 - the value that is shown


WORKER = "latchkey.worker"
"""Where the application keeps what ``flask worker`` runs."""


@standalone("worker", examples=[("flask worker", "on a machine that doesn't serve requests")])
def worker() -> None:
    """Run only the background worker.

    Sends mail and webhooks and deletes expired data. You can run any number of workers on any
    number of machines; `flask serve` starts one. Stops on SIGTERM and Ctrl-C after finishing
    current work.
    """
    require_ready(installation().ports, OPERATOR)
    run_until_stopped(partial(current_app.extensions[WORKER], serves_operations=True))
    out = output()
    if out.form is Form.JSON:  # what it does meanwhile, its log tells
        out.alone("ended", True)  # noqa: FBT003 - the value that is shown
