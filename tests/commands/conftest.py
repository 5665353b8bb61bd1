"""What the tests of commands start from: SQLite will do, for a command asks use cases alone."""

from collections.abc import Iterator

import pytest

from app.ports import Ports
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Iterator[Ports]:
    made = fake_ports(sqlite_url, clock)
    yield made
    made.database.close()
