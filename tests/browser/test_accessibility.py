"""Every page of the console: axe finds nothing in either theme, it fits and weighs little."""

from collections import defaultdict
from collections.abc import Iterator
from http import HTTPStatus
from typing import Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Response

from app.domain.authorization.actor import SessionOrigin
from tests.browser.axe import (
    ALL_RULES,
    COLOR_RULES,
    RULES_WITHOUT_COLORS,
    cut_alike,
    findings,
    kinds_around,
)
from tests.browser.console import ADMIN, RunningShop, Watch
from tests.browser.demo import STAFF, customer_key
from tests.browser.pages import page_addresses
from tests.fixtures.one_of_each import InTurn

pytestmark = [pytest.mark.browser, pytest.mark.first]

DESK = 1440
MAX_BYTES = 300_000

REFUSED = {
    "staff/invite/": "Send invitation",
    "staff/groups/new": "Create group",
    "account/": "Change password",
    "single-sign-on/new": "Add provider",
}
"""Forms that refuse to be sent empty, and the buttons that send them: two of them, or all."""

FILTERED = (
    "deliveries/?status=failed&select=all",
    "customers/?status=active&ask=save-filter",
    "audit/?who=nonsense",
    "deliveries/?select=all&ask=resend",
    "deliveries/?ask=replay-failed&replayed=1&within=336",
    "mails/?result=FAILED",
)
"""Lists with a selection, a filter to save, an invalid filter; or all of these."""

DIALOGS = """() => {
  const hrefs = (links) => [...document.querySelectorAll(links)].map((link) => link.href);
  const shown = hrefs('.lk-tabs a[href*="view="][aria-current]');
  const found = hrefs('a[href*="ask="], .lk-tabs a[href*="view="]:not([aria-current])');
  for (const form of document.querySelectorAll('form[data-dialog][method=get]')) {
    const fixed = new URLSearchParams(new FormData(form));
    for (const radio of form.querySelectorAll('[type=radio]')) {
      fixed.set(radio.name, radio.value);
      found.push(`${form.action}?${fixed}`);
    }
  }
  return [shown, found];
}"""
"""The address of the tab that is shown, and those of the other tabs and the dialogs."""

PHONES = (320, 320, 390, 390)
"""Each page is measured at the next of these widths, and where axe examines it, or at all.

Facts are in two columns at 390 pixels and in one at 320. In these turns a page that was opened at
one width is laid out at one more.
"""

Theme = Literal["light", "dark"]
LOOKS: tuple[tuple[int, Theme], ...] = (
    *((320, "light"), (DESK, "dark")),
    *((390, "dark"), (DESK, "light")),
)
"""Axe examines each page in one of these in turn, or in all; the next one is opened in it.

It examines the colors of every third page, so in each look, or of all: they are the style sheet's.
"""

HEADINGS = "document.querySelectorAll('h1').length"
WEIGHT = """() => [...performance.getEntriesByType('navigation'),
  ...performance.getEntriesByType('resource')]
  .filter(({ initiatorType }) => initiatorType !== 'fetch')
  .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"""
"""The page and what it loads; without its refreshes, of which a busy machine sees more."""
TOO_WIDE = """() => document.documentElement.scrollWidth > document.documentElement.clientWidth &&
  `${document.documentElement.scrollWidth} wide: ` + [...document.querySelectorAll('body *')]
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((one) => one.outerHTML.slice(0, 120)).join(' ')"""
BROKEN_WORDS = """() => {
  const broken = [];
  const cells = '.lk-table:not(.is-dense) :is(th, td), .lk-facts dd';
  for (const cell of document.querySelectorAll(cells)) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      if (node.parentElement.closest('code, .visually-hidden')) continue;
      for (const word of node.data.matchAll(/[\\p{L}\\p{N}@._]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map((rect) => Math.round(rect.top)));
        if (lines.size > 1 && word[0].length < 32) broken.push(word[0]);
      }
    }
  }
  return broken;
}"""
"""The words of plain tables and facts that are on two lines; longer ones fit nowhere."""

