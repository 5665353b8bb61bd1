"""A platform's database for each test, on the PostgreSQL server of the test run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.imports.platform import PlatformDatabase, platform_database
from tests.servers.run import server_url


@pytest.fixture
def platform(run_directory: Path, worker: str) -> Iterator[PlatformDatabase]:
    """Return an empty database of the platform's shape."""
    server = server_url(run_directory, "postgresql")
    with platform_database(server, f"platform_{worker}") as database:
        yield database
