"""State shared by the processes of a test run: a directory, and locks that end with a process."""

import fcntl
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
ALIVE = "alive"
"""Locked by the first process of a run: a keeper that gets the lock knows that the run is over."""

_keepers: list[subprocess.Popen[str]] = []
"""Held so that a keeper, which outlives this process, is not taken for one that was forgotten."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock ``path``, which is released when the process ends in any way."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def shared_directory() -> Iterator[Path]:
    """The directory of a new run; leaving stops the servers, waits for them and clears it away."""
    directory = Path(tempfile.mkdtemp(prefix="latchkey-tests-"))
    # A server that does not run as root must be able to walk through to its own folder.
    directory.chmod(0o711)
    try:
        with ExitStack() as stack:
            with locked(directory / ALIVE):
                yield directory
                keepers = [
                    stack.enter_context(path.open("a")) for path in directory.glob("*.keeper")
                ]
            for keeper in keepers:
                fcntl.flock(keeper, fcntl.LOCK_EX)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def once(directory: Path, name: str, make: Callable[[], str]) -> str:
    """Return the result of ``make``, called once by the first process of the run."""
    answer = directory / f"{name}.answer"
    with locked(directory / f"{name}.lock"):
        if not answer.exists():
            answer.write_text(make())
        return answer.read_text()


def server_url(directory: Path, name: str) -> str:
    """Where the server ``name`` of this run listens; starts it when nobody has asked before.

    One that did not start isn't tried again: every test that needs it fails for the first reason.
    """
    url = once(directory, name, lambda: _start(directory, name))
    if not url:
        log = (directory / f"{name}.log").read_text()
        raise RuntimeError(f"The {name} server of the tests did not start:\n{log}")
    return url


def _start(directory: Path, name: str) -> str:
    log = directory / f"{name}.log"
    with log.open("a") as errors:
        keeper = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.server_process", str(directory), name],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            # An interrupt from the terminal is for the tests; the keeper goes when they have gone.
            start_new_session=True,
        )
    _keepers.append(keeper)
    if keeper.stdout is None:
        raise AssertionError("The keeper was started with a pipe.")
    with keeper.stdout as answer:
        return answer.readline().strip()
