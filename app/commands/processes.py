"""Run processes as a group; ``flask worker`` and ``flask operations`` run one of them alone.

A process that ends is restarted. They are forked, so that they share the memory and the time of
what this process has imported.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from contextvars import Context
from dataclasses import dataclass
from functools import partial, wraps
from multiprocessing.context import ForkProcess
from queue import Empty, SimpleQueue
from threading import Event, Thread
from types import FrameType
from typing import ParamSpec

import click
import structlog
from flask import current_app

from app.commands.terminal.command import standalone
from app.commands.terminal.exit_codes import Exit, failure_of
from app.commands.terminal.output import Form, Output, as_called, form_of, output
from app.domain.values.installation import Hold, Misconfigured
from app.services.operations.health_checks import require_ready
from app.services.operations.holds import check_installation
from app.web.installation import installation, operator
from app.web.logs import set_up_logs
from app.web.parent_process import ServiceManager, end_with_parent, show_name

P = ParamSpec("P")

_TICK = 0.5
_LONG_TICK = 2.0
"""Seconds between two looks at programs that have run for a while: signals tell what happens."""

_GRACE = 20.0
_QUICK = 10.0
_FALLS = 5
_MAX_RESTART_SECONDS = 8.0

_ENDING = (signal.SIGTERM, signal.SIGINT)

Say = Callable[[str], None]

_log = structlog.get_logger("latchkey.service")

SERVICE_MANAGER = "latchkey.service_manager"
"""Where the application keeps what returns the manager that started this process."""

CHECK_SETTINGS = "latchkey.check_settings"
"""Where the application keeps what reads the settings anew, and raises ``Misconfigured``."""


@dataclass(frozen=True, slots=True)
class Service:
    """A process that ``manager`` has started; ``check`` raises ``Misconfigured``."""

    manager: ServiceManager
    check: Callable[[], object]

    def can_reload(self, say: Say) -> bool:
        """Return whether the settings can be used now; says why not."""
        try:
            self.check()
        except Misconfigured as error:
            lines = "".join(f"\n  - {problem}" for problem in error.problems)
            say(f"Not reloaded, because the settings can't be used:{lines}")
            return False
        return True


def writes_json() -> bool:
    """Whether this process writes its messages as lines of the log, for a collector of logs."""
    if sys.stderr.isatty():
        return False
    try:
        return not installation().ports.configuration.development
    except Misconfigured:
        return True  # in which environment it runs can't be told


def message_writer(out: Output) -> Say:
    """Return what takes the messages of a process that runs for long."""
    if not writes_json():
        return out.say
    set_up_logs(level=installation().log_level, development=False)
    return lambda message: _log.info("service.message", message=message)


def with_logged_failures(function: Callable[P, None]) -> Callable[P, None]:
    """Have a service write why it can't go on as a line of the log, where it writes JSON."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> None:
        try:
            function(*args, **options)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if form_of(click.get_current_context()) is Form.JSON or not writes_json():
                raise
            set_up_logs(level="INFO", development=False)
            code = _log_failure(error)
            click.get_current_context().exit(code)

    return run


