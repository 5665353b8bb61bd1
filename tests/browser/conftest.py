"""Playwright with the Chromium of the machine."""

from pathlib import Path

import pytest

from tests.browser.chromium import launch_arguments


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
