"""A platform's empty database for each test, on the PostgreSQL server of the test run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.ports import Ports
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.imports.platform import PlatformDatabase, platform_database
from tests.servers.run import server_url


@pytest.fixture(scope="session")
def _platform(run_directory: Path, worker: str) -> Iterator[PlatformDatabase]:
    server = server_url(run_directory, "postgresql")
    with platform_database(server, f"platform_{worker}") as database:
        yield database


@pytest.fixture
def platform(_platform: PlatformDatabase) -> PlatformDatabase:
    """Return an empty database of the platform's shape, the same for all tests of a worker."""
    _platform.clear()
    return _platform


@pytest.fixture
def target(database_url: str, clock: FakeClock) -> Iterator[Ports]:
    """Return an empty installation to import into, on each database in turn."""
    made = fake_ports(database_url, clock)
    yield made
    made.database.close()
