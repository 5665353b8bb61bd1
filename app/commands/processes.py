"""Run processes as a group: restart one that ends, or stop them all."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Event
from types import FrameType

from app.web.parent_process import end_with_parent

_TICK = 0.2
_GRACE = 20.0
_QUICK = 10.0
_FALLS = 5
_MAX_RESTART_SECONDS = 8.0

Say = Callable[[str], None]


class Program:
    """One of the processes, with whatever processes it starts in turn."""

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        """Run ``command`` with ``environment`` in addition to this process's own."""
        self.name = name
        added = [f"{key}={value}" for key, value in (environment or {}).items()]
        self._command = ("env", *added, *command) if added else tuple(command)
        self._process: subprocess.Popen[bytes] | None = None
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
        code = self._process.poll()
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
        try:
            self._process.wait(max(seconds, 0.0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End it, and all it has started, at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _start(self, now: float) -> None:
        self._started = now
        self._process = subprocess.Popen(  # noqa: S603 - the command is our own
            self._command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=partial(end_with_parent, os.getpid()),  # noqa: PLW1509 - no thread is running
        )


def run_programs(programs: Sequence[Program], say: Say, each_tick: Callable[[], None]) -> bool:
    """Run ``programs`` until SIGTERM or SIGINT; whether that was why it ended.

    One that ends by itself is started again after a pause. When it keeps falling, all end.
    """
    stop = Event()

    def end(_signal: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
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
