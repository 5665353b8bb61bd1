"""The documentation site: it builds without a warning and loads nothing from another host."""

import json
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


def _build(folder: Path, **settings: object) -> subprocess.CompletedProcess[str]:
    """Build the site as ``make docs`` does, in another folder and with other ``settings``."""
    config = folder / "mkdocs.yml"
    config.write_text(
        json.dumps(
            {"INHERIT": str(ROOT / "mkdocs.yml"), "docs_dir": str(ROOT / "docs"), **settings}
        )
    )
    # Not with --quiet: then mkdocs doesn't count warnings, and --strict does nothing.
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", str(config), "-d", str(folder / "site")],
        cwd=ROOT,
        env={"NO_MKDOCS_2_WARNING": "1", "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without its search index, which takes a quarter of the time."""
    folder = tmp_path_factory.mktemp("site")
    built = _build(folder, plugins=[])
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def test_broken_link_stops_the_build(tmp_path: Path) -> None:
    pages = tmp_path / "docs"
    pages.mkdir()
    (pages / "index.md").write_text("# Start\n\n[a](missing.md) [b](#missing) [c](/reference/)\n")
    (pages / "other.md").write_text("# A page that isn't in the navigation\n")
    built = _build(
        tmp_path, docs_dir=str(pages), extra_css=[], nav=[{"Start": "index.md"}], plugins=[]
    )
    assert built.returncode == 1
    warned = "".join(line for line in built.stderr.splitlines() if line.startswith("WARNING"))
    for complaint in (
        "'missing.md', but the target is not found",
        "'#missing', but there is no such anchor",
        "absolute link",
        'not included in the "nav"',
    ):
        assert complaint in warned, built.stderr
    assert "other.md" in built.stderr


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
