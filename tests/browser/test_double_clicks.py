"""A double click on a button of a form is one click, with and without script."""

from dataclasses import replace
from threading import BoundedSemaphore, Event

import pytest
from playwright.sync_api import Browser, Page, expect
from typing_extensions import override

from app.adapters.system import SystemClock
from app.ports import Ports
from app.web import sessions
from tests.browser.console import ADMIN, RunningShop, close_pages, running
from tests.builders.people import PASSWORD, make_user, sessions_of
from tests.fakes.passwords import HeldHasher
from tests.fixtures.ports import fake_ports

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]


class NotedSemaphore(BoundedSemaphore):
    """Lets passwords be compared once a second request waits for the first's answer."""

    def __init__(self, hasher: HeldHasher) -> None:
        super().__init__(4)
        self._hasher = hasher

    @override
    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        self._hasher.go.set()
        return super().acquire(blocking, timeout)


@pytest.fixture
def shop_ports(sqlite_url: str) -> Ports:
    return fake_ports(sqlite_url, SystemClock())


def open_sign_in(browser: Browser, shop: RunningShop, *, script: bool) -> Page:
    page = browser.new_context(java_script_enabled=script).new_page()
    page.goto(f"{shop.url}/console/")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    return page


def double_click(page: Page, name: str, *, once: Event | None = None) -> None:
    """Click where a button is, and again once that happened."""
    place = page.get_by_role("button", name=name).bounding_box()
    assert place is not None
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    with page.expect_request(lambda request: request.method == "POST"):
        page.mouse.click(*middle)
    assert once is None or once.wait(timeout=60)
    page.mouse.click(*middle)
    expect(page.get_by_role("heading", level=1, name="Home")).to_be_visible()


@pytest.mark.parametrize("script", [True, False])
def test_double_click_on_sign_in_signs_in(
    browser: Browser, shop_ports: Ports, monkeypatch: pytest.MonkeyPatch, script: bool
) -> None:
    key = make_user(shop_ports, ADMIN, is_superuser=True)
    hasher = HeldHasher(shop_ports.database)
    if script:
        hasher.go.set()  # the second click sends nothing
    monkeypatch.setattr(sessions, "_waiting", NotedSemaphore(hasher))
    with running(replace(shop_ports, passwords=hasher)) as shop:
        page = open_sign_in(browser, shop, script=script)
        sent: list[str] = []
        page.on("request", lambda request: sent.append(request.method))
        if script:
            double_click(page, "Sign in with password")
            # A rate limit counts each that comes, also of a form that asks for a proof.
            page.goto(f"{shop.url}/console/prove?next=/console/")
            page.get_by_label("Password").fill(PASSWORD)
            double_click(page, "Continue")
        else:
            # Before the server has the first, a second click cancels it, as if it hadn't been.
            double_click(page, "Sign in with password", once=hasher.begun)
        close_pages(browser)
    assert sent.count("POST") == 2, "one of each form, or both of one"
    assert len(sessions_of(shop_ports, key)) == 1
