"""One server a run, whoever asks first; it goes with the run, in whatever way that ends."""

import fcntl
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.servers.run import ROOT, once, server_url, shared_directory

RUN_THAT_HANGS = """
from tests.servers.run import server_url, shared_directory
import sys
with shared_directory() as directory:
    print(directory, server_url(directory, "valkey"), flush=True)
    sys.stdin.read()
"""


def test_first_result_is_shared(tmp_path: Path) -> None:
    answers = iter(["first", "second"])
    assert once(tmp_path, "question", lambda: next(answers)) == "first"
    assert once(tmp_path, "question", lambda: next(answers)) == "first"


def test_server_is_started_once_and_stopped_after_the_run() -> None:
    with shared_directory() as directory:
        url = server_url(directory, "postgresql")
        assert server_url(directory, "postgresql") == url
        connection = psycopg.connect(url, autocommit=True)
    assert not directory.exists()
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()


def test_killed_run_leaves_no_server() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUN_THAT_HANGS],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        directory, _url = process.stdout.readline().split()
        with (Path(directory) / "valkey.keeper").open() as keeper:
            process.send_signal(signal.SIGKILL)
            process.wait(180)
            fcntl.flock(keeper, fcntl.LOCK_EX)
    assert not Path(directory).exists()


def test_failed_server_start_is_reported_with_its_reason() -> None:
    with shared_directory() as directory:
        (directory / "postgresql").mkdir()
        for _ in range(2):
            with pytest.raises(RuntimeError, match="FileExistsError") as failed:
                server_url(directory, "postgresql")
            assert str(failed.value).count("FileExistsError") == 1, "it was started once"