MEASURES = f"() => [{HEADINGS}, ({WEIGHT})()]"
FITS = f"() => [({TOO_WIDE})(), ({BROKEN_WORDS})()]"


class Examined:
    """A browser that goes from page to page and writes down what is wrong with each."""

    width = DESK

    def __init__(self, context: BrowserContext, shop: RunningShop, in_turn: InTurn) -> None:
        self.faults: list[str] = []
        self.looked = 0
        self.context = context
        self._page = context.new_page()
        self._known: dict[tuple[int, Theme], set[str]] = defaultdict(set)
        self._set_width(self.width)
        self._watch = Watch(self._page, shop.url)
        self._in_turn = in_turn

    def walk(self, addresses: Iterator[str]) -> None:
        """Look at each that is a page, and at every question that its pages ask."""
        seen: set[str] = set()
        others: set[str] = set()
        waiting = sorted(addresses)
        while waiting:
            address = waiting.pop()
            if address in seen | others:
                continue
            answer = self._open_page(address)
            if answer is None:
                others.add(address)
                continue
            seen.add(address)
            if "ask=" not in address:
                waiting += self._questions(seen)
            self._look_at_answer(address, answer, HTTPStatus.OK)

    def look_at(self, address: str, *, status: int = HTTPStatus.OK) -> None:
        """Write down what is wrong with the page at ``address``."""
        self._look_at_answer(address, self._page.goto(address), status)

    def _look_at_answer(self, address: str, answer: Response | None, status: int) -> None:
        if answer is None or answer.status != status:
            self.faults.append(f"{address}: is not the page: {answer}")
        self._look()

    def look_at_answers(self, url: str) -> None:
        """Write down what is wrong with pages that answer a form."""
        page = self._page
        page.goto(f"{url}/console/dry-run/")
        page.get_by_role("textbox", name="Subscription query").press("Control+Enter")
        page.get_by_role("region", name="Payload as JSON").wait_for()
        self._look()
        page.get_by_role("textbox", name="Subscription query").fill("subscription { nothing }")
        page.keyboard.press("Control+Enter")
        page.get_by_text("Query failed").wait_for()
        self._look()
        page.goto(f"{url}/console/apps/connect")
        page.get_by_role("button", name="Create app").click()
        page.get_by_role("alert").wait_for()
        self._look()
        page.get_by_label("Name", exact=True).fill("Labels")
        page.get_by_role("button", name="Create app").click()
        token = page.get_by_label("Token", exact=True).input_value()
        self._look()
        page.goto(f"{url}/console/inspector/")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Inspect").click()
        page.get_by_text("Labels").first.wait_for()
        self._look()
        page.get_by_label("Token").fill(f"{token}x")
        page.get_by_role("button", name="Inspect").click()
        page.get_by_role("region", name="Inspection").get_by_text("Not valid").wait_for()
        self._look()

    def look_at_refusals(self, url: str) -> None:
        """Write down what is wrong with forms that come again, and with what a provider told."""
        page = self._page
        for path, button in self._in_turn([*REFUSED.items()], some=2):
            page.goto(f"{url}/console/{path}")
            page.get_by_role("button", name=button, exact=True).click()
            page.get_by_role("alert").first.wait_for()
            self._look()
        page.goto(f"{url}/console/single-sign-on/default/?view=test")
        page.get_by_role("button", name="Test connection").click()
        page.get_by_role("region", name="Connection test").get_by_role("listitem").first.wait_for()
        self._look()
        page.get_by_role("textbox", name="Token").fill("no token at all")
        page.get_by_role("button", name="Preview account").click()
        page.get_by_text("Sign-in would be refused").wait_for()
        self._look()

    def _look(self) -> None:
        page = self._page
        page.wait_for_load_state()
        looks = self._in_turn(LOOKS)
        found = [*self._measured(page, {width for width, _ in looks})]
        cut_alike(page)
        around = kinds_around(page)
        widths: set[int] = set()
        [*_, all_rules] = self._in_turn((*[RULES_WITHOUT_COLORS] * 2, ALL_RULES))
        for width, theme in looks:
            self._set_width(width)
            page.emulate_media(color_scheme=theme)
            rules = COLOR_RULES if width in widths else all_rules
            widths.add(width)
            is_new = not around <= self._known[width, theme]
            self._known[width, theme] |= around
            faults = findings(page, rules, around=is_new)
            found += [f"{theme} at {width}: {fault}" for fault in faults]
        path = page.url.partition("/console")[2]
        self.faults += [f"{path}: {fault}" for fault in [*found, *self._watch.take()]]
        self.looked += 1

    def _set_width(self, width: int) -> None:
        self.width = width
        self._page.set_viewport_size({"width": width, "height": 900})

    def _measured(self, page: Page, widths: set[int]) -> Iterator[str]:
        headings, weight = page.evaluate(MEASURES)
        if headings != 1:
            yield f"{headings} main headings"
        if not 0 < weight < MAX_BYTES:
            yield f"weighs {weight} bytes"
        now = self.width
        widths |= {*self._in_turn(PHONES)}
        for width in sorted(widths, key=lambda width: abs(width - now)):
            self._set_width(width)
            too_wide, broken = page.evaluate(FITS)
            if too_wide:
                yield f"at {width}: {too_wide}"
            for word in broken:
                yield f"at {width}: {word} is broken"

    def _open_page(self, address: str) -> Response | None:
        """Open a page; ``None`` for a file to be kept and for a way to another page."""
        try:
            answer = self._page.goto(address)
        except Error as error:
            if "Download is starting" in error.message:
                return None
            raise
        assert answer is not None, address
        assert "/sign-in?" not in answer.url, f"{address} leads to {answer.url}"
        led_away = answer.request.redirected_from is not None
        is_page = answer.headers["content-type"].startswith("text/html")
        return answer if is_page and not led_away else None

    def _questions(self, seen: set[str]) -> list[str]:
        """The addresses of two tabs and one dialog of each page in turn, or of all.

        Of those that differ by a key alone, one.
        """
        kinds: dict[str, str] = {}
        shown, found = self._page.evaluate(DIALOGS)
        seen.update(shown)
        for address in found:
            kinds.setdefault(_kind(address), address)
        new = [address for kind, address in kinds.items() if kind not in map(_kind, seen)]
        dialogs = [address for address in new if "ask=" in address]
        tabs = [address for address in new if address not in dialogs]
        chosen = [*self._in_turn(tabs, some=2), *self._in_turn(dialogs)]
        seen |= {*new} - {*chosen}
        return chosen


