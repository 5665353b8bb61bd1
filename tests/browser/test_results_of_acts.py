"""What the console says after an act is in view, read out, and true at that moment."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import RunningShop

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

COVERED = """heading => {
  const box = heading.getBoundingClientRect();
  return !heading.contains(document.elementFromPoint(box.left + 2, box.top + box.height / 2));
}"""


def test_message_of_a_save_is_in_view_and_read_out_beside_the_saved_section(
    admin: Page, small_shop: RunningShop
) -> None:
    settings = f"{small_shop.url}/console/settings/"
    for width, height in ((1440, 700), (390, 700)):
        admin.set_viewport_size({"width": width, "height": height})
        admin.goto(settings)
        section = admin.get_by_role("form", name="Links in mail")
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
