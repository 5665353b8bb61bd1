"""An import that is killed goes on where it was, and ends as if it hadn't been."""

import signal
from pathlib import Path

import pytest
from sqlalchemy import func, select

from app import models
from app.models.record import Record
from app.ports import Ports
from tests.commands.real_installation import Installation, at_a_terminal
from tests.imports.importing import import_platform
from tests.imports.platform import PlatformDatabase

_PEOPLE = 300
_KILLS = (1, 60, 150)
"""How many people are here, at least, when the import is killed."""

_RECORDS = (models.User, models.UserWord, models.GroupMember, models.ImportedPassword)


@pytest.fixture
def installation(database_url: str, tmp_path: Path) -> Installation:
    return at_a_terminal(database_url, tmp_path)


def _fill(platform: PlatformDatabase) -> None:
    platform.add("account_group", id=5, name="Support")
    platform.add_many(
        "account_user",
        [
            {
                "id": key,
                "email": f"person{key}@example.com",
                "first_name": f"First{key}",
                "is_staff": key % 3 == 0,
                "is_active": True,
            }
            for key in range(1, _PEOPLE + 1)
        ],
    )
    platform.add_many(
        "account_user_groups",
        [{"id": key, "user_id": key, "group_id": 5} for key in range(3, _PEOPLE + 1, 3)],
    )


def _counts(target: Ports, *records: type[Record]) -> tuple[int, ...]:
    """How many of each there are, all at the same moment."""
    counts = [select(func.count()).select_from(record).scalar_subquery() for record in records]
    with target.database.reading() as session:
        return tuple(session.execute(select(*counts)).one())


@pytest.mark.first
def test_killed_import_is_completed_by_the_next_run(
    target: Ports, platform: PlatformDatabase, installation: Installation
) -> None:
    _fill(platform)
    command = ("import", "platform", "--database", platform.url, "--batch", "5")
    for here in _KILLS:
        process = installation.start(*command)
        try:
            while _counts(target, models.User) < (here,):
                assert process.poll() is None, installation.output
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(180)
        # The database may still be ending the last batch; what was written of it is whole.
        found, passwords = _counts(target, models.User, models.ImportedPassword)
        assert here <= found < _PEOPLE
        assert passwords == found

    report = import_platform(target, platform)

    assert report.findings == []
    assert report.counts("user")["read"] == _PEOPLE
    assert _counts(target, *_RECORDS) == (_PEOPLE, 3 * _PEOPLE, _PEOPLE // 3, _PEOPLE)
    assert import_platform(target, platform).counts("user") == {
        "read": _PEOPLE,
        "unchanged": _PEOPLE,
    }
