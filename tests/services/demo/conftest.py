"""Demo shops and an empty shop."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.domain.authorization.actor import OPERATOR
from app.ports import Ports, Randomness
from app.services.demo.shop import SignIn, fill_shop, is_in_use
from tests.builders.demo import fill_demo
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports

_MINUTES = 9
"""How long the setup of the demo shop took, with its interruptions."""


class InterruptedRandomness:
    """Somebody pulls the plug when more than so many things have been made up."""

    def __init__(self, real: Randomness, most: int) -> None:
        self._real = real
        self._left = most

    def token(self, length: int) -> str:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._real.token(length)

    def secret(self, size: int) -> bytes:
        return self._real.secret(size)


def _stop(_made: Sequence[SignIn]) -> None:
    raise KeyboardInterrupt


@dataclass(frozen=True, slots=True)
class FilledFile:
    """A file with a demo shop, and the sign-ins that were shown."""

    path: Path
    sign_ins: Sequence[SignIn]


@pytest.fixture(scope="module")
def filled(_migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> FilledFile:
    """A demo shop, created once, as that takes seconds, and with interruptions.

    They are among people and goods, at the sales, and when sign-ins are to be shown.
    """
    file = tmp_path_factory.mktemp("demo") / "filled.sqlite3"
    shutil.copy(_migrated_file, file)
    clock = FakeClock()
    ports = fake_ports(f"sqlite:///{file}", clock)
    for most in (2, 33):
        broken = replace(ports, randomness=InterruptedRandomness(ports.randomness, most))
        with pytest.raises(KeyboardInterrupt):
            fill_demo(broken)
        assert not is_in_use(ports, OPERATOR)
        clock.pass_(minutes=3)
    with pytest.raises(KeyboardInterrupt):
        fill_shop(ports, OPERATOR, _stop)
    assert not is_in_use(ports, OPERATOR)
    clock.pass_(minutes=3)
    made = fill_demo(ports)
    assert is_in_use(ports, OPERATOR)
    ports.database.close()
    return FilledFile(file, made)


@pytest.fixture
def shop(filled: FilledFile, clock: FakeClock) -> Ports:
    """The ports of a demo shop, for tests that only read it."""
    clock.pass_(minutes=_MINUTES)
    return fake_ports(f"sqlite:///{filled.path}", clock)


@pytest.fixture
def own_shop(filled: FilledFile, tmp_path: Path, clock: FakeClock) -> Iterator[Ports]:
    """The ports of a demo shop that no other test sees."""
    clock.pass_(minutes=_MINUTES)
    made = fake_ports(f"sqlite:///{shutil.copy(filled.path, tmp_path)}", clock)
    yield made
    made.database.close()


@pytest.fixture
def file_ports(sqlite_url: str, clock: FakeClock) -> Ports:
    """Ports on an empty shop, on SQLite only."""
    return fake_ports(sqlite_url, clock)
