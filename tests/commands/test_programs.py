"""Programs that are forked: what they begin with, and that a signal always ends them."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.first

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 300
_SCRIPT = """
import os, signal, sys, time
from contextvars import ContextVar
from functools import partial
from app.commands.processes import (
    Program, Service, run_programs, run_service, run_until_stopped
)
from app.web.parent_process import ServiceManager

said = []
of_the_command = ContextVar("of_the_command", default="not set")
of_the_command.set("set")
begun, begin = os.pipe()


def show():
    name = open("/proc/self/comm").read().strip() if sys.platform == "linux" else "latchkey-one"
    is_plain = all(
        signal.getsignal(number) is signal.SIG_DFL for number in (signal.SIGTERM, signal.SIGINT)
    )
    print(name, of_the_command.get(), is_plain, os.getsid(0) == os.getpid(), flush=True)
    os.write(begin, b".")
    time.sleep(60)
"""
_BEGINNING = """
def stop_once_begun():
    os.read(begun, 1)
    os.kill(os.getpid(), signal.SIGTERM)


programs = [Program("one", show)]
service = Service(ServiceManager(), lambda: None)
print("ended", run_programs(programs, said.append, stop_once_begun, service=service))
print(said)
"""
_EARLY_SIGNAL = """
signal.signal(signal.SIGTERM, lambda *_: None)
for _ in range(30):
    program = Program("one", partial(time.sleep, 60))
    program.supervise(said.append)
    program.ask_to_end()
    if not program.wait_for_end(20):
        program.kill()
        sys.exit("it went on")
print("all ended")
"""
_STOPPED = """
def work(stop):
    os.write(begin, b".")
    print("stopped", stop.wait(60), flush=True)


program = Program("one", partial(run_until_stopped, work))
program.supervise(said.append)
os.read(begun, 1)
program.ask_to_end()
print(program.wait_for_end(20))
program.supervise(said.append)
print(said)
"""
_STOPPED_IN_EVENT = """
def work(stop):
    with stop._cond:  # as within Event.wait
        os.kill(os.getpid(), signal.SIGTERM)
    print("stopped", stop.wait(60), flush=True)


program = Program("one", partial(run_until_stopped, work))
program.supervise(said.append)
print(program.wait_for_end(20))
program.kill()
"""
_RELOADED_AND_STOPPED = """
def work(stop, each_tick):
    for number in received:
        os.kill(os.getpid(), number)
    print(len(received), stop.wait(60), flush=True)


os.execv = lambda *_: print("begun anew")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
stopped, reloaded = signal.SIGTERM, signal.SIGHUP
for received in ([reloaded], [reloaded, stopped], [stopped, reloaded]):
    signal.signal(reloaded, signal.SIG_DFL)
    run_service(Service(ServiceManager(), lambda: None), said.append, work)
"""
_REFUSED_WITHIN_A_LOCK = """
import click
from threading import Event, Lock
from app.commands.terminal.output import as_called
from app.domain.values.installation import Misconfigured

lock, answered = Lock(), Event()


def check():
    print("waits in vain" if not lock.acquire(timeout=20) else "goes on")
    raise Misconfigured(("See `flask keys`.",))


def say(message):
    said.append(as_called(message))
    answered.set()


def work(stop, each_tick):
    with lock:  # as within a line of the log
        os.kill(os.getpid(), signal.SIGHUP)
    print(answered.wait(60))
    os.kill(os.getpid(), signal.SIGTERM)
    print(stop.wait(60))


os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
with click.Context(click.Command("latchkey"), info_name="latchkey"):
    run_service(Service(ServiceManager(), check), say, work)
print("See `latchkey keys`." in said[0])
"""
_FAILED_RELOAD = """
def check():
    raise FileNotFoundError("the folder is gone")


def work(stop, each_tick):
    os.kill(os.getpid(), signal.SIGHUP)
    print(stop.wait(60))


os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
try:
    run_service(Service(ServiceManager(), check), said.append, work)
except FileNotFoundError as error:
    print(error)
"""
_FOLDER_GONE = """
import tempfile


def reload_and_stop():
    os.kill(os.getpid(), signal.SIGTERM if said else signal.SIGHUP)


folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
service = Service(ServiceManager(), os.getcwd)
programs = [Program("one", partial(time.sleep, 60))]
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
print("ended", run_programs(programs, said.append, reload_and_stop, service=service))
print(said[0])
"""
_REFUSED = """
from app.domain.values.installation import Misconfigured


def check():
    raise Misconfigured(("LOG_LEVEL is wrong.", "PORT is wrong."))