def _kind(address: str) -> str:
    return "".join(letter for letter in address if not letter.isdigit())


@pytest.fixture
def examined(browser: Browser, demo_shop: RunningShop, in_turn: InTurn) -> Iterator[Examined]:
    context = browser.new_context(reduced_motion="reduce")
    examined = Examined(context, demo_shop, in_turn)
    yield examined
    context.close()
    assert not examined.faults, "\n".join(examined.faults)


@pytest.mark.parametrize("half", [0, 1])
def test_no_page_keeps_anybody_out(examined: Examined, demo_shop: RunningShop, half: int) -> None:
    demo_shop.sign_in(examined.context, ADMIN, SessionOrigin.OIDC)
    keys = {"customers": customer_key(demo_shop.ports)}
    addresses = sorted(page_addresses(demo_shop.app, keys))
    examined.walk(f"{demo_shop.url}{address}" for address in addresses[half::2])
    assert examined.looked > 20


def test_pages_dialogs_and_errors_are_accessible(
    examined: Examined, demo_shop: RunningShop, in_turn: InTurn
) -> None:
    examined.look_at(f"{demo_shop.url}/console/sign-in")
    examined.look_at(f"{demo_shop.url}/console/not-me/account", status=404)
    demo_shop.sign_in(examined.context, ADMIN, SessionOrigin.OIDC)
    examined.look_at(f"{demo_shop.url}/console/nowhere", status=404)
    for path in in_turn(FILTERED, some=3):
        examined.look_at(f"{demo_shop.url}/console/{path}")
    examined.look_at_answers(demo_shop.url)
    examined.look_at_refusals(demo_shop.url)
    demo_shop.sign_in(examined.context, STAFF)
    examined.look_at(f"{demo_shop.url}/console/access/", status=403)


