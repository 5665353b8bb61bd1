"""How quickly a command answers, told by what it loads: that does not depend on the machine."""

from pathlib import Path

import pytest

import cli
from app.ports import Ports
from tests.builders.people import make_user
from tests.commands.real_installation import ROOT, Installation

HEAVY = ("sqlalchemy", "jwt", "structlog", "graphql", "alembic", "requests")
"""Each takes between a fiftieth and a third of a second."""


@pytest.fixture
def installed(sqlite_url: str, tmp_path: Path) -> Installation:
    return Installation(tmp_path, {"DATABASE_URL": sqlite_url, "PYTHONPATH": str(ROOT)})


UNASKED = (
    "sqlalchemy.dialects.postgresql",
    "cryptography",
    "app.models.orders",
    "app.domain.events.orders",
    "app.commands.webhooks.bulk_update",
    "app.web.remote_instances",
    "app.ports.http",
)
"""What a list of webhooks on SQLite has no use for; together a fourth of its time."""


_TELLING = """
import runpy, sys
sys.argv[0] = "flask"
try:
    runpy.run_module("flask", run_name="__main__")
finally:
    # One that waits to be used is there already, by another type.
    there = [name for name, one in sys.modules.items() if type(one).__name__ != "_LazyModule"]
    print(*there, file=sys.stderr)
"""


def loaded(installed: Installation, *arguments: str, among: tuple[str, ...] = HEAVY) -> set[str]:
    """Which modules ``among`` these ``flask ARGUMENTS`` loads; fails unless it is done."""
    wsgi = str(ROOT / "wsgi.py")
    done = installed.run_python("-c", _TELLING, "--app", wsgi, *arguments)
    assert done.returncode == 0, done.stderr
    names = set(done.stderr.split())
    assert "click" in names
    return names.intersection(among)


def test_no_command_s_declaration_loads_what_only_its_work_needs(installed: Installation) -> None:
    program = (
        "import sys, cli\n"
        "for name, (module, summary) in cli.COMMANDS.items():\n"
        "    cli.Late(name, module, summary).loaded()\n"
        f"    print(name, *[one for one in {HEAVY!r} if one in sys.modules])\n"
    )
    shown = installed.run_python("-c", program)
    assert shown.stderr == ""
    told = [line.split() for line in shown.stdout.splitlines()]
    assert told == [[name] for name in cli.COMMANDS], "write `from app.services import users`"


@pytest.mark.parametrize("arguments", [("user", "--help"), ("app", "list", "-h")])
def test_help_waits_for_no_heavy_library(
    installed: Installation, arguments: tuple[str, ...]
) -> None:
    assert loaded(installed, *arguments) == set()


@pytest.mark.parametrize("group", ["user", "app", "webhook"])
def test_a_list_waits_for_the_database_s_library_and_no_other(
    ports: Ports, installed: Installation, group: str
) -> None:
    make_user(ports, "ann@example.com")
    assert loaded(installed, group, "list") == {"sqlalchemy"}


def test_a_list_loads_no_record_event_or_database_that_it_does_not_read(
    ports: Ports, installed: Installation
) -> None:
    make_user(ports, "ann@example.com")
    read = "app.models.webhooks"
    assert loaded(installed, "webhook", "list", among=(read, *UNASKED)) == {read}


def test_the_database_is_closed_when_a_command_has_ended(installed: Installation) -> None:
    made = installed.run("group", "create", "Support")
    assert made.returncode == 0, made.stderr
    # Else whoever copies the file misses what SQLite keeps beside it.
    assert list(installed.folder.glob("*.sqlite3-*")) == []
