"""Other processes that take time are noticed, those of the measurement aren't."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from benchmarks import neighbours
from benchmarks.neighbours import BusyMachine, Neighbours, own_seconds, undisturbed

SECONDS = 0.4
TICKS = 0.1
"""Seconds by which the kernel's count can be short."""

BUSY = "while True: pass"
TAKES_A_WHILE = f"""\
import time
while time.process_time() < {SECONDS}:
    pass
print(flush=True)
time.sleep(60)
"""
DETACHED = f"""\
import os, sys
if os.fork():
    os._exit(0)
sys.stdout.write(str(os.getpid()))
sys.stdout.flush()
os.close(1)
{BUSY}
"""


@pytest.fixture
def other_process() -> Iterator[None]:
    """A busy process that isn't a descendant of this one."""
    started = subprocess.run([sys.executable, "-c", DETACHED], stdout=subprocess.PIPE, check=True)
    yield
    os.kill(int(started.stdout), 9)


def cores_while(seconds: float) -> float:
    watch = Neighbours()
    time.sleep(seconds)
    return watch.cores()


def test_busy_process_of_others_is_counted(other_process: None) -> None:
    assert cores_while(SECONDS) > neighbours.LIMIT


def test_time_of_own_processes_is_known_while_they_run_and_after_their_end() -> None:
    before = own_seconds()
    child = subprocess.Popen([sys.executable, "-c", TAKES_A_WHILE], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read(1)
    running = own_seconds()
    child.stdout.close()
    child.kill()
    child.wait(180)
    assert running - before >= SECONDS - TICKS
    assert own_seconds() >= running


def test_busy_machine_is_refused_after_three_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    shares = iter([0.5, 0.4, 0.3])
    monkeypatch.setattr(Neighbours, "cores", lambda _: next(shares))
    with pytest.raises(BusyMachine, match=r"took 0\.30 of a core"):
        undisturbed(lambda: made.append(1))
    assert len(made) == 3


def test_disturbed_try_is_made_again_and_busy_machines_can_be_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shares = iter([0.5, 0.1, 0.9])
    monkeypatch.setattr(Neighbours, "cores", lambda _: next(shares))
    results = iter("abc")
    assert undisturbed(lambda: next(results)) == "b"
    assert undisturbed(lambda: next(results), allowed=True) == "c"
