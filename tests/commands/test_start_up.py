"""How much longer a command takes than ``flask`` itself, and what it leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from app.ports import Ports
from tests.builders.people import make_user
from tests.commands.real_installation import ROOT, Installation

pytestmark = pytest.mark.first

RUNS = 5
MAX_RATIO = 5.5
"""Times the processor time of ``flask --help`` for an empty application.

SQLAlchemy, the records and the use cases make it 4; the GraphQL schema alone would add 3. Both are
measured in pairs, for processor time grows with the load of the machine, too.
"""


@pytest.fixture
def installed(sqlite_url: str, tmp_path: Path) -> Installation:
    return Installation(tmp_path, {"DATABASE_URL": sqlite_url, "PYTHONPATH": str(ROOT)})


def processor_seconds(installed: Installation, *arguments: str) -> float:
    """What ``flask ARGUMENTS`` takes; fails unless it is done."""
    process = subprocess.Popen(
        [sys.executable, "-m", "flask", *arguments],
        cwd=installed.folder,
        env=installed.environment,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_list_of_webhooks_starts_quickly(ports: Ports, installed: Installation) -> None:
    make_user(ports, "ann@example.com")
    empty = installed.folder / "empty.py"
    empty.write_text("from flask import Flask\n\napp = Flask('empty')\n")
    wsgi = str(ROOT / "wsgi.py")
    ratios = (
        processor_seconds(installed, "--app", wsgi, "webhook", "list")
        / processor_seconds(installed, "--app", str(empty), "--help")
        for _ in range(RUNS)
    )
    assert any(ratio < MAX_RATIO for ratio in ratios)


def test_help_lists_own_commands_in_sections_before_those_of_flask(
    installed: Installation,
) -> None:
    shown = installed.run("--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    titles = [line for line in shown.stdout.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles == [
        *(f"{title}:" for title in cli.SECTIONS),
        "Flask:",
        "Options:",
        "Exit codes:",
    ]
    lines = {line.split()[0]: line for line in shown.stdout.splitlines() if line.strip()}
    for summaries in cli.SECTIONS.values():
        for name, summary in summaries.items():
            assert lines[name].endswith(f" {summary}")
    flask = shown.stdout.partition("Flask:\n")[2]
    assert [line.split()[0] for line in flask.splitlines()[:4]] == [
        *("limiter", "routes", "run", "shell")
    ]


def test_flask_alone_prints_its_help_as_a_usage_error(installed: Installation) -> None:
    installed.environment["FLASK_APP"] = str(ROOT / "wsgi.py")
    shown = installed.run_python("-m", "flask")
    assert (shown.returncode, shown.stdout) == (2, "")
    assert "Serve and operate:" in shown.stderr


def test_database_is_closed_when_a_command_has_ended(installed: Installation) -> None:
    created = installed.run("group", "create", "Support")
    assert created.returncode == 0, created.stderr
    # Otherwise a copy of the file misses what SQLite keeps in the files next to it.
    assert list(installed.folder.glob("*.sqlite3-*")) == []
