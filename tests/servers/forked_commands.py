"""``flask`` commands as processes that are forked from one that has imported the application.

Importing takes 2 s of processor time, running most commands a thirtieth. A forked command
has a process ID, an environment, a folder, files and an exit code of its own, like a started one.
Its signing keys are shorter than an installation's, and its password hashes take less memory.

``python -m tests.servers.forked_commands FD FOLDER`` is the process that forks, one per test
process. What is compiled of templates is kept in ``FOLDER``.
"""

import atexit
import contextlib
import gc
import logging
import marshal
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import TextIO

import structlog

import cli
from app.adapters.keys import passwords, signing_keys
from app.composition.factory import create_app
from app.composition.settings import Settings
from tests.servers.cheap_hashes import KIBIBYTES, keep_priority
from tests.servers.compiled import keep_routes, keep_templates, templates_folder
from tests.servers.run import ROOT

_FLASK = "flask"
_MAX_REQUEST = 64 * 1024
_FILES = 4
"""Standard input, output and error of a command, and a pipe for its process ID and exit code."""


class ForkedCommand:
    """A running ``flask ARGUMENTS``, or another module of Python."""

    def __init__(
        self,
        arguments: tuple[str, ...],
        folder: Path,
        environment: dict[str, str],
        files: tuple[int, int, int],
        module: str = _FLASK,
    ) -> None:
        reports, report = os.pipe()
        request = marshal.dumps((module, arguments, str(folder), environment, _umask()))
        try:
            send_request(request, [*files, report])
        finally:
            os.close(report)
        self._pipe = os.fdopen(reports)
        self.pid = int(self._pipe.readline())
        self.returncode: int | None = None

    def send_signal(self, number: int) -> None:
        if not self._has_ended(0):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def poll(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self.wait(180) if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; raises ``TimeoutError`` after ``timeout`` seconds."""
        if not self._has_ended(timeout):
            raise TimeoutError(f"process {self.pid} is still running")
        if self.returncode is None:
            with self._pipe:
                self.returncode = int(self._pipe.readline())
        return self.returncode

    def kill(self) -> None:
        """End it, if it still runs."""
        self.send_signal(signal.SIGKILL)
        self.wait(180)

    def _has_ended(self, timeout: float | None) -> bool:
        return self.returncode is not None or bool(select.select([self._pipe], [], [], timeout)[0])


@dataclass(frozen=True, slots=True)
class Running:
    """A command without a terminal, and the files that it writes into."""

    command: ForkedCommand
    out: TextIO
    err: TextIO

    def finish(self, timeout: float) -> subprocess.CompletedProcess[str]:
        """Wait for its end; raises ``TimeoutError``."""
        code = self.command.wait(timeout)
        for file in (self.out, self.err):
            file.seek(0)
        return subprocess.CompletedProcess((), code, self.out.read(), self.err.read())


def send_request(request: bytes, files: list[int]) -> None:
    """Have a command forked; ``files`` are the three of every process and where it reports to."""
    socket.send_fds(_forking_process(), [request], files)


def receive_request(connection: socket.socket) -> tuple[bytes, list[int]]:
    """Return the next request and its files; an empty one at the end."""
    request, files, _, _ = socket.recv_fds(connection, _MAX_REQUEST, _FILES)
    return request, files


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def start_command(
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    log: Path,
    module: str = _FLASK,
) -> ForkedCommand:
    """``python -m MODULE ARGUMENTS``, left running; its output is appended to ``log``."""
    with log.open("ab") as output, Path(os.devnull).open() as no:
        files = (no.fileno(), output.fileno(), output.fileno())
        return ForkedCommand(arguments, folder, environment, files, module)


@contextmanager
def running_command(
    arguments: tuple[str, ...],
    folder: Path,
    environment: dict[str, str],
    into: int | None = None,
    module: str = _FLASK,
) -> Iterator[Running]:
    """``python -m MODULE ARGUMENTS``, killed after the block; its output goes ``into`` a file."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err, Path(os.devnull).open() as no:
        files = (no.fileno(), out.fileno() if into is None else into, err.fileno())
        command = ForkedCommand(arguments, folder, environment, files, module)
        try:
            yield Running(command, out, err)
        finally:
            command.kill()


@cache
def _forking_process() -> socket.socket:
    folder = templates_folder()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.forked_commands", str(theirs.fileno()), folder],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # so that no command asks on the terminal of the tests
        )

    def end() -> None:
        ours.close()
        process.wait(180)

    atexit.register(end)
    return ours


