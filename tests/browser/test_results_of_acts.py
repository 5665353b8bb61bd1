"""What the console says after an act is in view, read out, and true at that moment."""

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.console import RunningShop
from tests.builders.apps import make_app
from tests.builders.provider_records import make_provider

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

RUN = re.compile("^Run")
COVERED = """heading => {
  const box = heading.getBoundingClientRect();
  return !heading.contains(document.elementFromPoint(box.left + 2, box.top + box.height / 2));
}"""


def test_message_of_a_save_is_in_view_and_read_out_beside_the_saved_section(
    admin: Page, small_shop: RunningShop
) -> None:
    admin.goto(f"{small_shop.url}/console/emails/sending")
    for width, height in ((1440, 700), (390, 700)):
        admin.set_viewport_size({"width": width, "height": height})
        section = admin.get_by_role("form", name="Links in emails")
        heading = section.get_by_role("heading", level=2)
        section.get_by_role("button").click()
        message = admin.get_by_role("status").filter(has_text="Links saved.")
        expect(message).to_be_in_viewport()
        expect(message).to_be_focused()
        expect(heading).to_be_in_viewport()
        assert not heading.evaluate(COVERED)
        message.get_by_role("button", name="Close").click()
        expect(message).to_have_count(0)
        expect(heading).to_be_in_viewport()


def test_pressed_button_is_busy_until_the_answer_is_there(
    admin: Page, small_shop: RunningShop
) -> None:
    make_app(small_shop.ports, "Labels")
    held: list[Route] = []
    make_provider(small_shop.ports)
    for path, address, name in (
        ("dry-run/", "**/dry-run/", RUN),
        ("single-sign-on/default/?view=test", "**/default/test", "Test connection"),
    ):
        admin.goto(f"{small_shop.url}/console/{path}")
        admin.route(address, lambda route: held.append(route))  # noqa: PLW0108 - playwright wraps it
        button = admin.get_by_role("button", name=name)
        button.click(no_wait_after=True)
        expect(button).to_have_attribute("aria-busy", "true")
        expect(admin.get_by_role("status").filter(has_text="Working …")).to_have_count(1)
        button.click(no_wait_after=True)
        assert len(held) == 1, "it was sent twice"
        held.pop().continue_()
        admin.unroute(address)
        expect(button).not_to_have_attribute("aria-busy", "true")
        expect(admin.get_by_role("status").filter(has_text="Working …")).to_have_count(0)
