"""The page at ``GET /graphql/``."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typing_extensions import override

import app
from app.graphql.server import endpoint
from tests.graphql.endpoint_client import EndpointClient

STATIC = Path(app.__file__).parent / "static"


class _Assets(HTMLParser):
    """What a page loads, and whether any script or style stands in the page itself."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        source = named.get("src") or (named.get("href") if tag == "link" else None)
        if source == "data:,":
            return
        if source is not None:
            self.loaded.append(source)
        elif tag in ("script", "style"):
            self.inline.append(tag)
        self.inline += [name for name in named if name == "style" or name.startswith("on")]


@pytest.fixture(params=["plain", "editor"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Whether GraphiQL has been installed."""
    file = tmp_path / "graphiql.min.js"
    if request.param == "editor":
        file.touch()
    monkeypatch.setattr(endpoint, "EDITOR", file)
    return str(request.param)


def test_playground_loads_only_own_files_and_has_no_inline_script(
    client: EndpointClient, kind: str
) -> None:
    page = client.client.get("/graphql/")
    assets = _Assets(page.text)
    assert assets.inline == []
    assert len(assets.loaded) == (2 if kind == "plain" else 6)
    assert all(address.startswith("/static/") for address in assets.loaded)


def test_playground_files_exist(client: EndpointClient, kind: str) -> None:
    page = client.client.get("/graphql/")
    ours = [address for address in _Assets(page.text).loaded if "/vendor/" not in address]
    assert ours
    assert all((STATIC / address.removeprefix("/static/")).is_file() for address in ours)


def test_content_security_policy_allows_only_this_host(client: EndpointClient, kind: str) -> None:
    policy = client.client.get("/graphql/").headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert ("'unsafe-inline'" in policy) is (kind == "editor")
    assert not re.search(r"https?:|\*", policy)


def test_pane_is_called_http_headers(client: EndpointClient, kind: str) -> None:
    page = client.client.get("/graphql/").text
    if kind == "editor":
        page = (STATIC / "playground-editor.js").read_text()
    assert "HTTP HEADERS" in page


def test_headers_pane_starts_with_an_authorization_placeholder(
    client: EndpointClient, kind: str
) -> None:
    page = client.client.get("/graphql/").text
    if kind == "editor":
        page = (STATIC / "playground-editor.js").read_text()
    assert "Authorization" in page
    assert "Bearer " in page


def test_playground_finds_its_files_below_a_path_prefix(client: EndpointClient, kind: str) -> None:
    page = client.client.get("/graphql/", environ_overrides={"SCRIPT_NAME": "/shop"})
    loaded = _Assets(page.text).loaded
    assert loaded
    assert all(address.startswith("/shop/static/") for address in loaded)
    assert 'data-endpoint="/shop/graphql/"' in page.text


def test_hostile_path_is_escaped(client: EndpointClient, kind: str) -> None:
    hostile = '"><script>alert(1)</script>'
    page = client.client.get("/graphql/", environ_overrides={"SCRIPT_NAME": hostile})
    assert "<script>alert" not in page.text


def test_playground_leads_back_to_the_console(client: EndpointClient, kind: str) -> None:
    page = client.client.get("/graphql/", environ_overrides={"SCRIPT_NAME": "/shop"})
    assert 'href="/shop/console/"' in page.text
