"""Whoever closes a pipe has seen enough: that is no failure, and changes no exit code."""

import os
from pathlib import Path

import pytest

from app.domain.events import EventType
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.webhooks import make_delivery, make_webhook
from tests.commands.real_installation import Installation, at_a_terminal
from tests.fixtures.cases import cases

pytestmark = pytest.mark.first


@pytest.fixture
def installed(ports: Ports, sqlite_url: str, tmp_path: Path) -> Installation:
    app, _ = make_app(ports, "Warehouse")
    make_delivery(ports, make_webhook(ports, app, EventType.PRODUCT_UPDATED))
    return at_a_terminal(sqlite_url, tmp_path)


@cases(
    ("line", "code"),
    [
        ("webhook deliveries", 0),
        ("webhook deliveries --short", 0),
        ("webhook show hook --json", 0),
        ("webhook show hook", 0),
        ("app create Mailer", 0),
        ("webhook deliveries --follow --since 2000-01-01", 0),
        ("webhook -h", 0),
        ("webhook list --help", 0),
        ("webhook list --version", 0),
        ("webhook show nothing --json", 3),
        ("webhook dry-run --query nonsense --json", 3),
        ("webhook list --nonsense --json", 2),
    ],
)
def test_closed_pipe_keeps_the_exit_code(installed: Installation, line: str, code: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = installed.run(*line.split(), into=writing)
    finally:
        os.close(writing)
    assert done.returncode == code
    assert "Broken pipe" not in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_pipe_does_not_undo_the_change(installed: Installation) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        installed.run("webhook", "edit", "hook", "--name", "renamed", into=writing)
    finally:
        os.close(writing)
    assert installed.run("webhook", "list", "--short").stdout.split("\t")[1] == "renamed"
