"""The browser that the other tests look through shows what a page says."""

import io
import re
from pathlib import Path

import playwright
import pytest
from PIL import Image
from playwright.sync_api import Error, Page

from tests.browser.chromium import ADVICE, DISABLED_FEATURES, SHELL, chromium_path

pytestmark = pytest.mark.browser

DRIVER = Path(playwright.__file__).parent / "driver/package/lib/coreBundle.js"
GREEN_PAGE = "data:text/html,<title>Green</title><body style='background: rgb(0, 128, 0)'>"


def test_page_is_painted_as_its_style_says(page: Page) -> None:
    page.goto(GREEN_PAGE)
    assert page.title() == "Green"
    painted = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    assert painted.getpixel((10, 10)) == (0, 128, 0)


def test_page_runs_script_and_has_letters(page: Page) -> None:
    page.goto("data:text/html,<span id=word>letters</span>")
    width = page.evaluate("document.getElementById('word').getBoundingClientRect().width")
    assert width > 10


def test_page_reaches_no_other_machine(page: Page) -> None:
    with pytest.raises(Error, match="ERR_NAME_NOT_RESOLVED"):
        page.goto("https://192.0.2.1/")


def test_features_that_playwright_disables_stay_disabled() -> None:
    found = re.search(r"\bdisabledFeatures = \[(.*?)\]", DRIVER.read_text(), re.DOTALL)
    assert found, "Playwright keeps its list elsewhere"
    features = set(re.findall(r'"(\w+)"', found[1]))
    assert "PaintHolding" in features
    assert features <= set(DISABLED_FEATURES)


def test_chromium_of_the_machine_is_used_where_no_shell_can_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))

    def program(name: str, code: str = "exit 100") -> str:
        (programs / name).write_text(f"#!/bin/sh\n{code}\n")
        (programs / name).chmod(0o755)
        return str(programs / name)

    program("apt-get")
    program("env", "echo not found; exit 100")  # runs apt-get
    with pytest.raises(FileNotFoundError, match=re.escape(ADVICE)):
        chromium_path(tmp_path)
    program("env", "exec /bin/sleep 60")
    monkeypatch.setattr("tests.browser.chromium.SECONDS", 0.1)
    with pytest.raises(FileNotFoundError, match="apt-get install took more than"):
        chromium_path(tmp_path)
    chromium = program("chromium")
    assert chromium_path(tmp_path) == chromium
    shell = program(SHELL)
    assert chromium_path(tmp_path) == shell