def _log_failure(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        _log.critical("service.failed", reason=as_called(error.format_message()))
        return error.exit_code
    failure = failure_of(error)
    if failure is None:
        _log.critical("service.failed", exc_info=error)
        return Exit.FAILED
    for line in failure.lines:
        _log.critical("service.failed", reason=as_called(line))
    return failure.exit


def current_service() -> Service:
    """Return this process; needs an application context."""
    extensions = current_app.extensions
    return Service(extensions[SERVICE_MANAGER](), extensions[CHECK_SETTINGS])


class Program:
    """One of the processes, with the processes that it starts."""

    def __init__(
        self,
        name: str,
        run: Callable[[], object],
        *,
        reload_signal: int = signal.SIGTERM,
        is_essential: bool = True,
    ) -> None:
        """Call ``run`` in the new process.

        ``reload_signal`` has it take new settings: SIGTERM ends it, and it is started again. The
        others end with one that is essential and keeps falling.
        """
        self.name = name
        self._run = run
        self._reload_signal = reload_signal
        self._is_essential = is_essential
        self._is_reloading = False
        self._process: ForkProcess | None = None
        self._started = 0.0
        self._due = 0.0
        self._falls = 0

    @property
    def keeps_failing(self) -> bool:
        """Whether it is essential and has fallen several times, each time soon after its start."""
        return self._is_essential and self._falls >= _FALLS

    @property
    def is_settled(self) -> bool:
        """Whether it has run for a while."""
        return self._process is not None and time.monotonic() - self._started > _QUICK

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
        if self._is_reloading:
            self._is_reloading = False
            self._start(now)
            return
        self._falls = self._falls + 1 if now - self._started < _QUICK else 1
        self._due = now + min(2.0 ** min(self._falls - 2, 10), _MAX_RESTART_SECONDS)
        outcome = (
            f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"
        )
        say(f"The {self.name} {outcome}.")

    def reload(self) -> None:
        """Have it take new settings."""
        if self._process is not None and self._process.pid is not None:
            self._is_reloading = self._reload_signal == signal.SIGTERM
            os.kill(self._process.pid, self._reload_signal)

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
        self._process = ForkProcess(
            target=_begin_process, args=(os.getpid(), self.name, self._run)
        )
        # A signal waits until the new process no longer has the handlers of this one.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)


def _begin_process(parent: int, name: str, run: Callable[[], object]) -> None:
    """Begin as a process that is separate from ``parent``, without its handlers and context."""
    os.setsid()
    for number in (*_ENDING, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    end_with_parent(parent)
    show_name(f"latchkey-{name}")
    # What starts processes by itself, as granian does, has to fork them as well.
    multiprocessing.set_start_method("fork", force=True)
    Context().run(run)


def run_until_stopped(work: Callable[[Event], None]) -> None:
    """Call ``work`` with an event that SIGTERM and SIGINT set."""
    stop = Event()
    _on(_ENDING, _from_a_handler(stop.set))
    work(stop)


def run_service(service: Service, say: Say, work: Callable[..., None]) -> None:
    """Call ``work`` until SIGTERM or SIGINT, telling the service manager; again after SIGHUP.

    ``work`` gets the event that ends it, and calls ``each_tick`` as long as it is well. After
    SIGHUP alone the whole process begins anew, with new settings and new code.
    """
    manager, stop = service.manager, Event()
    set_stop = _from_a_handler(stop.set)
    is_ready = is_ending = begins_anew = False
    fault: Exception | None = None

    def end() -> None:
        nonlocal is_ending
        is_ending = True
        manager.tell_stopping()
        set_stop()

    def begin_anew() -> None:
        nonlocal begins_anew, fault
        manager.tell_reloading()
        try:
            if not service.can_reload(say):
                manager.tell_ready()
                return
            begins_anew = True
        except Exception as error:  # noqa: BLE001 - raised below: this is another thread
            fault = error
        stop.set()

    def tell() -> None:
        nonlocal is_ready
        if not is_ready:
            is_ready = True
            manager.tell_ready()
        if manager.wants_sign_of_life:
            manager.tell_alive()

    _on(_ENDING, end)
    _on_hangup(_from_a_handler(begin_anew))
    work(stop, each_tick=tell)
    if fault is not None:
        raise fault
    if begins_anew and not is_ending:
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606


def _from_a_handler(act: Callable[[], None]) -> Callable[[], None]:
    """Return what a handler of signals calls instead of ``act``, which another thread then calls.

    A handler runs between any two steps of the main thread, and would wait for ever for a lock
    that this thread holds. ``Event.set`` takes the one that ``Event.wait`` holds for a moment.
    What ``act`` writes is of the running command.
    """
    asked: SimpleQueue[None] = SimpleQueue()
    command = click.get_current_context(silent=True)

    def act_when_asked() -> None:
        with nullcontext() if command is None else command.scope(cleanup=False):
            while True:
                asked.get()
                act()

    Thread(target=act_when_asked, name="signals", daemon=True).start()
    return partial(asked.put, None)


def _on(numbers: Sequence[signal.Signals], act: Callable[[], None]) -> None:
    def handle(_signal: int, _frame: FrameType | None) -> None:
        act()

    for number in numbers:
        signal.signal(number, handle)


def _on_hangup(act: Callable[[], None]) -> None:
    """Have SIGHUP call ``act``, unless it says that the terminal was closed, or is ignored."""
    if not sys.stdin.isatty() and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        _on((signal.SIGHUP,), act)


def run_programs(
    programs: Sequence[Program],
    say: Say,
    each_tick: Callable[[], None],
    *,
    service: Service,
    grace: float = _GRACE,
) -> bool:
    """Run ``programs`` until SIGTERM or SIGINT; whether that was why it ended.

    One that ends by itself is started again after a pause. When it keeps falling, all end. On
    SIGHUP all take new settings, unless these can't be used. They have ``grace`` seconds to end.
    """
    signals: SimpleQueue[int] = SimpleQueue()
    for number in (*_ENDING, signal.SIGCHLD):
        _on((number,), partial(signals.put, number))
    _on_hangup(partial(signals.put, signal.SIGHUP))
    received: set[int] = set()
    try:
        while received.isdisjoint(_ENDING):
            if signal.SIGHUP in received:
                _reload(programs, say, service)
            for program in programs:
                program.supervise(say)
                if program.keeps_failing:
                    say(f"The {program.name} keeps crashing; stopping.")
                    return False
            each_tick()
            is_settled = all(program.is_settled for program in programs)
            rest = min(service.manager.seconds_to_sign_of_life, _LONG_TICK) if is_settled else 0.0
            received = _next_signals(signals, max(rest, _TICK))
    finally:
        service.manager.tell_stopping()
        _end(programs, say, grace)
    return True


def _next_signals(signals: SimpleQueue[int], seconds: float) -> set[int]:
    """Return the next signal and those that wait behind it; none if none comes in ``seconds``.

    A stop waits for no reload that is asked for before it, and several reloads are one.
    """
    found: set[int] = set()
    with suppress(Empty):
        found.add(signals.get(timeout=seconds))
        while True:
            found.add(signals.get_nowait())
    return found


def _reload(programs: Sequence[Program], say: Say, service: Service) -> None:
    service.manager.tell_reloading()
    try:
        can_reload = service.can_reload(say)
    except OSError as error:  # such as that the working folder is gone
        say(f"Not reloaded, because the settings can't be read: {error}")
        can_reload = False
    if can_reload:
        for program in programs:
            program.reload()
    service.manager.tell_ready()


def _end(programs: Sequence[Program], say: Say, grace: float) -> None:
    for program in programs:
        program.ask_to_end()
    deadline = time.monotonic() + grace
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
@with_logged_failures
def operations() -> None:
    """Serve only health and metrics, on OPERATIONS_PORT.

    `flask serve` and a separate `flask worker` do it themselves. Servers and workers of a host
    share the port: one of them listens for all. Stops on SIGTERM and Ctrl-C.
    """
    if not installation().operations_port:
        raise click.ClickException("OPERATIONS_PORT isn't set.")
    work = partial(current_app.extensions[OPERATIONS], port_is_required=True)
    run_service(current_service(), message_writer(output()), work)
    out = output()
    if out.form is Form.JSON:
        out.show_value("ended", True)  # noqa: FBT003 - the value that is shown


def show_holds(say: Say, hold: Hold | None) -> None:
    """Say why nothing that waits is sent, and how to send it."""
    if hold is not None:
        reasons = " ".join(hold.reasons)
        what = "Deliveries, emails and app installations are held."
        say(f"{what} {reasons} See `flask resume`.")


WORKER = "latchkey.worker"
"""Where the application keeps what ``flask worker`` runs."""


@standalone("worker", examples=[("flask worker", "on a machine that doesn't serve requests")])
@with_logged_failures
def worker() -> None:
    """Run only the background worker.

    Sends mail and webhooks and deletes expired data. You can run any number of workers on any
    number of machines; `flask serve` starts one. Stops on SIGTERM and Ctrl-C after finishing
    current work.
    """
    require_ready(*operator())
    show_holds(message_writer(output()), check_installation(*operator()))
    work = partial(current_app.extensions[WORKER], serves_operations=True)
    run_service(current_service(), message_writer(output()), work)
    out = output()
    if out.form is Form.JSON:  # what it does meanwhile, its log tells
        out.show_value("ended", True)  # noqa: FBT003 - the value that is shown
