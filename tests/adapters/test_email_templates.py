"""Every mail is written in two parts, in the shop's name and look, whatever these are."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from gettext import NullTranslations
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from jinja2 import Environment
from jinja2.meta import find_undeclared_variables
from markupsafe import escape
from typing_extensions import override

from app.adapters.mail.email_templates import REASONS, JinjaEmailTemplates
from app.domain.mails.design import DEFAULT_ACCENT, MIN_CONTRAST, Logo, contrast
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.values import sample_mail
from app.domain.shop.settings import ShopSettings
from app.services.deliveries.attempt_results import FAILING_REASON, GONE_REASON
from tests.builders.shop import shop_settings
from tests.fixtures.cases import cases

TEMPLATES = Path(__file__).parents[2] / "app" / "templates" / "mail"
RECIPIENT = "ann@example.com"
LINK = "https://shop.example.com/?a=1&token=sesame"
NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
SHOP = replace(
    shop_settings(name="Töpferei <b>&amp; Söhne</b>"),
    mail_footer="Open from <i>9</i> to 5.\nClosed on Mondays.\n\nReply for help.",
    mail_legal_line="Töpferei GmbH & Co., Köln, HRB 12345",
)
LOGO = Logo("emblem", 400, 100, b"\x89PNG")
KINDS = list(MailKind)
_BLOCKS = {"p", "h1", "br", "td", "a", "title"}
_HINT = "If the button doesn't work, open this URL:"


class _Shown(HTMLParser):
    """The text of a page, its attributes, and the text of its style sheets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text = ""
        self.styles = ""
        self.attributes: list[tuple[str, str, str]] = []
        self._inside: list[str] = []
        self.feed(page)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self._inside.append(tag)
        self.text += " " * (tag in _BLOCKS)

    @override
    def handle_endtag(self, tag: str) -> None:
        while self._inside and self._inside.pop() != tag:
            pass
        self.text += " " * (tag in _BLOCKS)

    @override
    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.styles += data
        elif "title" not in self._inside:
            self.text += data


def words(text: str) -> str:
    return " ".join(text.split())


def values_of(kind: MailKind) -> dict[str, str]:
    """A text with markup for everything that the mail shows, but for its links."""
    environment = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    source = (TEMPLATES / f"{kind}.txt").read_text()
    names = find_undeclared_variables(environment.parse(source))
    names -= {"shop_name", "recipient", "_", "gettext"}
    values = {name: f"<i>{name}</i>" for name in names}
    links = dict.fromkeys({"link", "not_me"} & names, LINK)
    return values | links


def rendered(
    kind: MailKind, shop: ShopSettings = SHOP, logo: Logo | None = None, language: str = ""
) -> RenderedMail:
    mail = sample_mail(kind, RECIPIENT, "https://shop.example.com", NOW, language)
    return JinjaEmailTemplates().render(mail, shop, logo)


@cases("kind", KINDS)
def test_every_value_is_shown_as_text_in_both_parts(kind: MailKind) -> None:
    values = values_of(kind)
    written = JinjaEmailTemplates().render(Mail(kind, RECIPIENT, values), SHOP)
    assert SHOP.name in written.text
    assert str(escape(SHOP.name)) in written.html
    assert "<i>" not in written.html
    assert "<b>" not in written.html
    for name, value in values.items():
        assert value in written.text, name
        assert str(escape(value)) in written.html, name


@cases("kind", KINDS)
def test_text_part_says_the_same_as_the_html(kind: MailKind) -> None:
    written = rendered(kind)
    shown = words(_Shown(written.html).text)
    begin = words(f"{SHOP.name} {written.subject}")
    assert shown.startswith(begin)
    text, _, footer = written.text.partition("\n-- \n")
    links = {line for line in text.splitlines() if line.startswith("https://")}
    for link in links:
        text = text.replace(f":\n{link}", f" {_HINT} {link}")
    assert shown.removeprefix(begin).strip() == words(f"{text} {footer}")


@cases("kind", KINDS)
def test_samples_have_exactly_the_values_that_templates_show(kind: MailKind) -> None:
    sample = sample_mail(kind, RECIPIENT, "https://shop.example.com", NOW).values
    machine = {"lifetime_seconds", "at", "since_at", "factor_type", "factor_name"}
    machine |= {"browser", "system"}
    assert {*sample} - machine == {*values_of(kind)}


@cases("kind", KINDS)
def test_mail_is_sent_in_the_shops_name_with_a_one_line_subject(kind: MailKind) -> None:
    shop = replace(SHOP, name=f"{SHOP.name}\r\nBcc: all@example.com")
    written = rendered(kind, shop)
    assert written.recipient == RECIPIENT
    assert written.subject
    assert not {"\r", "\n"} & {*written.subject}


