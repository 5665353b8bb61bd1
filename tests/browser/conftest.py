"""Playwright with the Chromium of the machine, and shops whose console it looks at."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.adapters.system import SystemClock
from tests.browser.chromium import launch_arguments
from tests.browser.console import ADMIN, RunningShop, Watch, close_pages, running
from tests.browser.demo import demo_file
from tests.builders.people import make_user
from tests.fakes.offset_clock import Ahead
from tests.fixtures.ports import fake_ports


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, object], run_directory: Path
) -> dict[str, object]:
    return browser_type_launch_args | launch_arguments(run_directory)


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, object]) -> dict[str, object]:
    """Colors change at once: a check of contrast never meets a button between two themes."""
    return browser_context_args | {"reduced_motion": "reduce"}


@pytest.fixture(scope="session", autouse=True)
def _patience() -> None:
    """Let ``expect`` wait as long as actions do: the limit only ends tests that hang."""
    expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def base_url() -> None:
    """None: pages are opened by their whole address.

    Stands here because the plugin's own is written in a way that pytest no longer likes.
    """


@pytest.fixture
def demo_shop(
    run_directory: Path, _migrated_file: Path, tmp_path: Path, browser: Browser
) -> Iterator[RunningShop]:
    """The demo shop, running, at a time that goes on."""
    copy = shutil.copy(demo_file(run_directory, _migrated_file), tmp_path / "demo.sqlite3")
    ports = fake_ports(f"sqlite:///{copy}", SystemClock())
    with running(ports) as shop:
        yield shop
        close_pages(browser)
    ports.database.close()


@pytest.fixture
def small_shop(sqlite_url: str, browser: Browser) -> Iterator[RunningShop]:
    """A shop without anybody and anything in it, running; its time may be moved on."""
    ports = fake_ports(sqlite_url, Ahead())
    with running(ports) as shop:
        yield shop
        close_pages(browser)
    ports.database.close()


@pytest.fixture
def watch(page: Page, small_shop: RunningShop) -> Iterator[Watch]:
    """No page of the test asks another host for anything, or makes the browser complain."""
    watching = Watch(page, small_shop.url)
    yield watching
    assert watching.complaints == []


@pytest.fixture
def admin(watch: Watch, small_shop: RunningShop, page: Page) -> Page:
    """The page of somebody who may do everything, signed in by password."""
    make_user(small_shop.ports, ADMIN, is_superuser=True)
    small_shop.sign_in(page.context, ADMIN)
    return page
