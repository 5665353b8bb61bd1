"""Every mail is written in two parts, in the shop's name, whatever that is."""

from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import Environment
from jinja2.meta import find_undeclared_variables
from markupsafe import escape

from app.adapters.email_templates import JinjaEmailTemplates
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.shop.settings import ShopSettings
from tests.builders.shop import shop_settings

TEMPLATES = Path(__file__).parents[2] / "app" / "templates" / "mail"
LINK = "https://shop.example.com/?a=1&token=sesame"
RECIPIENT = "ann@example.com"
SHOP = shop_settings(name="Töpferei <b>&amp; Söhne</b>")


def values_of(kind: MailKind) -> dict[str, str]:
    """Something for everything of its own that the mail shows."""
    source = Environment(autoescape=True).parse((TEMPLATES / f"{kind}.txt").read_text())
    names = find_undeclared_variables(source) - {"shop", "recipient"}
    values = {name: f"<i>{name}</i>" for name in names}
    return values | ({"link": LINK} if "link" in names else {})


def rendered(kind: MailKind, shop: ShopSettings = SHOP) -> RenderedMail:
    return JinjaEmailTemplates().render(Mail(kind, RECIPIENT, values_of(kind)), shop)


@pytest.mark.parametrize("kind", list(MailKind))
def test_text_and_html_have_the_same_content(kind: MailKind) -> None:
    written = rendered(kind)
    assert SHOP.name in written.text
    assert str(escape(SHOP.name)) in written.html
    assert "<i>" not in written.html
    assert "<b>" not in written.html
    for name, value in values_of(kind).items():
        assert value in written.text, name
        assert str(escape(value)) in written.html, name


@pytest.mark.parametrize("kind", list(MailKind))
def test_mail_is_sent_in_the_shops_name_with_a_one_line_subject(kind: MailKind) -> None:
    shop = replace(SHOP, name=f"{SHOP.name}\r\nBcc: all@example.com")
    written = rendered(kind, shop)
    assert written.recipient == RECIPIENT
    assert written.subject
    assert not {"\r", "\n"} & {*written.subject}


def test_sender_is_taken_from_the_settings() -> None:
    shop = replace(
        SHOP,
        default_mail_sender_name="Hannah",
        default_mail_sender_address="hannah@example.com",
    )
    written = rendered(MailKind.ACCOUNT_EXISTS, shop)
    assert (written.sender_name, written.sender_address) == ("Hannah", "hannah@example.com")
    assert rendered(MailKind.ACCOUNT_EXISTS).sender_name == SHOP.name