def test_sender_and_reply_address_are_taken_from_the_settings() -> None:
    shop = replace(
        SHOP,
        default_mail_sender_name="Hannah",
        default_mail_sender_address="hannah@example.com",
        mail_reply_to="help@example.com",
    )
    written = rendered(MailKind.ACCOUNT_EXISTS, shop)
    assert (written.sender_name, written.sender_address) == ("Hannah", "hannah@example.com")
    assert written.reply_to == "help@example.com"
    plain = rendered(MailKind.ACCOUNT_EXISTS)
    assert (plain.sender_name, plain.reply_to) == (SHOP.name, "")


@cases("kind", KINDS)
def test_mail_loads_nothing_from_anywhere(kind: MailKind) -> None:
    page = _Shown(rendered(kind, logo=LOGO).html)
    loading = {
        (tag, name, value)
        for tag, name, value in page.attributes
        if name in ("src", "srcset", "background", "poster", "data", "action")
        or (name == "href" and tag != "a")
    }
    assert loading == {("img", "src", "cid:logo@mail")}
    assert "@media (prefers-color-scheme: dark)" in page.styles
    everywhere = page.styles + "".join(v for _, name, v in page.attributes if name == "style")
    assert "background: #" in everywhere
    assert not re.search(r"url\(|@import|expression|://", everywhere)
    assert not {"script", "link", "iframe", "form", "object"} & {t for t, _, _ in page.attributes}


def test_styles_are_inlined() -> None:
    page = rendered(MailKind.PASSWORD_RESET).html
    assert re.search(r'<h1 style="[^"]*font-size: 20px', page)
    assert "font-size" not in _Shown(page).styles, "only what can't be inlined stays in a sheet"


def test_logo_replaces_the_name_and_keeps_it_as_its_text() -> None:
    page = _Shown(rendered(MailKind.PASSWORD_RESET, logo=LOGO).html)
    image = {name: value for tag, name, value in page.attributes if tag == "img"}
    assert (image["alt"], image["width"], image["height"]) == (SHOP.name, "224", "56")
    assert not words(page.text).startswith(SHOP.name)


def test_footer_and_legal_line_end_both_parts() -> None:
    written = rendered(MailKind.PASSWORD_RESET)
    end = "Open from <i>9</i> to 5.\nClosed on Mondays.\n\nReply for help."
    assert written.text.endswith(f"\n\n-- \n{end}\n\n{SHOP.mail_legal_line}\n")
    assert words(_Shown(written.html).text).endswith(f"{words(end)} {SHOP.mail_legal_line}")
    plain = rendered(MailKind.PASSWORD_RESET, shop_settings())
    assert "-- " not in plain.text
    assert 'class="footer"' not in plain.html


def _style(page: str, name: str) -> dict[str, str]:
    (found,) = re.findall(rf'class="{name}"[^>]*?style="([^"]*)"', page)
    parts = (part.partition(":") for part in found.split(";") if part)
    return {key.strip(): value.strip() for key, _, value in parts}


def _dark(page: str, name: str) -> dict[str, str]:
    (rule,) = re.findall(rf"\.{name} {{([^}}]*)}}", _Shown(page).styles)
    parts = (part.partition(":") for part in rule.replace("!important", "").split(";") if part)
    return {key.strip(): value.strip() for key, _, value in parts}


@cases("accent", ["#0b5563", "#ffdd00", "#ffffff", "#000000", "#ff0000", "#7F7F7F", "#1b2529"])
def test_button_and_links_are_readable_in_every_accent(accent: str) -> None:
    page = rendered(MailKind.PASSWORD_RESET, replace(SHOP, accent_color=accent)).html
    fill, button, link = (_style(page, name) for name in ("fill", "button", "link"))
    assert fill["background"] == accent.lower()
    assert contrast(button["color"], fill["background"]) >= MIN_CONTRAST
    assert contrast(link["color"], "#ffffff") >= MIN_CONTRAST
    dark_card = _dark(page, "card")["background"]
    dark_fill, dark_button, dark_link = (_dark(page, n) for n in ("fill", "button", "link"))
    assert contrast(dark_button["color"], dark_fill["background"]) >= MIN_CONTRAST
    assert contrast(dark_fill["background"], dark_card) >= MIN_CONTRAST
    assert contrast(dark_link["color"], dark_card) >= MIN_CONTRAST


@cases("text", ["card", "muted", "footer"])
def test_text_is_readable_in_light_and_dark(text: str) -> None:
    page = rendered(MailKind.PASSWORD_RESET).html
    grounds = [_style(page, "ground"), _style(page, "card")]
    assert all(
        contrast(_style(page, text)["color"], ground["background"]) >= MIN_CONTRAST
        for ground in grounds
    )
    names = "muted, .shop, .footer" if text != "card" else "card"
    dark = _dark(page, names)["color"]
    for ground in ("page, .ground", "card"):
        assert contrast(dark, _dark(page, ground)["background"]) >= MIN_CONTRAST


