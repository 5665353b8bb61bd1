"""An email template is written, corrected, previewed and saved in a browser, then reset."""

import os
import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from app.domain.mails.mail import Mail, MailKind
from app.services.mails.mail_templates import render_mail
from tests.browser.axe import findings
from tests.browser.console import RunningShop
from tests.builders.mail_templates import samples
from tests.builders.people import make_user
from tests.fixtures.one_of_each import InTurn

pytestmark = pytest.mark.browser

KIND = MailKind.PASSWORD_RESET
MAIL = Mail(KIND, "ann@example.com", samples(KIND))
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PICTURES = os.environ.get("TEMPLATE_PICTURES", "")  # noqa: TID251


def look(page: Page, name: str, in_turn: InTurn) -> None:
    """Let axe examine a page in one of the themes in turn.

    Take pictures in both, wide and narrow, where a person wants to look at them.
    """
    page.wait_for_load_state()
    for width in (1440, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        assert not page.evaluate(TOO_WIDE), (name, width)
        for theme in THEMES if PICTURES else ():
            page.emulate_media(color_scheme=theme)
            page.screenshot(path=Path(PICTURES) / f"{name}-{theme}-{width}.png", full_page=True)
    for theme in in_turn(THEMES):
        page.emulate_media(color_scheme=theme)
        assert findings(page, around=False) == [], (name, theme)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1440, "height": 900})


def test_template_is_corrected_previewed_saved_and_reset(
    admin: Page, small_shop: RunningShop, in_turn: InTurn
) -> None:
    admin.goto(f"{small_shop.url}/console/emails/templates/")
    admin.get_by_role("link", name="Password reset", exact=True).click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text("Password reset")
    begun = admin.locator("textarea[name=html]").input_value()
    assert 'href="{{ link }}"' in begun
    admin.locator("textarea[name=html]").fill(begun + '\n<img src="https://evil.example/a.png">')
    expect(admin.locator("#html-result")).to_contain_text("Images can't be loaded from elsewhere")
    expect(admin.locator(".lk-editor li.is-bad")).to_have_count(1)
    live = admin.locator("#live")
    expect(live).to_contain_text("Images can't be loaded from elsewhere")
    admin.get_by_role("button", name="Save template").click()
    expect(admin.get_by_role("alert")).to_contain_text("Images can't be loaded from elsewhere")
    expect(admin.locator(".lk-editor li.is-bad")).to_have_text(str(begun.count("\n") + 2))
    look(admin, "refused", in_turn)
    admin.locator("textarea[name=html]").fill(begun + "\n<p>Hannah from the studio</p>")
    admin.get_by_label("Subject").fill("A new password for {{ shop.name }}")
    expect(live).to_contain_text("A new password for Latchkey shop")
    frame = admin.frame_locator("iframe")
    expect(frame.get_by_text("Hannah from the studio")).to_be_visible()
    background = frame.locator("a.button").evaluate(
        "a => getComputedStyle(a.closest('td')).background"
    )
    assert "rgb(11, 85, 99)" in background
    make_user(small_shop.ports, "hanna@mail.example", first_name="Hanna", last_name="Berg")
    search = admin.get_by_label("Preview as another customer")
    search.fill("hanna")
    expect(live).to_contain_text("Hanna Berg <hanna@mail.example>")
    search.press("Enter")  # shows the preview, and saves nothing
    expect(admin).to_have_url(re.compile("entered="))
    expect(live).to_contain_text("Hanna Berg <hanna@mail.example>")
    expect(admin.get_by_text("No versions yet.")).to_be_visible()
    admin.get_by_role("button", name="Save template").click()
    expect(admin.get_by_text("Saved version 1 of “Password reset”.")).to_be_visible()
    look(admin, "saved", in_turn)
    assert "Hannah from the studio" in render_mail(small_shop.ports, MAIL).html
    admin.get_by_role("button", name="Stop using this template").click()
    expect(admin.get_by_text("Your template “Password reset” isn't used anymore.")).to_be_visible()
    assert "Hannah from the studio" not in render_mail(small_shop.ports, MAIL).html
    admin.get_by_role("link", name="Version 1").click()
    expect(admin.get_by_label("Subject")).to_have_value("A new password for {{ shop.name }}")