ROW = """<li><a href="/{n}">Order {n}</a>
<label for="amount-{n}">Amount</label><input id="amount-{n}" autocomplete="off">
<p id="hint-{n}" role="note">In euros.</p>
<span aria-hidden="false">
<button aria-label="Remove {n}" aria-expanded="false" tabindex="0"></button></span></li>"""
FAULTS = (
    ("link-name", "Order {n}", ""),
    ("label", 'for="amount-{n}"', 'for="amount-0"'),
    ("label", 'for="amount-{n}"', 'for="nowhere"'),
    ("label", '<input id="amount-{n}"', "<input"),
    ("duplicate-id", 'id="amount-{n}"', 'id="amount-1"'),
    ("autocomplete-valid", '"off"', '"of"'),
    ("aria-roles", '"note"', '"not"'),
    ("button-name", 'aria-label="Remove {n}"', ""),
    ("button-name", 'aria-label="Remove {n}"', 'aria-label=" "'),
    ("button-name", 'aria-label="Remove {n}"', 'aria-labelledby="nowhere"'),
    ("aria-valid-attr-value", 'expanded="false"', 'expanded="no"'),
    ("aria-hidden-focus", 'hidden="false"', 'hidden="true"'),
    ("tabindex", 'tabindex="0"', 'tabindex="5"'),
)
"""What axe calls a fault, and how a row gets it."""


def test_header_is_examined_where_it_is_not_known(page: Page) -> None:
    def known(header: str) -> set[str]:
        page.set_content(
            f"<html lang='en'><title>Shop</title><header class='lk-top'>{header}</header>"
            "<nav class='lk-nav'><a href='/'>Home</a></nav>"
            "<main><h1>Orders</h1><dialog><p>Sure?</p></dialog></main>"
        )
        return kinds_around(page)

    home = known("<a href='/1' aria-label='Shop 1'>Shop 1</a>")
    assert known("<a href='/2' aria-label='Shop 2'>Shop 2</a>") == home
    for fault in (
        "<a href='/3' aria-label='Shop 3' role='nonsense'>Shop 3</a>",
        "<a href='/4'></a>",
    ):
        assert not known(fault) <= home, fault
        before = page.content()
        assert findings(page, around=False) == []
        assert len(findings(page)) == 1, fault
        page.evaluate("document.querySelector('dialog').showModal()")
        assert findings(page) == [], "what is behind a dialog can't be used"
        page.evaluate("document.querySelector('dialog').close()")
        assert page.content() == before


def test_row_unlike_the_others_is_examined(page: Page) -> None:
    """Those that are alike aren't, but for two."""
    rules = {**ALL_RULES, "runOnly": sorted({rule for rule, _, _ in FAULTS})}
    alike = [ROW.format(n=number) for number in range(5)]
    for rule, good, bad in (("", "", ""), *FAULTS):
        assert ROW.count(good) == 1 or not rule, good
        row = ROW.replace(good, bad).format(n=5) if rule else ROW.format(n=5)
        page.set_content(f"<main><h1>Orders</h1><ul>{''.join([*alike, row])}</ul></main>")
        cut_alike(page)
        found = [fault.partition(":")[0] for fault in findings(page, rules)]
        assert found == ([rule] if rule else []), (good, bad)
        assert 2 + bool(rule) <= page.locator("li").count() <= 2 + 2 * bool(rule)
