"""``flask db upgrade`` from several machines at once, interrupted, and on newer tables."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import text

from app.adapters.database import migrations
from app.adapters.database.engines import SQLITE_BEGIN, SchemaRevisions, migration_engine
from app.domain.values.installation import SchemaAhead, UpgradeBlocked
from app.ports.database import UpgradeProgress, UpgradeWait
from tests.adapters.test_migrations import configured
from tests.commands.real_installation import TIMEOUT_SECONDS, at_a_terminal

pytestmark = [pytest.mark.first, pytest.mark.both_databases]

NEWEST = SchemaRevisions("sqlite://").newest()


@contextmanager
def being_upgraded(url: str) -> Iterator[None]:
    """Hold the lock that an upgrade takes."""
    begin = {SQLITE_BEGIN: "BEGIN IMMEDIATE"}
    with (
        migration_engine(url) as engine,
        engine.connect().execution_options(**begin) as connection,
    ):
        lock = migrations.TRY_LOCK if engine.dialect.name == "postgresql" else text("SELECT 1")
        assert connection.scalar(lock)
        yield


def test_two_machines_can_upgrade_an_empty_database_at_once(
    empty_database_url: str, tmp_path: Path
) -> None:
    installation = at_a_terminal(empty_database_url, tmp_path)
    with ExitStack() as stack:
        commands = [
            stack.enter_context(installation.running("db", "upgrade", "--short")) for _ in range(2)
        ]
        ends = [command.finish(TIMEOUT_SECONDS) for command in commands]
    assert [(end.returncode, end.stdout) for end in ends] == [(0, f"{NEWEST}\n")] * 2, ends
    said = sorted(end.stderr.splitlines()[-1] for end in ends)
    assert said == [
        "The database is already up to date.",
        f"The database was empty and is at {NEWEST} now.",
    ]


def test_upgrade_waits_for_another_and_says_so(database_url: str) -> None:
    reported: list[UpgradeProgress] = []
    with being_upgraded(database_url), pytest.raises(UpgradeBlocked, match="Another process"):
        migrations.upgrade(database_url, reported.append, wait_seconds=0.1)
    assert reported == [UpgradeWait(0.1)]
    assert migrations.upgrade(database_url, wait_seconds=0.1) == 0, "the other has ended"


def test_database_of_a_newer_version_is_left_alone(database_url: str, tmp_path: Path) -> None:
    with migration_engine(database_url) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999_later'"))
    with pytest.raises(SchemaAhead):
        migrations.upgrade(database_url)
    installation = at_a_terminal(database_url, tmp_path)
    for arguments in (["db", "upgrade"], ["serve"], ["worker"], ["doctor"]):
        end = installation.run(*arguments)
        assert end.returncode == 1
        said = end.stdout + end.stderr
        assert "belongs to a newer version: it is at 9999_later" in said
        assert "restore a backup" in said
    assert SchemaRevisions(database_url).current() == "9999_later"


def test_upgrade_reports_each_step(sqlite_url: str, tmp_path: Path) -> None:
    with migration_engine(sqlite_url) as engine, engine.begin() as connection:
        command.downgrade(configured(connection), "0075_backup_times")
    end = at_a_terminal(sqlite_url, tmp_path).run("db", "upgrade")
    first = "] 0076_pairwise_subjects: Clients that know people by subjects of their own"
    assert end.returncode == 0
    assert end.stderr.splitlines()[0].endswith(first)
    assert end.stderr.splitlines()[-1].startswith("The database was at 0075_backup_times")
