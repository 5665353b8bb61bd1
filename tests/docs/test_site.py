"""The documentation site: it builds without a warning and loads nothing from another host."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typing_extensions import override

from tests.servers.run import ROOT

_LOADING = {"href": ("link",), "src": ("script", "img", "iframe", "source", "audio", "video")}
_FROM_CSS = re.compile(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//[^)'\"]+")


class _Loads(HTMLParser):
    """Collects the URLs that a browser loads with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.urls: list[str] = []

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and tag in _LOADING.get(name, ()):
                self.urls.append(value)
            if value and name == "srcset":
                self.urls += [part.split()[0] for part in value.split(",")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as ``make docs`` does, in another folder; a broken link is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def test_site_has_every_page(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    built = {path.relative_to(site).with_suffix(".md") for path in site.rglob("*.html")}
    assert pages - built == set()


def test_site_holds_no_source(site: Path) -> None:
    assert [path.name for path in site.rglob("*.py*")] == []


def test_site_loads_nothing_from_another_host(site: Path) -> None:
    assert [found for path in site.rglob("*.html") for found in _foreign(path)] == []
    sheets = [
        (path.name, found)
        for path in site.rglob("*.css")
        for found in _FROM_CSS.findall(path.read_text())
    ]
    assert sheets == []


def _foreign(page: Path) -> Iterator[str]:
    parser = _Loads()
    parser.feed(page.read_text())
    for url in parser.urls:
        if re.match(r"(?:https?:)?//", url):
            yield f"{page.name}: {url}"
