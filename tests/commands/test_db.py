"""``flask db``."""

import json
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from typing_extensions import override

from app.adapters.database.schema import AlembicSchema
from app.commands.terminal.progress import ProgressLines
from app.ports import Ports
from app.ports.database import Report, UpgradeRows, ignore_progress
from tests.commands.shell import run, run_json


@pytest.mark.first
def test_upgrading_makes_the_tables_and_may_be_repeated(
    ports: Ports, empty_database_url: str
) -> None:
    bare = replace(ports, schema=AlembicSchema(empty_database_url))
    behind = run(bare, "db", "current", "--json")
    assert (behind.exit_code, json.loads(behind.stdout)["upToDate"]) == (1, False)
    assert "Run `flask db upgrade`." in behind.stderr
    first = run(bare, "db", "upgrade", "--json")
    assert first.exit_code == 0
    newest = json.loads(first.stdout)["newest"]
    assert f"The database was empty and is at {newest} now." in first.stderr
    again = run(bare, "db", "upgrade", "--short")
    assert (again.exit_code, again.stdout) == (0, f"{newest}\n")
    assert "is already up to date" in again.stderr
    assert run_json(bare, "db", "current") == {
        "current": newest,
        "newest": newest,
        "upToDate": True,
    }


def test_change_of_a_large_table_shows_its_rate_and_the_time_left(
    ports: Ports, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([6.0, 12.0, 20.0])
    monkeypatch.setattr(
        "app.commands.terminal.progress.time", SimpleNamespace(monotonic=lambda: next(seconds))
    )
    lines_of = partial(ProgressLines, start=0.0, shown=0.0)
    monkeypatch.setattr("app.commands.db.ProgressLines", lines_of)

    class Reporting(AlembicSchema):
        @override
        def upgrade(self, report: Report = ignore_progress) -> int:
            for done in (6_000, 12_000, 20_000):
                report(UpgradeRows("users", done, 20_000))
            return 1

    shown = run(replace(ports, schema=Reporting(sqlite_url)), "db", "upgrade").stderr
    lines = [line for line in shown.splitlines() if "users" in line]
    assert len(lines) == 2  # what is finished has none
    assert re.fullmatch(r" +users: 6,000 of 20,000 \(1,000 per second, 14 s left\)", lines[0])
    assert re.fullmatch(r" +users: 12,000 of 20,000 \(1,000 per second, 8 s left\)", lines[1])


def test_database_that_does_not_answer_ends_with_5(ports: Ports) -> None:
    lost = replace(ports, schema=AlembicSchema("postgresql://nobody@127.0.0.1:1/nowhere"))
    for verb in ("current", "upgrade"):
        failed = run(lost, "db", verb)
        assert failed.exit_code == 5
        assert "The database cannot be reached" in failed.stderr


def test_revision_is_numbered_after_the_newest_and_named(ports: Ports) -> None:
    written: list[tuple[str, str]] = []

    class Noting(AlembicSchema):
        @override
        def revise(self, message: str, name: str) -> None:
            written.append((message, name))

        @override
        def newest(self) -> str | None:
            return "0041_carts"

    noting = replace(ports, schema=Noting("sqlite://"))
    shown = run(noting, "db", "revision", "Cart lines", "Carts have lines.")
    assert shown.exit_code == 0
    assert written == [("Carts have lines", "0042_cart_lines")]
    assert shown.stdout == "migrations/versions/0042_cart_lines.py\n"
