"""A process ends with the one that started it, however that one ended."""

import os
import signal
import subprocess
import sys

import pytest

from tests.servers.run import ROOT

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="no other system signals the end of a parent"
)


def ends(parent: int) -> int:
    code = f"from app.web.parent_process import end_with_parent; end_with_parent({parent})"
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode


def test_process_whose_parent_ended_before_it_asked_ends() -> None:
    assert ends(os.getppid()) == -signal.SIGTERM


def test_process_runs_while_its_parent_lives() -> None:
    assert ends(os.getpid()) == 0
