"""The ``flask`` command as an operator runs it: real processes on a real installation."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from tests.fakes.keys import SECRET
from tests.servers.forked_commands import ForkedCommand, Running, running_command, start_command

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 300.0
"""Seconds that something may take on a busy machine before it counts as not happening."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation: a folder to run commands in, without a ``.env``, and its environment."""

    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str, into: int | None = None) -> subprocess.CompletedProcess[str]:
        """``flask ARGUMENTS``, to its end; standard output goes ``into`` that file, if given."""
        with self.running(*arguments, into=into) as running:
            return running.finish(TIMEOUT_SECONDS)

    def running(self, *arguments: str, into: int | None = None) -> AbstractContextManager[Running]:
        """``flask ARGUMENTS`` without a terminal; ended at the end of the block."""
        return running_command(arguments, self.folder, self.environment, into)

    def run_python(self, *arguments: str, entered: str = "") -> subprocess.CompletedProcess[str]:
        """``python ARGUMENTS``, to its end, with ``entered`` as standard input."""
        return subprocess.run(
            [sys.executable, *arguments],
            input=entered,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )

    def start(self, *arguments: str) -> ForkedCommand:
        """``flask ARGUMENTS``, left running; what it says goes to ``output``."""
        return start_command(arguments, self.folder, self.environment, self.folder / "output")

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text()


def at_a_terminal(database_url: str, folder: Path, **more: str) -> Installation:
    """One that somebody sits before, who has nothing of their own at home."""
    environment = {
        "DATABASE_URL": database_url,
        "SECRET_KEY": SECRET,
        "TERM": "xterm-256color",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT),
    }
    return Installation(folder, environment | more)


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Return as soon as ``happened``; fail the test when it takes too long."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain until {what}"
        time.sleep(0.05)


def answers(port: int) -> bool:
    """Whether the shop answers a question on that port."""
    connection = HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        body = '{"query": "{ shop { name } }"}'
        connection.request("POST", "/graphql/", body, {"Content-Type": "application/json"})
        return connection.getresponse().read() == b'{"data":{"shop":{"name":"Latchkey shop"}}}'
    except OSError:
        return False
    finally:
        connection.close()


def offspring(pid: int) -> dict[int, str]:
    """The names and command lines of all processes below ``pid``, by their ids."""
    columns = "pid=,ppid=,stat=,comm=,args="
    rows = [line.split(None, 3) for line in _ps("-A", "-o", columns).splitlines()]
    found: dict[int, str] = {}
    parents = {pid}
    while parents:
        children = {
            int(own): command
            for own, parent, state, command in rows
            if int(parent) in parents and not state.startswith("Z")
        }
        found |= children
        parents = set(children)
    return found


def is_alive(pid: int) -> bool:
    """Whether it runs; one that has ended and waits for its parent does not."""
    state = _ps("-o", "stat=", "-p", str(pid))
    return bool(state) and not state.startswith("Z")


def end(process: ForkedCommand) -> None:
    """Leave nothing running, whatever became of the test."""
    below = offspring(process.pid)
    process.kill()
    for pid in below:
        if is_alive(pid):
            os.kill(pid, signal.SIGKILL)


def _ps(*arguments: str) -> str:
    program = shutil.which("ps")
    assert program, "ps is not installed"
    # It ends with 1 when there is no such process.
    return subprocess.run(
        [program, "-ww", *arguments], check=False, capture_output=True, text=True
    ).stdout
