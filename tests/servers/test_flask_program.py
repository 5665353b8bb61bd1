"""The program ``flask`` of the tests' shells behaves like the installed one."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.flask_program import flask_program
from tests.servers.sandbox import PATIENCE
from tests.spec.server import environment


@pytest.fixture
def flask(tmp_path: Path) -> Iterator[Path]:
    with flask_program(tmp_path) as programs:
        yield programs / "flask"


def _settings(folder: Path) -> dict[str, str]:
    return environment(f"sqlite:///{folder / 'shop.sqlite3'}", PATH="/usr/bin:/bin")


def test_output_and_exit_code_are_those_of_the_command(flask: Path, tmp_path: Path) -> None:
    made = subprocess.run(
        [flask, "db", "upgrade"],
        cwd=tmp_path,
        env=_settings(tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "database" in made.stdout + made.stderr
    refused = subprocess.run(
        [flask, "shop", "set", "nonsense", "1"],
        cwd=tmp_path,
        env=_settings(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "nonsense" in refused.stderr


def test_text_on_standard_input_reaches_the_command(flask: Path, tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    subprocess.run([flask, "db", "upgrade"], cwd=tmp_path, env=settings, check=True)
    made = subprocess.run(
        [flask, "user", "create", "ann@example.com", "--password-stdin"],
        cwd=tmp_path,
        env=settings,
        input="correct horse battery staple",
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr


def test_signal_ends_the_command(flask: Path, tmp_path: Path) -> None:
    settings = _settings(tmp_path)
    subprocess.run([flask, "db", "upgrade"], cwd=tmp_path, env=settings, check=True)
    worker = subprocess.Popen(
        [flask, "worker"], cwd=tmp_path, env=settings, stderr=subprocess.PIPE, text=True
    )
    assert worker.stderr
    assert worker.stderr.readline()  # it has started
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE) == 0
    worker.stderr.close()
