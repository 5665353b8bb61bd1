"""Demo shops and an empty shop."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.ports import Ports
from tests.builders.demo import fill_demo
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports


@pytest.fixture(scope="module")
def _filled_file(_migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a demo shop, created once: filling one takes more than a second."""
    file = tmp_path_factory.mktemp("demo") / "filled.sqlite3"
    shutil.copy(_migrated_file, file)
    ports = fake_ports(f"sqlite:///{file}", FakeClock())
    fill_demo(ports)
    ports.database.close()
    return file


@pytest.fixture
def shop(_filled_file: Path, tmp_path: Path, clock: FakeClock) -> Iterator[Ports]:
    """The ports of a demo shop."""
    made = fake_ports(f"sqlite:///{shutil.copy(_filled_file, tmp_path)}", clock)
    yield made
    made.database.close()


@pytest.fixture
def file_ports(sqlite_url: str, clock: FakeClock) -> Iterator[Ports]:
    """Ports on an empty shop, on SQLite only."""
    made = fake_ports(sqlite_url, clock)
    yield made
    made.database.close()
