"""The typeface of the console, where it is installed and where it isn't."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.console.frame import assets
from app.ports import Ports

FILES = ("inter-latin-wght-normal.woff2", "inter-latin-ext-wght-normal.woff2")


@pytest.fixture
def fonts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the typeface is installed: an empty folder."""
    monkeypatch.setattr(assets, "FONTS", tmp_path)
    for cached in (assets.has_font, assets.asset_named):
        cached.cache_clear()
    yield tmp_path
    for cached in (assets.has_font, assets.asset_named):
        cached.cache_clear()


def test_typeface_is_served_uncompressed_and_preloaded(fonts: Path, shop: Ports) -> None:
    for name in FILES:
        (fonts / name).write_bytes(b"wOF2" + name.encode())
    client = create_app(shop, Settings()).test_client()
    page = client.get("/console/sign-in").text
    preloaded = re.search(r'rel="preload"[^>]*href="([^"]*)"', page)
    assert preloaded is not None
    answer = client.get(preloaded[1], headers={"Accept-Encoding": "gzip"})
    assert (answer.data[:4], answer.content_type) == (b"wOF2", "font/woff2")
    assert "Content-Encoding" not in answer.headers
    sheet = re.search(r'href="(\S*/)theme.css"', page)
    assert sheet is not None
    style = client.get(f"{sheet[1]}theme.css").text
    for name in re.findall(r"url\((\.\./\S*?\.woff2)\)", style):
        assert client.get(urljoin(sheet[1], name)).status_code == 200, name
    assert style.count("@font-face") == 3


def test_page_without_the_typeface_has_the_systems(fonts: Path, shop: Ports) -> None:
    client = create_app(shop, Settings()).test_client()
    page = client.get("/console/sign-in").text
    assert "preload" not in page
    sheet = re.search(r'href="(\S*theme.css)"', page)
    assert sheet is not None
    assert "@font-face" not in client.get(sheet[1]).text
    assert client.get("/assets/0123456789abcdef/inter-latin.woff2").status_code == 404