def test_stored_color_that_is_none_gives_way_to_the_default() -> None:
    shop = replace(SHOP, accent_color="red;}body{display:none")
    page = rendered(MailKind.PASSWORD_RESET, shop).html
    assert "display:none" not in page
    assert _style(page, "fill")["background"] == DEFAULT_ACCENT


def test_mail_that_the_last_release_queued_is_shown_in_its_english_texts() -> None:
    values = {"link": "https://shop.example.com/", "lifetime": "1 hour"}
    mail = Mail(MailKind.PASSWORD_RESET, RECIPIENT, values)
    assert "within 1 hour." in JinjaEmailTemplates().render(mail, SHOP).text
    values = {
        "when": "2026-03-01 08:30 UTC",
        "address": "",
        "device": "curl 8.5",
        "not_me": "",
        "factor": 'Passkey "Laptop"',
    }
    mail = Mail(MailKind.SECOND_FACTOR_ADDED, RECIPIENT, values)
    text = JinjaEmailTemplates().render(mail, SHOP).text
    assert 'Passkey "Laptop" was added' in text
    assert "When: 2026-03-01 08:30 UTC\nDevice: curl 8.5\n" in text


@pytest.fixture
def catalogs(tmp_path: Path) -> Path:
    """Catalogs of two languages with a few messages."""
    messages = {
        "de": {
            "Reset your password for %(shop_name)s": "Passwort bei %(shop_name)s zurücksetzen",
            "%(browser)s on %(system)s": "%(browser)s unter %(system)s",
            "%(date)s, %(time)s %(zone)s": "%(date)s um %(time)s %(zone)s",
            "When: %(when)s": "Wann: %(when)s <b>",
            "Device: %(device)s": "Gerät: %(device)s",
            FAILING_REASON: "Der Endpunkt antwortete 5 Tage lang nicht.",
        },
        "ar": {"Reset password": "إعادة تعيين كلمة المرور"},
    }
    for language, texts in messages.items():
        catalog = Catalog(locale=language)
        for english, translation in texts.items():
            catalog.add(english, translation)
        file = BytesIO()
        write_mo(file, catalog)
        folder = tmp_path / language / "LC_MESSAGES"
        folder.mkdir(parents=True)
        (folder / "messages.mo").write_bytes(file.getvalue())
    return tmp_path


def in_language(catalogs: Path, kind: MailKind, language: str) -> RenderedMail:
    mail = sample_mail(kind, RECIPIENT, "https://shop.example.com", NOW, language)
    return JinjaEmailTemplates(catalogs).render(mail, SHOP)


@cases("language", ["DE", "DE_AT"])
def test_mail_is_written_in_its_language(catalogs: Path, language: str) -> None:
    written = in_language(catalogs, MailKind.PASSWORD_RESET, language)
    assert written.subject == f"Passwort bei {SHOP.name} zurücksetzen"
    assert "within 1 Stunde." in written.text
    assert '<html lang="de" dir="ltr"' in written.html
    notice = in_language(catalogs, MailKind.PASSWORD_CHANGED, language)
    assert "Wann: 1. März 2026 um 08:30 UTC <b>\nGerät: Firefox unter Windows\n" in notice.text
    disabled = in_language(catalogs, MailKind.WEBHOOK_DISABLED, language)
    assert "Der Endpunkt antwortete 5 Tage lang nicht." in disabled.text


@cases("language", ["", "EN", "FR", "HAW_US", "xx", "../../de"])
def test_mail_is_english_where_there_is_no_catalog(catalogs: Path, language: str) -> None:
    written = in_language(catalogs, MailKind.PASSWORD_CHANGED, language)
    assert written.subject.startswith("Your password at")
    assert "When: 1 March 2026, 08:30 UTC\n" in written.text
    assert '<html lang="en" dir="ltr"' in written.html


def test_right_to_left_language_turns_the_layout_but_not_links(catalogs: Path) -> None:
    written = in_language(catalogs, MailKind.PASSWORD_RESET, "AR")
    assert '<html lang="ar" dir="rtl"' in written.html
    assert re.search(r'<td class="card" align="right"', written.html)
    assert re.search(r'<a class="link"[^>]*dir="ltr"', written.html)
    assert "إعادة تعيين كلمة المرور" in written.text
    assert "within ساعة." in written.text


def test_moments_are_in_the_readers_time_zone() -> None:
    mail = sample_mail(MailKind.PASSWORD_CHANGED, RECIPIENT, "https://shop.example.com", NOW)
    there = replace(mail, values={**mail.values, "time_zone": "Europe/Berlin"})
    written = JinjaEmailTemplates().render(there, SHOP)
    assert "When: 1 March 2026, 09:30 CET\n" in written.text


def test_reasons_of_disabled_webhooks_can_be_translated() -> None:
    assert {*REASONS} == {GONE_REASON, FAILING_REASON}
    assert NullTranslations().gettext(GONE_REASON) == GONE_REASON
