"""A person writes a query in the playground and reads the answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.graphql.server import endpoint
from tests.browser.console import close_pages
from tests.builders.people import make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.flask_app import served
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.browser


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock, browser: Browser) -> Iterator[tuple[str, str]]:
    """The address of a running shop, and an access token of a customer there."""
    ports = fake_ports(sqlite_url, clock)
    settings = Settings(database_url=sqlite_url, public_url="http://localhost:8000")
    token = sign_in(ports, make_user(ports)).access
    with served(create_app(ports, settings)) as server:
        yield server.url("/graphql/"), token
        close_pages(browser)
    ports.database.close()


class Watch:
    """What a page asked for, and what it complained about."""

    def __init__(self, page: Page) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", self._note_request)
        page.on("console", self._note_message)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def strangers(self, address: str) -> list[str]:
        """The requests to anywhere but ``address``'s host; data in the page itself is none."""
        host = address.removesuffix("graphql/")
        return [url for url in self.requests if not url.startswith((host, "data:", "blob:"))]


def test_plain_page_sends_a_query_with_variables_and_a_token(
    page: Page, shop: tuple[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(endpoint, "EDITOR", tmp_path / "missing.js")
    address, token = shop
    watch = Watch(page)
    page.goto(address)
    page.get_by_label("Headers").fill('{"Authorization": ')
    page.get_by_label("Document").press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("The headers are not valid JSON")
    assert not [url for url in watch.requests if url == address][1:], "nothing was sent"
    page.get_by_label("Document").fill(
        "query($with: Boolean!) { me { email @include(if: $with) } }"
    )
    page.get_by_label("Variables").fill('{"with": true}')
    page.get_by_label("HTTP HEADERS").fill(f'{{"Authorization": "Bearer {token}"}}')
    page.get_by_role("button", name="Run the operation").click()
    expect(page.get_by_role("status")).to_have_text("200 OK")
    expect(page.locator("#answer")).to_contain_text("customer@example.com")
    assert watch.strangers(address) == []
    assert watch.complaints == []


@pytest.mark.skipif(not endpoint.EDITOR.exists(), reason="GraphiQL needs Node: make playground")
def test_query_editor_knows_the_schema_and_sends_a_token(
    page: Page, shop: tuple[str, str]
) -> None:
    address, token = shop
    watch = Watch(page)
    page.goto(address)
    page.locator(".CodeMirror", has_text="Authorization").wait_for()
    tab = page.get_by_role("button", name="HTTP HEADERS", exact=True)
    expect(page.get_by_role("region", name="HTTP HEADERS", exact=True)).to_be_visible()
    page.get_by_role("button", name="Variables", exact=True).click()
    tab.click()
    expect(page.get_by_role("region", name="HTTP HEADERS", exact=True)).to_be_visible()
    page.evaluate(
        "([headers, query]) => {"
        " for (const place of document.querySelectorAll('.CodeMirror')) {"
        "  const text = place.CodeMirror.getValue();"
        "  if (text.includes('Authorization')) place.CodeMirror.setValue(headers);"
        "  if (text.includes('shop')) place.CodeMirror.setValue(query);"
        " } }",
        [f'{{"Authorization": "Bearer {token}"}}', "{ me { email } }"],
    )
    page.get_by_role("button", name="Execute query").click()
    expect(page.locator(".result-window")).to_contain_text("customer@example.com")
    page.get_by_role("button", name="Show Documentation Explorer").click()
    expect(page.locator(".graphiql-doc-explorer")).to_contain_text("Query")
    assert watch.strangers(address) == []
    assert watch.complaints == []