def _serve(requests: socket.socket) -> None:
    """Fork a command for each request until the other end is closed; report the end of each.

    No process of its own waits for each command: to fork and end one takes 10 ms.
    """
    ended, ends = socket.socketpair()
    ends.settimeout(0)  # a full buffer wakes it too
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(ends.fileno(), warn_on_full_buffer=False)
    reports: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([requests, ended], [], [])
        if ended in ready:
            ended.recv(_MAX_REQUEST)
            _report_ends(reports)
        if requests not in ready:
            continue
        request, files = receive_request(requests)
        if not request:
            return
        *standard, report = files
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (requests, ended, ends):
                end.close()
            for other in (report, *reports.values()):
                os.close(other)
            _run(request, standard)
            return
        for file in standard:
            os.close(file)
        os.write(report, f"{pid}\n".encode())
        reports[pid] = report


def _report_ends(reports: dict[int, int]) -> None:
    """Write the exit codes of the processes that have ended to where each reports to."""
    for pid in list(reports):
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            report = reports.pop(pid)
            with contextlib.suppress(BrokenPipeError):  # if no test waits for it any more
                os.write(report, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os.close(report)


def _run(request: bytes, standard: list[int]) -> None:
    """Become ``python -m MODULE ARGUMENTS``."""
    module, arguments, folder, environment, umask = marshal.loads(request)  # noqa: S302 - from the tests
    os.umask(umask)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    # As the interpreter opens them when it starts.
    errors = sys.stdout.errors
    sys.stdin = open(0, errors=errors, closefd=False)  # noqa: SIM115 - for the process
    sys.stdout = open(1, "w", errors=errors, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.environ.clear()  # noqa: TID251 - the new process has its own
    # A developer's .env must not affect the tests.
    os.environ.update({"FLASK_SKIP_DOTENV": "1", **environment})  # noqa: TID251
    os.chdir(folder)
    flask_app = ["--app", str(ROOT / "wsgi.py")] if module == _FLASK else []
    sys.argv = [module, *flask_app, *arguments]
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        _exit_quickly(end.code or 0)
        raise
    _exit_quickly(0)


def _exit_quickly(code: int) -> None:
    """Exit as the interpreter does, but without clearing away modules, which takes 0.1 s.

    Returns if output can't be written, which the interpreter has its own answer to.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code & 0xFF)


def _prepare() -> None:
    """Import whatever commands need, and what they import when it is first used."""
    for name in ("app.composition.factory", "app.composition.operations", *cli.COMMANDS.values()):
        import_module(name.partition(":")[0])
    for name in ("app.composition.wiring", "app.adapters.database.schema"):
        for value in vars(import_module(name)).values():
            if isinstance(value, ModuleType):
                dir(value)
    metadata.entry_points = cache(metadata.entry_points)  # type: ignore[assignment]
    for plugin in metadata.entry_points(group="flask.commands"):
        plugin.load()
    passwords._lower_priority = keep_priority  # noqa: SLF001
    signing_keys._BITS = 2048  # noqa: SLF001 - as in tests/fakes/keys.py
    passwords.KIBIBYTES = KIBIBYTES  # type: ignore[attr-defined]


def _compile_routes() -> None:
    """Have the routes of an application compiled before it is forked."""
    keep_routes()
    create_app(settings=Settings())
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)
    structlog.reset_defaults()


if __name__ == "__main__":
    gc.disable()
    _prepare()
    _compile_routes()
    keep_templates(Path(sys.argv[2]))
    gc.freeze()  # or each command would look through what it shares with this process
    gc.enable()
    _serve(socket.socket(fileno=int(sys.argv[1])))
