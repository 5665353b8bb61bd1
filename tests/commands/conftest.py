"""What the tests of commands start from: SQLite will do, for a command asks use cases alone."""

import logging
from collections.abc import Iterator

import pytest

from app.ports import Ports
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports


@pytest.fixture
def ports(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture(autouse=True)
def _as_in_a_process_of_its_own() -> Iterator[None]:
    """A command sets up no logs: those of a server that another test made are not its own."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.WARNING)
    yield
    root.setLevel(before)