print(Service(ServiceManager(), check).can_reload(said.append), *said)
"""
_FALLEN = """
from app.commands import processes

# Nothing but a signal has it look again.
processes._next_signals = lambda signals, _seconds: {signals.get(timeout=60)}


def stop_once_fallen():
    if said:
        os.kill(os.getpid(), signal.SIGTERM)


service = Service(ServiceManager(), lambda: None)
programs = [Program("one", lambda: None)]
print("ended", run_programs(programs, said.append, stop_once_fallen, service=service))
print(said)
"""
_SEVERAL_SIGNALS = """
reloads, ticks = [], []


def check():
    reloads.append(len(ticks))
    if len(reloads) == 1:
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
            os.kill(os.getpid(), number)


def reload_twice():
    ticks.append(None)
    if len(ticks) == 1:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGHUP)


programs = [Program("one", partial(time.sleep, 60))]
service = Service(ServiceManager(), check)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
print("ended", run_programs(programs, said.append, reload_twice, service=service))
print(reloads, said)
"""


_EACH_IN_A_FORK = """
for script in sys.argv[1:]:
    pid = os.fork()
    if not pid:
        exec(script)
        sys.stdout.flush()
        os._exit(0)
    print(os.waitpid(pid, 0)[1], end=chr(0), flush=True)
"""


@pytest.fixture(scope="module")
def printed() -> dict[str, str]:
    """What each script prints in a process without the threads of the tests."""
    scripts = (
        *(_BEGINNING, _EARLY_SIGNAL, _STOPPED, _STOPPED_IN_EVENT, _FALLEN),
        *(_RELOADED_AND_STOPPED, _SEVERAL_SIGNALS, _REFUSED_WITHIN_A_LOCK, _FAILED_RELOAD),
        *(_FOLDER_GONE, _REFUSED),
    )
    ended = subprocess.run(
        [sys.executable, "-c", _SCRIPT + _EACH_IN_A_FORK, *scripts],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return dict(zip(scripts, ended.stdout.split("\0"), strict=False))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the name")
def test_program_begins_without_handlers_and_context_of_the_command(
    printed: dict[str, str],
) -> None:
    assert printed[_BEGINNING] == "latchkey-one not set True True\nended True\n[]\n0"


def test_signal_right_after_the_start_ends_a_program(printed: dict[str, str]) -> None:
    assert printed[_EARLY_SIGNAL] == "all ended\n0"


def test_work_ends_at_the_signal_and_reports_success(printed: dict[str, str]) -> None:
    assert printed[_STOPPED] == "stopped True\nTrue\n['The one ended with 0.']\n0"


def test_signal_stops_a_program_that_is_about_to_wait(printed: dict[str, str]) -> None:
    assert printed[_STOPPED_IN_EVENT] == "stopped True\nTrue\n0"


def test_service_that_is_told_to_stop_does_not_begin_anew(printed: dict[str, str]) -> None:
    assert printed[_RELOADED_AND_STOPPED] == "1 True\nbegun anew\n2 True\n2 True\n0"


def test_reload_waits_for_no_lock_of_the_work_and_names_the_command_that_was_called(
    printed: dict[str, str],
) -> None:
    assert printed[_REFUSED_WITHIN_A_LOCK] == "goes on\nTrue\nTrue\nTrue\n0"


def test_reload_that_fails_unexpectedly_ends_the_service_with_its_error(
    printed: dict[str, str],
) -> None:
    assert printed[_FAILED_RELOAD] == "True\nthe folder is gone\n0"


def test_programs_go_on_when_the_settings_cannot_be_read_anew(printed: dict[str, str]) -> None:
    assert printed[_FOLDER_GONE] == (
        "ended True\nNot reloaded, because the settings can't be read: "
        "[Errno 2] No such file or directory\n0"
    )


def test_refused_reload_says_once_that_the_settings_cannot_be_used(
    printed: dict[str, str],
) -> None:
    assert printed[_REFUSED] == (
        "False Not reloaded, because the settings can't be used:\n"
        "  - LOG_LEVEL is wrong.\n  - PORT is wrong.\n0"
    )


def test_fall_of_a_program_is_noticed_at_once(printed: dict[str, str]) -> None:
    assert printed[_FALLEN] == "ended True\n['The one ended with 0.']\n0"


def test_several_reloads_are_one_and_a_stop_waits_for_none(printed: dict[str, str]) -> None:
    assert printed[_SEVERAL_SIGNALS] == "ended True\n[1] []\n0"
