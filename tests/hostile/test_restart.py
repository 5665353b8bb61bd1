"""A restart right after the parent was killed, while its processes still hold the port."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.commands.real_installation import (
    Installation,
    answers,
    end,
    is_alive,
    offspring,
    wait_until,
)
from tests.servers.free_ports import free_port

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel has to help")


SERVE = ("serve", "--workers", "1", "--no-worker", "--port")


@pytest.mark.first
def test_restart_after_a_killed_parent_waits_for_the_port(sqlite_url: str, tmp_path: Path) -> None:
    installed = Installation(tmp_path, {"DATABASE_URL": sqlite_url})
    port = free_port()
    family: dict[int, str] = {}
    killed = installed.start(*SERVE, str(port))
    try:
        wait_until(lambda: answers(port), "it answers")
        family = offspring(killed.pid)
        worker = max(pid for pid, command in family.items() if "latchkey-server" in command)
        # Busy, as with requests that have begun: it keeps the port a while longer.
        os.kill(worker, signal.SIGSTOP)
        killed.kill()
        restarted = installed.start(*SERVE, str(port))
        try:
            wait_until(lambda: "in use" in installed.output, "it waits")
            os.kill(worker, signal.SIGCONT)
            wait_until(lambda: "Ctrl-C" in installed.output.partition("in use")[2], "it is up")
            assert answers(port)
            wait_until(lambda: not any(map(is_alive, family)), "the others have ended")
        finally:
            end(restarted)
    finally:
        end(killed)
        for pid in filter(is_alive, family):
            os.kill(pid, signal.SIGKILL)
    assert f"Port {port} is in use. Waiting up to 10 s for it." in installed.output
    assert "Can't listen" not in installed.output
