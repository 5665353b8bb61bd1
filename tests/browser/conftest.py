"""Playwright with the Chromium of the machine, and shops whose console it looks at."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.adapters.clock import SystemClock
from tests.browser.chromium import launch_arguments
from tests.browser.console import RunningShop, running
from tests.browser.demo import demo_file
from tests.fixtures.ports import fake_ports


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, object], run_directory: Path
) -> dict[str, object]:
    return browser_type_launch_args | launch_arguments(run_directory)


@pytest.fixture(scope="session")
def base_url() -> None:
    """None: pages are opened by their whole address.

    Stands here because the plugin's own is written in a way that pytest no longer likes.
    """


@pytest.fixture
def demo_shop(run_directory: Path, _migrated_file: Path, tmp_path: Path) -> Iterator[RunningShop]:
    """The demo shop, running, at a time that goes on."""
    copy = shutil.copy(demo_file(run_directory, _migrated_file), tmp_path / "demo.sqlite3")
    ports = fake_ports(f"sqlite:///{copy}", SystemClock())
    with running(ports) as shop:
        yield shop
    ports.database.close()


@pytest.fixture
def small_shop(sqlite_url: str) -> Iterator[RunningShop]:
    """A shop without anybody and anything in it, running."""
    ports = fake_ports(sqlite_url, SystemClock())
    with running(ports) as shop:
        yield shop
    ports.database.close()
